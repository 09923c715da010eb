import Foundation
import JSON
import Testing

@testable import MicrosoftIdentity

/// One case of the conformance vectors.
struct VectorCase: Sendable, CustomTestStringConvertible {
    let id: String
    let input: [String: JSONValue]
    let expect: [String: JSONValue]

    var testDescription: String { id }

    func text(_ key: String) -> String? { input[key]?.string }
    func expected(_ key: String) -> String? { expect[key]?.string }
    func texts(_ key: String) -> [String] { Self.texts(input[key]) }
    func expectedTexts(_ key: String) -> [String] { Self.texts(expect[key]) }

    private static func texts(_ value: JSONValue?) -> [String] {
        guard case .array(let values) = value else { return [] }
        return values.compactMap(\.string)
    }
}

/// The followed cases of `Tests/Vectors/msal.json`.
enum Vectors {
    private struct File: Decodable {
        var cases: [Entry]
    }

    private struct Entry: Decodable {
        var id: String
        var category: String
        var follow: Bool?
        var input: [String: JSONValue]?
        var expect: [String: JSONValue]?
    }

    private static let file: File = {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/msal.json")
        guard let data = try? Data(contentsOf: url), let file = try? JSONDecoder().decode(File.self, from: data)
        else { return File(cases: []) }
        return file
    }()

    /// The cases of a category that lanyard follows, less those named with the reason in `leaving`.
    static func followed(_ category: String, leaving: [String: String] = [:]) -> [VectorCase] {
        file.cases
            .filter { $0.category == category && $0.follow == true && leaving[$0.id] == nil }
            .map { VectorCase(id: $0.id, input: $0.input ?? [:], expect: $0.expect ?? [:]) }
    }
}
