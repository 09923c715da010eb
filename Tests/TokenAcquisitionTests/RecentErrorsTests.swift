import AnswerCache
import Foundation
import Keyring
import Model
import PluginWire
import Secrets
import Testing

@testable import Rules
@testable import TokenAcquisition

/// The limits of what processes remember about failures.
@Suite struct RecentFailuresTests {
    private static let place = AuthorityKey(
        environment: "login.example", aliases: ["login.example"], realm: "common", policy: nil)
    private static let account = AccountRecord(
        homeAccountID: "uid.utid", environment: "login.example", realm: "utid", username: "alice@contoso.example")

    private static func request(
        _ scopes: [String], client: String = "cid", claims: String? = nil
    ) -> TokenRequest {
        var request = TokenRequest("https://login.example/common", isConfigured: true, clientID: client, scopes: scopes)
        request.claims = claims
        return request
    }

    private static func key(
        _ scopes: [String] = ["a"], client: String = "cid", claims: String? = nil
    ) -> RecentErrors.Key {
        RecentErrors.Key(request(scopes, client: client, claims: claims), place, account: account)
    }

    private static func throttled(_ wait: Int?) -> PluginError {
        var error = PluginError(.throttled, "too many requests")
        error.retryAfter = wait
        return error
    }

    /// Runs the body with a separate runtime directory.
    private static func with(_ body: (RecentErrors, _ runtime: String) throws -> Void) throws {
        let runtime = FileManager.default.temporaryDirectory.appendingPathComponent("recentErrors-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: runtime) }
        try body(RecentErrors(notes: SharedNotes(in: runtime)), runtime)
    }

    @Test(arguments: [(nil, 60), (7, 7), (0, 1), (1_000_000, 3600)] as [(Int?, Int)])
    func `the wait is what the authority says, within an hour`(said: Int?, wait: Int) throws {
        try Self.with { recentErrors, _ in
            #expect(recentErrors.noted(Self.throttled(said), Self.key()).retryAfter == wait)
            let failure = try #require(recentErrors.failure(Self.key(), since: recentErrors.now))
            #expect(failure.code == .throttled && ((wait - 1)...wait).contains(failure.retryAfter ?? -1))
        }
    }

    @Test func `a throttled client is throttled whatever it asks for, and no other client`() throws {
        try Self.with { recentErrors, _ in
            _ = recentErrors.noted(Self.throttled(9), Self.key())
            #expect(recentErrors.failure(Self.key(["b"], claims: "{}"), since: recentErrors.now) != nil)
            #expect(recentErrors.failure(Self.key(client: "other"), since: recentErrors.now) == nil)
            recentErrors.forget(Self.key(["c"]))
            #expect(recentErrors.failure(Self.key(), since: recentErrors.now) == nil)
        }
    }

    @Test func `a failure is shared with those that waited for the same, and an outage with newcomers too`() throws {
        try Self.with { recentErrors, _ in
            let before = recentErrors.now - 1
            _ = recentErrors.noted(PluginError(.interactionRequired, "sign in"), Self.key())
            #expect(recentErrors.failure(Self.key(), since: before)?.code == .interactionRequired)
            #expect(recentErrors.failure(Self.key(), since: recentErrors.now + 1) == nil)
            #expect(recentErrors.failure(Self.key(["b"]), since: before) == nil)
            _ = recentErrors.noted(PluginError(.unavailable, "out of reach"), Self.key(["b"]))
            #expect(recentErrors.failure(Self.key(["b"]), since: recentErrors.now + 1)?.code == .unavailable)
        }
    }

    @Test func `a refresh token that needs the user rests, and no other does`() throws {
        try Self.with { recentErrors, _ in
            let (old, new): (Secret, Secret) = (Secret("old"), Secret("new"))
            _ = recentErrors.noted(PluginError(.interactionRequired, "sign in"), Self.key(), of: [old])
            let later = recentErrors.now + 1
            #expect(recentErrors.failure(Self.key(), since: later, by: old)?.code == .interactionRequired)
            #expect(recentErrors.failure(Self.key(), since: later, by: new) == nil)
            #expect(recentErrors.failure(Self.key(), since: later) == nil)
            #expect(recentErrors.failure(Self.key(["b"]), since: later, by: old) == nil)
            #expect(recentErrors.failure(Self.key(claims: "{}"), since: later, by: old) == nil)
            recentErrors.forget(Self.key())
            #expect(recentErrors.failure(Self.key(), since: later, by: old) == nil)
        }
    }

    @Test func `a proof that failed is no other identity's of the same client`() throws {
        func key(_ proof: Identity.Proof) -> RecentErrors.Key {
            let application = Identity.Application(
                authority: "https://login.example/common", clientID: "cid", proof: proof)
            var request = Self.request(["a"])
            request.identity = Identity(name: "release", source: .application(application))
            return RecentErrors.Key(request, Self.place, account: nil)
        }
        let proofs: [Identity.Proof] = [
            .secret(.keyring), .secret(.variable("ONE")), .secret(.variable("TWO")),
            .certificate(path: "/one.pem", password: nil), .certificate(path: "/One.pem", password: nil),
            .assertion("github-actions"), .assertion("file:/token"),
        ]
        for failing in proofs {
            try Self.with { recentErrors, _ in
                let before = recentErrors.now - 1
                _ = recentErrors.noted(PluginError(.invalidRequest, "wrong"), key(failing))
                for proof in proofs {
                    #expect((recentErrors.failure(key(proof), since: before) != nil) == (proof == failing))
                }
            }
        }
    }

    @Test func `whoever stopped one process has stopped no other`() throws {
        try Self.with { recentErrors, _ in
            let before = recentErrors.now - 1
            _ = recentErrors.noted(.interrupted, Self.key())
            #expect(recentErrors.cancellation(Self.key(), since: before) == nil)
            _ = recentErrors.noted(PluginError(.cancelled, "the sign-in was cancelled"), Self.key())
            #expect(recentErrors.cancellation(Self.key(), since: before)?.code == .cancelled)
            #expect(recentErrors.cancellation(Self.key(), since: recentErrors.now + 1) == nil)
        }
    }

    @Test func `of the authority's words only the codes are kept`() throws {
        try Self.with { recentErrors, _ in
            var error = PluginError(.interactionRequired, "the authority refuses: E20: alice@contoso.example …")
            error.error = "invalid_grant"
            error.errorCodes = ["E20"]
            error.reasons = [.otherAccount]
            error.correlationID = "id"
            let before = recentErrors.now - 1
            #expect(recentErrors.noted(error, Self.key()) == error)
            let failure = try #require(recentErrors.failure(Self.key(), since: before))
            #expect(failure.message == "the authority refuses: E20")
            #expect(
                failure.errorCodes == ["E20"] && failure.reasons == [.otherAccount] && failure.correlationID == "id")
        }
    }

