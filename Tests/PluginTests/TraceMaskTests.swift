import Secrets
import Testing

@testable import PluginHost

/// What a trace shows, and what it must hide.
@Suite struct TraceMaskTests {
    /// 96 random bytes in base64, with all of its letters.
    private static let opaque =
        "k9Zq/3VbT+u0rXf7Lw2HcY8/QmJ1sNd4Ae+6oGtR5iPvB0yUxK/zW7hEaS3jCMnO2DlF9gIq8TpZ+bV4uX1rY6wkLf0s/HQ2dN7mJe5oGA=="
    private static let url =
        "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/authorize"

    @Test(arguments: [
        (opaque, "<redacted>"), ("got \(opaque), renewing", "got <redacted>, renewing"),
        ("token=\(opaque)", "token=<redacted>"), ("{\"t\":\"\(opaque)\"}", "{\"t\":\"<redacted>\"}"),
        (
            "https://h.example/invite/\(opaque.replacing("/", with: "_").replacing("=", with: ""))/accept",
            "https://h.example/invite/<redacted>/accept"
        ),
        ("x=eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiIsImtpZCI6ImFiYyJ9.e30.sig", "x=<redacted>"),
        ("M.C507_BAY.0.U.-Cr1!9fKq*Zk3Wb$$T2u0rXf7Lw2HcY8_QmJ1sNd4Ae!6oGtR5iPvB0y", "<redacted>"),
        ("\(url)?code=1.x&client_id=abc", "\(url)?code=<redacted>&client_id=abc"),
        (String(repeating: "x", count: 201), "<redacted>"),
    ])
    func `what looks like a token is masked`(text: String, shown: String) {
        #expect(TraceMask.masked(text) == shown)
    }

    @Test(arguments: [
        url, "\(url)?client_id=5a4d1b0c-7a0e-4c5b-9d2e-6c616e796172&response_type=code&prompt=select_account",
        "/home/alice/Projects/Contoso.Identity/Sources/MicrosoftIdentity/Authority/Authority+Discovery2.swift",
        "/nix/store/3n1qh5x0c8jz9m2w7v6k4d0r5f8g1a2b-swift-6.3.1/lib/swift/linux/x86_64/libswiftGlibc.so",
        "499b84ac-1321-427f-aa17-267ca6975798/.default", "AADSTS50076:", "==========================================",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "https://dev.azure.com/contoso/Project%20Nine/_git/Some.Very.Long.RepositoryName.With.Parts2/pullrequest/12345",
        "00000003-0000-0000-c000-000000000000/User.Read,Mail.ReadWrite,Calendars.ReadWrite.Shared,Files.ReadWrite.All",
        "state_machine=lanyard-plugin-v1",
    ])
    func `addresses, paths, scopes and numbers are shown`(text: String) {
        #expect(TraceMask.masked(text) == text)
    }

    @Test(arguments: [
        ("value", "http://localhost:1/?code=abc%2Bd&x=1", "abc+d"),
        ("value", "http://localhost:1/?code=abc%2Bd", "abc%2Bd"),
        ("refresh_token", "longer", "longer"), ("variable[]", "NAME=hidden", "hidden"), ("memo", "m-e-m-o", "m-e-m-o"),
        ("url", "https://h.example/a?state=st4te", "st4te"),
    ])
    func `what was secret once is masked where it occurs again`(key: String, value: String, secret: String) throws {
        let known = KnownSecrets()
        var block = Attributes()
        try block.append(key, value)
        #expect(known.masked("x \(secret) y") == "x \(secret) y")
        known.learn(block)
        #expect(known.masked("x \(secret) y") == "x <redacted> y")
    }

    @Test(arguments: [
        ("HOME=/home/alice", "/home/alice", true), ("AWS_PROFILE=default", "default", true),
        ("AWS_ROLE_ARN=arn:aws:iam::1:role/x", "arn:aws:iam::1:role/x", true),
        ("AWS_WEB_IDENTITY_TOKEN_FILE=/run/token", "/run/token", true),
        ("GOOGLE_APPLICATION_CREDENTIALS=/x/adc.json", "/x/adc.json", true),
        ("AWS_SECRET_ACCESS_KEY=/base64", "/base64", false), ("TOKEN=/base64", "/base64", false),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/c0ffee", "/v2/c0ffee", false),
        ("API=plain", "plain", false),
    ])
    func `an error can name what a variable says the place of`(variable: String, value: String, isShown: Bool) throws {
        let known = KnownSecrets()
        var block = Attributes()
        try block.append("variable[]", variable)
        known.learn(block)
        #expect(known.masked("no \(value) here") == (isShown ? "no \(value) here" : "no <redacted> here"))
    }

    @Test(arguments: [
        "refresh_token", "Refresh_Token", "refreshtoken", "refresh-token", "acces_token", "pass", "user_name",
        "scope",
    ])
    func `a key that may be a secret's, misspelt, hides its value`(key: String) {
        let isSecret = !["pass", "user_name", "scope"].contains(key)
        #expect(TraceMask.line("\(key)=plain", hiding: KnownSecrets()) == "\(key)=\(isSecret ? "<redacted>" : "plain")")
    }

    @Test func `a part of a longer secret doesn't hide the rest from the mask`() throws {
        let known = KnownSecrets()
        for secret in ["abcd", "abcdefgh"] {
            var block = Attributes()
            try block.append("refresh_token", secret)
            known.learn(block)
        }
        #expect(known.masked("abcdefgh abcd abc") == "<redacted> <redacted> abc")
    }
}
