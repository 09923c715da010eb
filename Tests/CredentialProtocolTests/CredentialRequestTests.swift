import Addresses
import CredentialProtocol
import Secrets
import Testing

@Suite struct CredentialRequestTests {
    private func request(_ text: String) throws -> CredentialRequest {
        var parser = AttributeParser(longestInput: 1 << 20)
        var blocks = try parser.consume(text.utf8)
        if let last = try parser.finish() { blocks.append(last) }
        return try CredentialRequest(try #require(blocks.first))
    }

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
        #expect(read.scheme == "https")
        #expect(read.host == RequestHost(name: "example.com", port: 8443))
        #expect(read.path == "org/repo?x=1")
        #expect(read.username == "alice")
        #expect(read.password == Secret("p"))
        #expect(read.passwordExpiry == 1_790_000_000)
        #expect(read.oauthRefreshToken == Secret("r"))
        #expect(read.wwwAuthenticate == ["Basic realm=\"x\"", "Bearer"])
        #expect(read.capabilities == [.authtype, .state])
        #expect(read.authtype == "Bearer")
        #expect(read.credential == Secret("c"))
        #expect(read.isEphemeral)
        #expect(read.isContinued)
        #expect(read.state == ["lanyard.x"])
        #expect(read.wish.isEmpty)
    }

    @Test func `lanyard's own keys are read`() throws {
        let wish = try request(
            "authority=https://a.example/t\nclient_id=c\nscope[]=s1\nscope[]=s2\naccount=alice\nclaims={}\nprompt=login\n"
        ).wish
        #expect(wish.authority == "https://a.example/t")
        #expect(wish.clientID == "c")
        #expect(wish.scopes == ["s1", "s2"])
        #expect(wish.account == "alice")
        #expect(wish.claims == "{}")
        #expect(wish.prompt == "login")
    }

    @Test(arguments: [
        ("0", nil), ("-5", nil), ("99999999999999999999", nil), ("soon", nil), ("9999999999", 9_999_999_999 as Int64),
    ])
    func `an expiry of 0, or that overflows, means never`(text: String, expected: Int64?) throws {
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
        "protocol=ht tp", "protocol=1x", "host=a\rb", "path=a\rb", "username=a\u{1B}[2J", "authtype=B\rx",
    ])
    func `control characters and nonsense are refused`(line: String) {
        #expect(throws: RequestError.self) { try request(line + "\n") }
    }

    @Test func `a URL is cut into its parts, and what came before it is forgotten`() throws {
        let read = try request(
            "host=forgotten\nusername=forgotten\nurl=https://al%40ce:p%3Aw@h.example:8443/a/b?q\nusername=bob\n")
        #expect(read.scheme == "https")
        #expect(read.host == RequestHost(name: "h.example", port: 8443))
        #expect(read.path == "a/b?q")
        #expect(read.username == "bob")
        #expect(read.password == Secret("p:w"))
        #expect(try request("username=forgotten\nurl=https://h.example/\n").username == nil)
    }

    // CVE-2020-5260 and CVE-2020-11008.
    @Test(arguments: [
        "https://h%0ahost=x/", "https://h/a%0d", "//h/p", "h/p", "://h", "https://h%zz/", "https://h/%f",
        "https://evil\\@h/", "https://a@b@h/", "https://h:+1/", "https://evil\u{301}@h/", "https://h./",
    ])
    func `a URL that git refuses is refused`(url: String) {
        #expect(throws: RequestError.invalid("url")) { try request("url=\(url)\n") }
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

@Suite struct CredentialAnswerTests {
    private func lines(_ answer: CredentialAnswer, capabilities: Set<CredentialRequest.Capability>, user: String? = nil)
        throws
        -> [String]
    {
        var request = CredentialRequest()
        request.capabilities = capabilities
        request.username = user
        return try answer.attributes(for: request).lines.map { "\($0.key)=\($0.value)" }
    }

    private let token = CredentialAnswer.token(Secret("t"), username: "alice@contoso.example", expiry: 5)

    @Test func `a consumer that offers authtype gets a Bearer token, the capability first`() throws {
        #expect(
            try lines(token, capabilities: [.authtype])
                == ["capability[]=authtype", "authtype=Bearer", "credential=t", "ephemeral=1", "password_expiry_utc=5"])
    }

    @Test func `a consumer that carries state too is asked to come back, unless it does so already`() throws {
        let token = CredentialAnswer.token(Secret("t"), username: "alice", expiry: 5, fingerprint: "0f")
        var request = CredentialRequest()
        request.capabilities = [.authtype, .state]
        request.state = ["other:lanyard:1"]
        func answered() throws -> [String] {
            try token.attributes(for: request).lines.map { "\($0.key)=\($0.value)" }
        }
        let final = [
            "capability[]=authtype", "authtype=Bearer", "credential=t", "ephemeral=1", "password_expiry_utc=5",
        ]
        #expect(
            try answered() == Array(final.prefix(4)) + ["capability[]=state", "continue=1", "state[]=lanyard:0f"]
                + Array(final.suffix(1)))
        request.state.append("lanyard:0e")
        #expect(request.refusedToken == "0e")
        #expect(try answered() == final)
        request.state = []
        request.capabilities = [.authtype]
        #expect(try answered() == final)
        request.capabilities = [.state]
        #expect(try answered() == ["username=alice", "password=t", "password_expiry_utc=5"])
    }

    @Test func `any other consumer gets the token as a password`() throws {
        #expect(
            try lines(token, capabilities: [.state])
                == ["username=alice@contoso.example", "password=t", "password_expiry_utc=5"])
        #expect(try lines(token, capabilities: [], user: "org").first == "username=org")
    }

    @Test func `a stored credential of another scheme goes only to who can use it`() throws {
        let answer = CredentialAnswer.credential(Secret("c"), authtype: "Bearer", username: "u", expiry: nil)
        #expect(try lines(answer, capabilities: []).isEmpty)
        #expect(
            try lines(answer, capabilities: [.authtype])
                == ["capability[]=authtype", "authtype=Bearer", "credential=c", "username=u"])
    }

    @Test func `a password comes with what was stored beside it`() throws {
        let answer = CredentialAnswer.password(Secret(""), username: "", expiry: 7, oauthRefreshToken: Secret("r"))
        #expect(
            try lines(answer, capabilities: [])
                == ["username=", "password=", "password_expiry_utc=7", "oauth_refresh_token=r"])
    }
}

@Suite struct DisplayTextTests {
    // CVE-2024-50349: text from elsewhere must not move the cursor or hide a host.
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
