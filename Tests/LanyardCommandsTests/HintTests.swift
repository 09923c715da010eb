import CredentialProtocol
import Testing
import TokenStore

@testable import LanyardCommands
@testable import Rules
@testable import TokenAcquisition

/// Commands in hints, which people copy into a shell.
@Suite struct HintTests {
    private static let hostile = AccountRecord(
        homeAccountID: "a.b;reboot", environment: "login.example", realm: "b", username: "bob;$(reboot)@x.example")

    @Test func `what an authority calls an account can't become a command of its own`() throws {
        #expect(Self.hostile.useCommand == "lanyard use 'bob;$(reboot)@x.example'")
        let request = TokenRequest(
            origin: .consumer, authority: "https://login.example/b", authorityIsConfigured: true, clientID: "c",
            scopes: [])
        for isShared in [false, true] {
            let failure = Failure(
                .ambiguousAccount([Self.hostile], isShared: isShared), request: request, url: nil)
            #expect(failure.hints.first?.hasSuffix(" 'bob;$(reboot)@x.example'") == true, "\(failure.hints)")
        }
        let twin = AccountRecord(homeAccountID: "c.d", environment: "login.example", realm: "d", username: "bob")
        var other = Self.hostile
        other.username = "bob"
        let known = KnownAccounts([twin, other].map(Self.known), history: [])
        let failure = #expect(throws: Failure.self) { try known.account(named: "bob", command: "lanyard use") }
        #expect(failure?.hints.contains { $0.hasSuffix("lanyard use 'a.b;reboot'") } == true, "\(failure?.hints ?? [])")
    }

    @Test func `a hint to sign in names the account that was asked for, once`() {
        var request = TokenRequest(
            origin: .consumer, authority: "https://login.example/b", authorityIsConfigured: true, clientID: "c",
            scopes: [])
        request.account = "alice@x.example"
        let url = "https://git.example"
        for error in [AcquisitionError.interactionRequired(nil), .noSuchAccount("alice@x.example", known: [])] {
            let hints = Failure(error, request: request, url: url).hints
            #expect(hints == ["sign in: lanyard login https://git.example --account alice@x.example"])
        }
    }

    @Test func `a hint to sign in for a URL names what the consumer named itself, and nothing of the rule`() {
        var request = TokenRequest(
            origin: .rule("https://git.example"), authority: "https://login.example/b", authorityIsConfigured: true,
            clientID: "c", scopes: ["s", "t"])
        func hint() -> String? {
            Failure(.interactionRequired(nil), request: request, url: "https://git.example").hints.first
        }
        #expect(hint() == "sign in: lanyard login https://git.example")
        request.named = [.clientID, .scopes]
        #expect(hint() == "sign in: lanyard login https://git.example --client-id c --scope s --scope t")
    }

    private static func known(_ account: AccountRecord) -> KnownAccount {
        KnownAccount(
            account: account, profiles: [account], environments: [account.environment], clientIDs: [], canRenew: false)
    }
}

/// What decides a remembered answer.
@Suite struct RememberedAnswerTests {
    @Test(arguments: ["authority", "authorization", "authorization_uri"])
    func `a challenge counts by every parameter that can name the tenant`(_ parameter: String) {
        var request = CredentialRequest()
        request.wwwAuthenticate = ["Bearer \(parameter)=\"https://login.microsoftonline.com/contoso.com\""]
        #expect(ClaimsChallenge(request.wwwAuthenticate).authority == "https://login.microsoftonline.com/contoso.com")
        #expect(RememberedAnswer.fields(of: request) != RememberedAnswer.fields(of: CredentialRequest()))
        request.wwwAuthenticate = ["Basic realm=\"x\""]
        #expect(RememberedAnswer.fields(of: request) == RememberedAnswer.fields(of: CredentialRequest()))
    }
}
