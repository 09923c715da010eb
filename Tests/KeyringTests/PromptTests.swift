import Foundation
import TestSupport
import Testing

@testable import Keyring

/// Prompts of the provider: nothing is stored or deleted before it is seen to be, and nothing waits for a provider that is
/// gone.
@Suite struct PromptTests {
    /// Longer than the ten seconds in which all of this ends, as tests share the machine.
    private static let longest = Duration.seconds(40)
    private static let asking = ["prompt": "yes"]

    @Test(arguments: [["delete=dismiss"], ["delete=leave"]])
    func `what wasn't deleted doesn't count as deleted`(_ settings: [String]) async throws {
        try await withProvider(settings) { keyring, log in
            try await keyring.save([Sample.account])
            let isAsked = settings == ["delete=dismiss"]
            let result = try await keyring.probe("delete", isAsked ? Self.asking : [:])
            #expect(result.status == 1 && result.output.hasPrefix("error: denied"), "\(result)")
            #expect(try await keyring.records() == [Sample.account])
            // A window that nobody may answer doesn't stay.
            #expect(try contents(log).contains("dismissed delete") == !isAsked)
        }
    }

    @Test func `a deletion waits for the user as long as that takes`() async throws {
        try await withProvider(["delete=done", "after=4"]) { keyring, _ in
            try await keyring.save([Sample.account])
            let result = try await keyring.probe("delete", ["prompt": "yes", "deadline": "1"])
            #expect(result.output == "1\n", "\(result)")
            #expect(try await keyring.records().isEmpty)
        }
    }

