import Foundation
public import JSON

/// One case of the conformance vectors.
public struct VectorCase: Sendable, CustomStringConvertible {
    /// `category/name`.
    public let id: String
    /// What it is about.
    public let category: String
    /// What goes in.
    public let input: [String: JSONValue]
    /// What is to come out.
    public let expect: [String: JSONValue]

    /// The case's id, by which a test names it.
    public var description: String { id }

    /// A text that goes in.
    public func text(_ key: String) -> String? { input[key]?.string }
    /// A text that is to come out.
    public func expected(_ key: String) -> String? { expect[key]?.string }
    /// Texts that go in; none if there is no list.
    public func texts(_ key: String) -> [String] { input[key]?.elements.compactMap(\.string) ?? [] }
    /// Texts that are to come out; none if there is no list.
    public func expectedTexts(_ key: String) -> [String] { expect[key]?.elements.compactMap(\.string) ?? [] }
}

/// The cases of `oauth.json` that lanyard follows, but for those that no test here runs.
public enum OAuthVectors {
    /// Every one of them.
    public static let followed: [VectorCase] = {
        let cases = VectorFile.text("Tests/Vectors/oauth.json").flatMap { JSONValue(bytes: $0.utf8) }
        return cases?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The ids, or `category/*`, of those that no test here runs: the table of `README.md` beside this file, which says why.
    public static let leftOut: Set<String> = VectorFile.namesInTable(of: "oauth.json")

    /// The cases of a category, less those left out.
    public static func followed(_ category: String) -> [VectorCase] {
        followed.filter { $0.category == category && !leftOut.contains($0.id) }
    }
}

/// The cases of `broker.json` that lanyard follows, but for those that no test here runs.
public enum BrokerVectors {
    /// Every one of them.
    public static let followed: [VectorCase] = {
        let cases = VectorFile.text("Tests/Vectors/broker.json").flatMap { JSONValue(bytes: $0.utf8) }
        return cases?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The ids, or `category/*`, of those that no test here runs: the table of `README.md` beside this file, which says why.
    public static let leftOut: Set<String> = VectorFile.namesInTable(of: "broker.json")

    /// The cases of a category, less those left out.
    public static func followed(_ category: String) -> [VectorCase] {
        followed.filter { $0.category == category && !leftOut.contains($0.id) }
    }
}

/// The cases of `machine.json` that lanyard follows.
public enum MachineVectors {
    /// Every one of them.
    public static let followed: [VectorCase] = {
        let cases = VectorFile.text("Tests/Vectors/machine.json").flatMap { JSONValue(bytes: $0.utf8) }
        return cases?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The ids, or `category/*`, of those that no test runs: the table of `README.md` beside this file, which says why.
    public static let leftOut: Set<String> = VectorFile.namesInTable(of: "machine.json")
}

/// The cases of `msal.json` that lanyard follows.
public enum Vectors {
    /// Every one of them.
    public static let followed: [VectorCase] = {
        let file = VectorFile.text("Tests/Vectors/msal.json").flatMap { JSONValue(bytes: $0.utf8) }
        return file?["cases"]?.elements.compactMap(VectorFile.followed) ?? []
    }()

    /// The ids of those that no test here runs: the table of `docs/msal-parity.md`, which says why.
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

    /// The cases of a category, less those left out.
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

    /// What the first column names of the table in `README.md` that follows a paragraph about a file.
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
