import Foundation
public import JSON

/// One case of the conformance vectors.
public struct VectorCase: Sendable, CustomStringConvertible {
    /// `category/name`.
    public let id: String
    /// The category.
    public let category: String
    /// The input.
    public let input: [String: JSONValue]
    /// The expected output.
    public let expect: [String: JSONValue]

    /// The ID, which names the case in tests.
    public var description: String { id }

    /// Returns an input text.
    public func text(_ key: String) -> String? { input[key]?.string }
    /// Returns an expected text.
    public func expected(_ key: String) -> String? { expect[key]?.string }
    /// Returns input texts; empty if there is no list.
    public func texts(_ key: String) -> [String] { input[key]?.elements.compactMap(\.string) ?? [] }
    /// Returns expected texts; empty if there is no list.
    public func expectedTexts(_ key: String) -> [String] { expect[key]?.elements.compactMap(\.string) ?? [] }
}

/// The cases in `oauth.json` that lanyard follows, except for those that no test here runs.
public enum OAuthVectors {
    /// All of these cases.
    public static let followed: [VectorCase] = {
        let cases = VectorFile.text("Tests/Vectors/oauth.json").flatMap { JSONValue(bytes: $0.utf8) }
        return cases?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The IDs, or `category/*`, of the cases that no test here runs, from the table in `README.md` in the same folder,
    /// which says why.
    public static let leftOut: Set<String> = VectorFile.namesInTable(of: "oauth.json")

    /// Returns the cases of a category, except for those left out.
    public static func followed(_ category: String) -> [VectorCase] {
        followed.filter { $0.category == category && !leftOut.contains($0.id) }
    }
}

/// The cases in `broker.json` that lanyard follows, except for those that no test here runs.
public enum BrokerVectors {
    /// All of these cases.
    public static let followed: [VectorCase] = {
        let cases = VectorFile.text("Tests/Vectors/broker.json").flatMap { JSONValue(bytes: $0.utf8) }
        return cases?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The IDs, or `category/*`, of the cases that no test here runs, from the table in `README.md` in the same folder,
    /// which says why.
    public static let leftOut: Set<String> = VectorFile.namesInTable(of: "broker.json")

    /// Returns the cases of a category, except for those left out.
    public static func followed(_ category: String) -> [VectorCase] {
        followed.filter { $0.category == category && !leftOut.contains($0.id) }
    }
}

/// The cases in `machine.json` that lanyard follows.
public enum MachineVectors {
    /// All of these cases.
    public static let followed: [VectorCase] = {
        let cases = VectorFile.text("Tests/Vectors/machine.json").flatMap { JSONValue(bytes: $0.utf8) }
        return cases?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The IDs, or `category/*`, of the cases that no test runs, from the table in `README.md` in the same folder,
    /// which says why.
    public static let leftOut: Set<String> = VectorFile.namesInTable(of: "machine.json")
}

/// The cases in `msal.json` that lanyard follows.
public enum Vectors {
    /// All of these cases.
    public static let followed: [VectorCase] = {
        let file = VectorFile.text("Tests/Vectors/msal.json").flatMap { JSONValue(bytes: $0.utf8) }
        return file?["cases"]?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The IDs of the cases that no test here runs, from the table in `docs/msal-parity.md`, which says why.
    public static let leftOut: Set<String> = {
        let page = VectorFile.text("docs/msal-parity.md") ?? ""
        guard let heading = page.range(of: "## Vectors left out\n") else { return [] }
        let section = page[heading.upperBound...]
        let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
        return Set(
            section[..<end].split(separator: "\n").compactMap { line in
                line.hasPrefix("| `") ? line.dropFirst(3).split(separator: "`").first.map(String.init) : nil
            })
    }()

    /// Returns the cases of a category, except for those left out.
    public static func followed(_ category: String) -> [VectorCase] {
        followed.filter { $0.category == category && !leftOut.contains($0.id) }
    }

}

private enum VectorFile {
    static func followed(_ entry: JSONValue) -> VectorCase? {
        guard entry["follow"] == .bool(true), let id = entry["id"]?.string else { return nil }
        return VectorCase(
            id: id, category: entry["category"]?.string ?? "", input: entry["input"]?.members ?? [:],
            expect: entry["expect"]?.members ?? [:])
    }

    /// Returns the names in the first column of the table in `README.md` after a paragraph about a file.
    static func namesInTable(of file: String) -> Set<String> {
        var names: Set<String> = []
        var current = ""
        for line in text("Tests/Vectors/README.md")?.split(separator: "\n") ?? [] {
            if line.hasPrefix("`"), let name = line.dropFirst().split(separator: "`").first, name.hasSuffix(".json") {
                current = String(name)
            }
            guard current == file, line.hasPrefix("| `"), let name = line.dropFirst(3).split(separator: "`").first
            else { continue }
            names.insert(String(name))
        }
        return names
    }

    static func text(_ path: String) -> String? {
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try? String(contentsOf: checkout.appendingPathComponent(path), encoding: .utf8)
    }
}