    @Test func `a known item is replaced in place, where CreateItem would ask`() async throws {
        try await withProvider(["create=replace"]) { keyring, log in
            for secret in ["one", "two", "three"] {
                let result = try await keyring.save([Sample.refreshToken(secret)])
                #expect(result.output.isEmpty, "\(result)")
            }
            #expect(try await keyring.records() == [Sample.refreshToken("three")])
            let said = try contents(log)
            #expect(!said.contains("prompt create"), "\(said)")
            #expect(
                said.filter { $0 == "CreateItem" || $0 == "SetSecret" } == ["CreateItem", "SetSecret", "SetSecret"])
        }
    }

    @Test func `a new item counts as stored once the prompt has made it`() async throws {
        try await withProvider(["create=done", "after=0.2"]) { keyring, _ in
            let saved = try await keyring.save([Sample.account])
            #expect(saved.output.isEmpty, "\(saved)")
            #expect(try await keyring.records() == [Sample.account])
        }
        try await withProvider(["create=dismiss"]) { keyring, _ in
            let result = try await keyring.save([Sample.account], Self.asking)
            #expect(result.status == 1 && result.output.hasPrefix("error: denied"), "\(result)")
        }
    }

    /// What becomes of the provider while its prompt is open, and what that is called.
    @Test(arguments: [("killed", "broken"), ("stopped", "timedOut"), ("stopped and killed", "broken")])
    func `a prompt whose provider is gone ends`(fate: String, reason: String) async throws {
        for settings in [["lock=yes", "unlock=leave"], ["delete=leave"], ["create=leave"]] {
            try await withProvider(settings) { keyring, log in
                let operation = settings.count == 2 ? "records" : settings == ["delete=leave"] ? "delete" : "save"
                if operation == "delete" { try await keyring.save([Sample.account]) }
                let input =
                    operation == "save" ? String(decoding: UnifiedCache([Sample.account]).json(), as: UTF8.self) : ""
                async let running = keyring.probe(operation, Self.asking, input: input)
                try await until { try contents(log).contains { $0.hasPrefix("prompt") } }
                if fate != "killed" { try await keyring.suspend() }
                if fate != "stopped" { try await keyring.endProvider() }
                let result = try await running
                let reasons = fate == "stopped and killed" ? ["broken", "timedOut"] : [reason]
                #expect(reasons.contains { result.output.hasPrefix("error: \($0)") }, "\(settings) \(result)")
                #expect(result.duration < Self.longest)
            }
        }
    }

    @Test(arguments: [("dismiss", 1), ("done", 0)])
    func `many processes open one prompt, whose answer is for all`(answer: String, status: Int32) async throws {
        try await withProvider(["lock=yes", "unlock=\(answer)", "after=3"]) { keyring, log in
            let results = try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { try await keyring.probe("records", Self.asking) } }
                return try await group.reduce(into: [Ended]()) { $0.append($1) }
            }
            for result in results {
                #expect(result.status == status, "\(result)")
                if status == 1 { #expect(result.output.hasPrefix("error: denied"), "\(result)") }
            }
            #expect(try contents(log) == ["prompt unlock"])
            // A "no" is for those that waited, not for those that ask later.
            let later = try await keyring.probe("records", Self.asking)
            #expect(later.status == status)
            #expect(try contents(log).count == (status == 1 ? 2 : 1))
        }
    }

    @Test func `no prompt opens where nobody may be asked`() async throws {
        try await withProvider(["lock=yes", "unlock=done"]) { keyring, log in
            for operation in ["records", "delete", "save", "state"] {
                let result = try await keyring.probe(
                    operation, input: #"{"AppMetadata":{"k":{"client_id":"c","environment":"e"}}}"#)
                #expect(result.output.hasSuffix("locked\n") || result.output.hasPrefix("error: locked"), "\(result)")
            }
            #expect(try contents(log).isEmpty)
        }
    }

    @Test func `what can't be read in one session is read in the next, and never counts as not stored`() async throws {
        try await withProvider(["secrets=later"]) { keyring, _ in
            // The first session stores.
            try await keyring.save([Sample.account])
            #expect(try await keyring.records() == [Sample.account])
        }
        try await withProvider(["secrets=none"]) { keyring, _ in
            try await keyring.save([Sample.account])
            for operation in ["records", "reread"] {
                let result = try await keyring.probe(operation, ["command": "true"])
                #expect(result.status == 1 && result.output.hasPrefix("error: broken (what it keeps"), "\(result)")
            }
        }
        try await withProvider(["secrets=none"]) { keyring, _ in
            let place = "protocol=https\nhost=git.example\n"
            let stored = try await keyring.probe("store", input: place + "username=u\npassword=p\n")
            #expect(stored.status == 0, "\(stored)")
            let got = try await keyring.probe("get", input: place)
            #expect(got.status == 1 && got.output.hasPrefix("error: broken (what it keeps"), "\(got)")
        }
    }

    @Test func `a daemon that another takes the place of is asked again`() async throws {
        try await withProvider(["searches=later"]) { keyring, _ in
            try await keyring.save([Sample.account])
            #expect(try await keyring.records() == [Sample.account])
        }
    }

    @Test func `a provider at work is waited for, up to a limit, and one that hangs is not`() async throws {
        try await withProvider(["busy=4"]) { keyring, _ in
            let patient = try await keyring.probe("records", ["deadline": "1"])
            #expect(patient.status == 0, "\(patient)")
            // Fifteen times as long.
            let busy = try await keyring.probe("records", ["deadline": "0.1"])
            #expect(busy.output.hasPrefix("error: busy"), "\(busy)")
        }
    }

    @Test func `storing much takes as long as it takes while the provider answers`() async throws {
        try await withProvider(["slow=0.1"]) { keyring, _ in
            let records = (0..<120).map { Sample.accessToken("Scope.\($0)", secret: "secret-\($0)") }
            let result = try await keyring.save(records, ["deadline": "1"])
            #expect(result.output.isEmpty, "\(result)")
            #expect(try await keyring.records().count == records.count)
        }
    }

    private func withProvider(
        _ settings: [String], _ body: @Sendable (KeyringFixture, String) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(.noProvider) { keyring in
            try await keyring.scripted(settings) { log in try await body(keyring, log) }
        }
    }

    private func contents(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func until(_ condition: () throws -> Bool) async throws {
        for _ in 0..<3000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("waited in vain")
    }
}
