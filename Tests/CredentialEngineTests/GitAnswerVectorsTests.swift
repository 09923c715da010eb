import JSON
import Keyring
import Model
import PluginHost
import Rules
import Secrets
import TestSupport
import Testing
import Vectors

@testable import CredentialEngine
@testable import TokenAcquisition
@testable import Tools

/// Tokens for hosts that the manifests know, as git receives them.
@Suite struct GitAnswerVectorsTests {
    private static let registry = PluginRegistry.discover(environment: [:], executable: Built.lanyard)

    @Test(arguments: OAuthVectors.followed("git-answer"))
    func `a token goes in the form that the host takes`(_ vector: VectorCase) throws {
        let lines = try answer(vector)
        for (key, value) in vector.expect where key != "absent" {
            #expect(lines[key] == value.string ?? value.wholeNumber.map { String($0) }, "\(lines)")
        }
        for key in vector.expect["absent"]?.elements ?? [] { #expect(lines[key.string ?? ""] == nil) }
        #expect((lines["password"] == nil) != (lines["credential"] == nil))
    }

    private func answer(_ vector: VectorCase) throws -> Attributes {
        let match = try #require(
            Self.registry.match(authority: "https://git.example", kind: vector.text("kind"), isConfigured: true))
        let record = AccessTokenRecord(
            homeAccountID: "a.b", environment: "git.example", clientID: "c", realm: "default", target: "",
            secret: Secret("TOKEN"), cachedAt: 0, expiresOn: vector.input["expires_on"]?.wholeNumber)
        let account = AccountRecord(
            homeAccountID: "a.b", environment: "git.example", realm: "default", username: "alice")
        let token = AcquiredToken(record, account: account, source: .cache)
        var request = GitRequest()
        if vector.input["authtype"] == .bool(true) { request.capabilities = [.authtype] }
        return try request.answer(Credential(token, at: match.issuer))
    }
}
