import Addresses
import AnswerCache
import Claims
import CredentialEngine
import Model
import Rules
import Secrets
import Testing

@testable import Tools

private func request(_ text: String) throws -> GitRequest {
    var parser = AttributeParser(longestInput: 1 << 20)
    var blocks = try parser.consume(text.utf8)
    if let last = try parser.finish() { blocks.append(last) }
    return try GitRequest(try #require(blocks.first))
}

@Suite struct GitRequestTests {
    @Test func `every key of git's is read`() throws {
        let read = try request(
            """
            capability[]=authtype
            capability[]=state
            authtype=Bearer
            credential=c
            ephemeral=1
            protocol=https
            host=Example.com:8443
            path=org/repo?x=1
            username=alice
            password=p
            oauth_refresh_token=r
            password_expiry_utc=1790000000
            wwwauth[]=Basic realm="x"
            wwwauth[]=Bearer
            continue=1
            state[]=lanyard.x
            unknown=ignored
            """)
        #expect(read.wanted.scheme == "https")
        #expect(read.wanted.host == RequestHost(name: "example.com", port: 8443))
        #expect(read.wanted.path == "org/repo?x=1")
        #expect(read.wanted.username == "alice")
        #expect(read.password == Secret("p"))
        #expect(read.passwordExpiry == 1_790_000_000)
        #expect(read.oauthRefreshToken == Secret("r"))
        #expect(read.wanted.wwwAuthenticate == ["Basic realm=\"x\"", "Bearer"])
        #expect(read.capabilities == [.authtype, .state])
        #expect(read.authtype == "Bearer")
        #expect(read.credential == Secret("c"))
        #expect(read.isEphemeral)
        #expect(read.state == ["lanyard.x"])
        #expect(read.wanted.explicit.isEmpty)
    }

    @Test(arguments: [
        ("yes", true), ("TRUE", true), ("on", true), ("1", true), ("0", false), ("no", false), ("x", false),
    ])
    func `a credential is ephemeral in any word that git takes for true`(word: String, isEphemeral: Bool) throws {
        #expect(try request("host=a\nephemeral=\(word)\n").isEphemeral == isEphemeral)
    }

    @Test func `lanyard's own keys are read`() throws {
        let explicit = try request(
            "authority=https://a.example/t\nclient_id=c\nscope[]=s1\nscope[]=s2\naccount=alice\nclaims={}\nprompt=login\n"
        ).wanted.explicit
        #expect(explicit.authority == "https://a.example/t")
        #expect(explicit.clientID == "c")
        #expect(explicit.scopes == ["s1", "s2"])
        #expect(explicit.account == "alice")
        #expect(explicit.claims == "{}")
        #expect(explicit.signIn == [.prompt: ["login"]])
    }

    @Test func `each sign-in parameter is read under its one name`() throws {
        let lines = SignInParameter.allCases.map { "\($0.wireKey)=a\n\($0.wireKey)=b\n" }.joined()
        let explicit = try request(lines + "login_hint=\n").wanted.explicit
        for parameter in SignInParameter.allCases where parameter != .loginHint {
            #expect(explicit.signIn[parameter] == (parameter == .queryParameters ? ["a", "b"] : ["b"]))
        }
        #expect(explicit.signIn[.loginHint] == nil)
    }

    @Test(arguments: [
        ("0", nil), ("-5", nil), ("99999999999999999999", nil), ("soon", nil), ("9999999999", 9_999_999_999 as Int),
    ])
    func `an expiry of 0, or that overflows, means never`(text: String, expected: Int?) throws {
        #expect(try request("password_expiry_utc=\(text)\n").passwordExpiry == expected)
    }

    @Test(
        arguments: [
            ("example.com", "example.com", nil), ("EXAMPLE.com:443", "example.com", 443),
            ("[::1]", "::1", nil), ("[FE80::1]:8443", "fe80::1", 8443), ("127.0.0.1:1", "127.0.0.1", 1),
        ] as [(String, String, Int?)])
    func `a host is a name or address and perhaps a port`(text: String, name: String, port: Int?) throws {
        #expect(RequestHost(text) == RequestHost(name: name, port: port))
        #expect(RequestHost(text)?.text == text.lowercased())
    }

    @Test(arguments: [
        "", ":443", "host:", "host:0", "host:65536", "host:x", "a b", "a/b", "u@h", "h?q", "h#f", "h\\x", "[::1",
        "[nope]",
        "[::1]x", "h%0a", "a\rb", "a\u{7F}b", "::1",
    ])
    func `what no host can be is refused`(text: String) {
        #expect(RequestHost(text) == nil)
    }

    @Test(arguments: [
        "protocol=ht tp", "protocol=1x", "host=a\u{7F}b", "path=a\tb", "username=a\u{1B}[2J", "authtype=B\tx",
    ])
    func `control characters and nonsense are refused`(line: String) {
        #expect(throws: ProtocolError.self) { try request(line + "\n") }
    }

    @Test func `a URL is cut into its parts, and what came before it is forgotten`() throws {
        let read = try request(
            "host=forgotten\nusername=forgotten\nurl=https://al%40ce:p%3Aw@h.example:8443/a/b?q\nusername=bob\n")
        #expect(read.wanted.scheme == "https")
        #expect(read.wanted.host == RequestHost(name: "h.example", port: 8443))
        #expect(read.wanted.path == "a/b?q")
        #expect(read.wanted.username == "bob")
        #expect(read.password == Secret("p:w"))
        #expect(try request("username=forgotten\nurl=https://h.example/\n").wanted.username == nil)
    }

    // CVE-2020-5260 and CVE-2020-11008.
    @Test(arguments: [
        "https://h%0ahost=x/", "https://h/a%0d", "//h/p", "h/p", "://h", "https://h%zz/", "https://h/%f",
        "https://evil\\@h/", "https://a@b@h/", "https://h:+1/", "https://evil\u{301}@h/", "https://h./",
    ])
    func `a URL that git refuses is refused`(url: String) {
        #expect(throws: ProtocolError.invalid("url")) { try request("url=\(url)\n") }
    }

    @Test func `a secret shows itself nowhere`() throws {
        let read = try request("host=h\npassword=hunter2\ncredential=hunter2\noauth_refresh_token=hunter2\n")
        #expect(!"\(read)".contains("hunter2"))
        #expect(!String(reflecting: read).contains("hunter2"))
        var dumped = ""
        dump(read, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }
}

@Suite struct GitAnswerTests {
    private func lines(_ credential: Credential, capabilities: Set<GitRequest.Capability>, user: String? = nil) throws
        -> [String]
    {
        var request = GitRequest()
        request.capabilities = capabilities
        request.wanted.username = user
        return try request.answer(credential).lines.map { "\($0.key)=\($0.value)" }
    }

    private let token = Credential(.accessToken, Secret("t"), username: "alice@contoso.example", expiresOn: 5)

    @Test func `a tool that offers authtype gets a Bearer token, the capability first`() throws {
        #expect(
            try lines(token, capabilities: [.authtype])
                == ["capability[]=authtype", "authtype=Bearer", "credential=t", "ephemeral=1", "password_expiry_utc=5"])
    }

    @Test func `a token that a server takes as a password only goes with the one name that it takes`() throws {
        var token = Credential(.accessToken, Secret("t"), username: "alice")
        token.basicUsername = "oauth2"
        token.takesBearer = false
        for user in [nil, "alice", "alice@contoso.example"] {
            #expect(try lines(token, capabilities: [], user: user) == ["username=oauth2", "password=t"])
        }
        #expect(
            try lines(token, capabilities: [.authtype, .state])
                == ["capability[]=authtype", "ephemeral=1", "username=oauth2", "password=t"])
    }

    @Test func `a token that a server takes either way goes as such, or with the name that the server takes`() throws {
        var token = Credential(.accessToken, Secret("t"), username: "alice")
        token.basicUsername = "x-token-auth"
        #expect(try lines(token, capabilities: [], user: "alice") == ["username=x-token-auth", "password=t"])
        #expect(
            try lines(token, capabilities: [.authtype], user: "team")
                == ["capability[]=authtype", "authtype=Bearer", "credential=t", "ephemeral=1", "username=team"])
        token.basicUsername = nil
        token.takesBearer = false
        #expect(
            try lines(token, capabilities: [.authtype])
                == ["capability[]=authtype", "ephemeral=1", "username=alice", "password=t"])
    }

    @Test func `a tool that carries state too is asked to come back, unless it does so already`() throws {
        let state = ["capability[]=state", "continue=1", "state[]=lanyard:\(token.secret.fingerprint)"]
        let final = [
            "capability[]=authtype", "authtype=Bearer", "credential=t", "ephemeral=1", "password_expiry_utc=5",
        ]
        #expect(try lines(token, capabilities: [.authtype, .state]) == final.dropLast() + state + final.suffix(1))
        #expect(try lines(token, capabilities: [.authtype]) == final)
        #expect(
            try lines(token, capabilities: [.state])
                == ["username=alice@contoso.example", "password=t", "password_expiry_utc=5"])
        var again = try request("capability[]=authtype\ncapability[]=state\nstate[]=other:lanyard:1\n")
        #expect(again.wanted.refusedToken == nil)
        again = try request(
            "capability[]=authtype\ncapability[]=state\nstate[]=other:lanyard:1\nstate[]=lanyard:0e\n")
        #expect(again.wanted.refusedToken == "0e")
        #expect(try again.answer(token).lines.map { "\($0.key)=\($0.value)" } == final)
    }

    @Test func `any other tool gets the token as a password`() throws {
        #expect(
            try lines(token, capabilities: [.state])
                == ["username=alice@contoso.example", "password=t", "password_expiry_utc=5"])
        #expect(try lines(token, capabilities: [], user: "org").first == "username=org")
        let nameless = Credential(.accessToken, Secret("t"), username: nil, expiresOn: 5)
        #expect(try lines(nameless, capabilities: []).first == "username=token")
        #expect(try lines(nameless, capabilities: [], user: "a@b.example").first == "username=token")
    }

    @Test func `a stored credential of another scheme goes only to who can use it`() throws {
        let answer = Credential(.authorization(scheme: "Bearer"), Secret("c"), username: "u", expiresOn: 9)
        #expect(try lines(answer, capabilities: []).isEmpty)
        #expect(
            try lines(answer, capabilities: [.authtype])
                == [
                    "capability[]=authtype", "authtype=Bearer", "credential=c", "username=u", "password_expiry_utc=9",
                ])
    }

    @Test func `a password comes with what was stored beside it`() throws {
        let answer = Credential(
            .password, Secret(""), username: nil, expiresOn: 7, oauthRefreshToken: Secret("r"))
        #expect(
            try lines(answer, capabilities: [])
                == ["username=", "password=", "password_expiry_utc=7", "oauth_refresh_token=r"])
    }
}

@Suite struct DisplayTextTests {
    // CVE-2024-50349: untrusted text must not move the cursor or hide a host.
    @Test(arguments: [
        ("plain ü", "plain ü"), ("a\u{1B}[2Jb", "a?[2Jb"), ("a\r\nb", "a??b"), ("a\u{9B}b", "a?b"),
        ("a\u{202E}b", "a?b"),
        ("a\u{2028}b", "a?b"), ("a\u{200B}b", "a?b"), ("\u{7F}", "?"),
    ])
    func `nothing a terminal obeys is shown`(text: String, shown: String) {
        #expect(text.displayable() == shown)
    }

    @Test func `a long text is cut`() {
        #expect(String(repeating: "x", count: 10).displayable(limit: 3) == "xxx…")
        #expect("xxx".displayable(limit: 3) == "xxx")
    }
}
