import Claims
import Rules
import Secrets
import Testing

@testable import CredentialEngine

/// What decides a remembered answer, and what is remembered.
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

    @Test func `what one consumer can read and another can't decides nothing`() {
        var request = CredentialRequest()
        request.takesAuthorizations = true
        #expect(CachedCredential.fields(of: request) == CachedCredential.fields(of: CredentialRequest()))
    }

    @Test(arguments: ["alice@contoso.example", nil])
    func `a token is read as it was remembered`(_ username: String?) throws {
        let token = Credential(.accessToken, Secret("e.y=J"), username: username, expiresOn: 1_790_000_000)
        #expect(Credential(remembered: try #require(token.remembered)) == token)
        var endless = Credential(.accessToken, Secret("e.y=J"), username: username)
        endless.basicUsername = "oauth2"
        #expect(Credential(remembered: try #require(endless.remembered)) == endless)
        endless.takesBearer = false
        #expect(Credential(remembered: try #require(endless.remembered)) == endless)
    }

    @Test func `a credential of several parts is read as it was remembered`() throws {
        var keys = Credential(.accessToken, Secret(""), username: "u", expiresOn: 1_790_000_000)
        keys.fields = ["ACCESS_KEY_ID": Secret("AKIA"), "SESSION_TOKEN": Secret("a=b=="), "EMPTY": Secret("")]
        #expect(Credential(remembered: try #require(keys.remembered)) == keys)
    }

    @Test func `only a whole token is remembered`() {
        #expect(Credential(.password, Secret("p"), username: "u", expiresOn: 5).remembered == nil)
        #expect(Credential(.accessToken, Secret("two\nlines"), username: "u", expiresOn: 5).remembered == nil)
    }

    @Test(arguments: [
        "", "token=t\n", "expires_on=5\n", "token=t\nexpires_on=soon\n", "token=t\n\nexpires_on=5\n", "t",
    ])
    func `anything else is no token`(_ text: String) {
        #expect(Credential(remembered: Array(text.utf8)) == nil)
    }
}
