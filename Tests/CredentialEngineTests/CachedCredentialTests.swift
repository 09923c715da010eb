import Claims
import Model
import Rules
import Secrets
import Testing

@testable import CredentialEngine

/// The key of a cached answer, and its contents.
@Suite struct CachedCredentialTests {
    @Test(arguments: ["authority", "authorization", "authorization_uri"])
    func `a challenge counts by every parameter that can name the tenant`(_ parameter: String) {
        var request = CredentialRequest()
        request.wwwAuthenticate = ["Bearer \(parameter)=\"https://login.microsoftonline.com/contoso.com\""]
        #expect(ClaimsChallenge(request.wwwAuthenticate).authority == "https://login.microsoftonline.com/contoso.com")
        #expect(CachedCredential.fields(of: request) != CachedCredential.fields(of: CredentialRequest()))
        request.wwwAuthenticate = ["Basic realm=\"x\""]
        #expect(CachedCredential.fields(of: request) == CachedCredential.fields(of: CredentialRequest()))
    }

    @Test func `what one tool can read and another can't decides nothing`() {
        var request = CredentialRequest()
        request.takesAuthorizations = true
        #expect(CachedCredential.fields(of: request) == CachedCredential.fields(of: CredentialRequest()))
    }

    private static let none = DecisiveVariables([], in: [:])

    @Test func `a token counts while the variables that decided it stay the same`() throws {
        let token = Credential(.accessToken, Secret("e.y=J"), username: "u", expiresOn: 1_790_000_000)
        let set = ["CLIENT": "a", "OTHER": "b"]
        let bytes = try #require(token.remembered(by: DecisiveVariables(["CLIENT", "UNSET"], in: set)))
        #expect(Credential(remembered: bytes, in: set) == token)
        #expect(Credential(remembered: bytes, in: ["CLIENT": "a", "UNSET": ""]) == token)
        for changed in [["CLIENT": "b"], [:], ["CLIENT": "a", "UNSET": "c"]] {
            #expect(Credential(remembered: bytes, in: changed) == nil)
        }
    }

    @Test(arguments: ["alice@contoso.example", nil])
    func `a token is read as it was remembered`(_ username: String?) throws {
        let token = Credential(.accessToken, Secret("e.y=J"), username: username, expiresOn: 1_790_000_000)
        #expect(Credential(remembered: try #require(token.remembered(by: Self.none)), in: [:]) == token)
        var endless = Credential(.accessToken, Secret("e.y=J"), username: username)
        endless.basicUsername = "oauth2"
        #expect(Credential(remembered: try #require(endless.remembered(by: Self.none)), in: [:]) == endless)
        endless.takesBearer = false
        #expect(Credential(remembered: try #require(endless.remembered(by: Self.none)), in: [:]) == endless)
    }

    @Test func `a credential of several parts is read as it was remembered`() throws {
        var keys = Credential(.accessToken, Secret(""), username: "u", expiresOn: 1_790_000_000)
        keys.fields = ["ACCESS_KEY_ID": Secret("AKIA"), "SESSION_TOKEN": Secret("a=b=="), "EMPTY": Secret("")]
        #expect(Credential(remembered: try #require(keys.remembered(by: Self.none)), in: [:]) == keys)
    }

    @Test func `only a whole token is remembered`() {
        #expect(Credential(.password, Secret("p"), username: "u", expiresOn: 5).remembered(by: Self.none) == nil)
        #expect(
            Credential(.accessToken, Secret("two\nlines"), username: "u", expiresOn: 5).remembered(by: Self.none) == nil
        )
    }

    @Test(arguments: [
        "", "token=t\n", "expires_on=5\n", "token=t\nexpires_on=soon\n", "token=t\n\nexpires_on=5\n", "t",
    ])
    func `anything else is no token`(_ text: String) {
        #expect(Credential(remembered: Array(text.utf8), in: [:]) == nil)
    }
}