    @Test(arguments: [
        "", "{", "[]", #"{"code":"throttled","at":0,"until":99999999999999}"#, #"{"code":"odd","at":0,"until":1}"#,
        String(repeating: " ", count: 10_000),
    ])
    func `a note that can't be right counts for nothing`(text: String) throws {
        try Self.with { recentErrors, runtime in
            _ = recentErrors.noted(Self.throttled(9), Self.key())
            let folder = runtime + "/lanyard/notes"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            #expect(recentErrors.failure(Self.key(), since: recentErrors.now) == nil)
        }
    }

    @Test func `a link is not followed, and a folder that is no folder costs nothing`() throws {
        try Self.with { recentErrors, runtime in
            _ = recentErrors.noted(Self.throttled(9), Self.key())
            let folder = runtime + "/lanyard/notes"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: runtime + "/note")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)", withDestinationPath: runtime + "/note")
            #expect(recentErrors.failure(Self.key(), since: recentErrors.now) == nil)
            try FileManager.default.removeItem(atPath: folder)
            try Data().write(to: URL(fileURLWithPath: folder))
            _ = recentErrors.noted(Self.throttled(9), Self.key())
            #expect(recentErrors.failure(Self.key(), since: recentErrors.now) == nil)
        }
    }

    @Test func `without a runtime directory nothing is kept`() {
        let recentErrors = RecentErrors(notes: SharedNotes(in: nil))
        _ = recentErrors.noted(Self.throttled(9), Self.key())
        #expect(recentErrors.failure(Self.key(), since: 0) == nil)
    }
}
