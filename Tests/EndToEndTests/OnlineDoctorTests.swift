import AuthorityFixture
import Foundation
import TestSupport
import Testing

/// `doctor --online` reports every problem on the way to the authority, and its remedy.
@Suite struct OnlineDoctorTests {
    struct Check: Decodable, Sendable {
        let check: String
        let level: String
        let text: String
        let remedies: [String]
    }

    private struct Report: Decodable {
        let checks: [Check]
    }

    private static let alice = "alice@contoso.example"

    /// Returns the online findings, and the exit status.
    private static func doctor(
        _ world: World, _ extra: [String: String] = [:]
    ) async throws -> (checks: [Check], status: Int32) {
        let ended = try await world.lanyard(["doctor", "--online", "--json"], extra)
        let report = try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8))
        return (report.checks.filter { ["authority", "clock", "renewal"].contains($0.check) }, ended.status)
    }

    /// Replaces the configuration with one rule; a path names an authority of the sandbox.
    private static func configure(
        _ world: World, _ authority: String, client: String? = nil, scope: String = "api://sandbox-git/.default",
        trusting caFile: String? = nil
    ) throws {
        let trust = caFile ?? world.sandbox.caFile
        try """
        \(trust.isEmpty ? "" : "ca-file = \"\(trust)\"")

        [[rule]]
        url = "\(world.sandbox.resource)/contoso"
        authority = "\(authority.hasPrefix("/") ? world.sandbox.authority + authority : authority)"
        client-id = "\(client ?? world.sandbox.clientID)"
        scopes = ["\(scope)"]

        \(world.keyringTable)
        """.write(toFile: world.configFile, atomically: true, encoding: .utf8)
    }

    // MARK: Broken

    /// A broken set-up, and its report.
    struct Broken: CustomTestStringConvertible, Sendable {
        let name: String
        var check = "authority"
        /// The report contains one of these.
        let causes: [String]
        let remedy: String
        let examine: @Sendable (World) async throws -> [Check]
        var testDescription: String { name }

        init(
            _ name: String, check: String = "authority", says causes: [String], remedy: String,
            _ examine: @escaping @Sendable (World) async throws -> [Check]
        ) {
            (self.name, self.check, self.causes, self.remedy, self.examine) = (name, check, causes, remedy, examine)
        }

        /// Returns a case with one rule, whose authority isn't the sandbox's or is at another path.
        static func rule(
            _ name: String, at authority: String, client: String? = nil, scope: String = "api://sandbox-git/.default",
            says causes: [String], remedy: String
        ) -> Broken {
            Broken(name, says: causes, remedy: remedy) { world in
                try configure(world, authority, client: client, scope: scope)
                return try await doctor(world).checks
            }
        }

        /// Returns a case with a fault of the sandbox.
        static func fault(_ name: String, _ fault: String, says cause: String, remedy: String) -> Broken {
            Broken(name, says: [cause], remedy: remedy) { world in
                try configure(world, "/contoso.example")
                try await world.sandbox.fault(fault.replacing("AUTHORITY", with: world.sandbox.authority))
                return try await doctor(world).checks
            }
        }

        /// Returns a case with a server without TLS in place of the proxy or the authority.
        static func plain(
            _ name: String, isProxy: Bool, answering answer: String?, says causes: [String], remedy: String
        ) -> Broken {
            Broken(name, says: causes, remedy: remedy) { world in
                try await PlainServer.run(answering: answer) { port in
                    try configure(world, isProxy ? "/contoso.example" : "https://localhost:\(port)/contoso.example")
                    return try await doctor(world, isProxy ? ["https_proxy": "http://127.0.0.1:\(port)"] : [:]).checks
                }
            }
        }

        /// Returns a case with another TLS server in place of the authority.
        static func server(
            _ name: String, check: String = "authority", _ identity: TLSServer.Identity, date: String? = nil,
            says cause: String, remedy: String
        ) -> Broken {
            Broken(name, check: check, says: [cause], remedy: remedy) { world in
                var checks: [Check] = []
                try await TLSServer.run(identity, { metadata(of: $0, date: date) }) { server in
                    try configure(
                        world, "https://localhost:\(server.port)/contoso.example", trusting: server.caFile)
                    checks = try await doctor(world).checks
                }
                return checks
            }
        }

        static let all: [Broken] = [
            Broken(
                "a proxy that is down", says: ["no connection to the proxy 127.0.0.1:9: connection refused"],
                remedy: "check https_proxy and no_proxy"
            ) { world in
                try configure(world, "/contoso.example")
                return try await doctor(world, ["https_proxy": "http://127.0.0.1:9"]).checks
            },
            .plain(
                "a proxy that refuses", isProxy: true,
                answering: "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
                says: ["refused to connect to localhost"], remedy: "check https_proxy and no_proxy"),
            .plain(
                "a proxy that wants a password", isProxy: true,
                answering: "HTTP/1.1 407 Who?\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n",
                says: ["asks for a user name and password"], remedy: "USER:PASSWORD@HOST"),
            .rule(
                "a tenant that there is not", at: "/nowhere.example", says: ["AADSTS90002"],
                remedy: "check the tenant"),
            .rule(
                "an unknown client ID", at: "/contoso.example", client: "99999999-2222-3333-4444-555555555555",
                says: ["AADSTS700016"], remedy: "check the client ID"),
            .rule(
                "an unknown scope", at: "/contoso.example", scope: "api://nothing/.default",
                says: ["AADSTS500011", "AADSTS70011"], remedy: "check the scopes"),
            .rule(
                "a host that there is not", at: "https://nowhere.invalid/contoso.example",
                says: ["no such host", "its name can't be looked up", "the connection timed out"],
                remedy: "check the"),
            .rule(
                "a port that nobody listens at", at: "https://localhost:9/contoso.example",
                says: ["cannot reach localhost:9: connection refused"], remedy: "check the network"),
            .plain(
                "a host that never answers", isProxy: false, answering: nil,
                says: ["did not answer in time", "the connection timed out"], remedy: "check the network"),
            .plain(
                "a host without TLS", isProxy: false,
                answering: "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
                says: ["does not speak TLS at this port"], remedy: "check the authority's URL"),
            Broken(
                "a certificate that nobody vouches for", says: ["is not trusted: its issuer is not known here"],
                remedy: "ca-file"
            ) { world in
                try configure(world, "/contoso.example", trusting: "")
                _ = try await world.git(["config", "--global", "--unset", "http.sslCAInfo"])
                return try await doctor(world).checks
            },
            .server(
                "a certificate for another name", .host("other.example"), says: "is for another name: other.example",
                remedy: "check the authority's name"),
            .server(
                "a certificate that has expired", expired, says: "expired on", remedy: "check this computer's clock"),
            .server(
                "a clock that is behind", check: "clock", .host("localhost"), date: "Fri, 01 Jan 2100 00:00:00 GMT",
                says: "days behind", remedy: "sudo timedatectl set-ntp true"),
            .server(
                "a clock that is ahead", check: "clock", .host("localhost"), date: "Tue, 01 Jan 2019 00:00:00 GMT",
                says: "days ahead of", remedy: "sudo timedatectl set-ntp true"),
            .fault(
                "a page in place of an answer",
                #"{"path": "openid-configuration", "status": 200, "body": "<html>Welcome</html>"}"#,
                says: "not an OpenID configuration", remedy: "network sign-in page"),
            .fault(
                "an issuer that is another's",
                #"{"path": "openid-configuration", "status": 200, "body": "{\"issuer\": \"https://evil.example/v2.0\", "#
                    + #"\"authorization_endpoint\": \"AUTHORITY/a\", \"token_endpoint\": \"AUTHORITY/t\"}"}"#,
                says: "names an issuer that is not its own: https://evil.example", remedy: "check the authority"),
            .fault(
                "a connection that breaks", #"{"path": "openid-configuration", "close": true}"#,
                says: "closed the connection", remedy: "check the network"),
            .fault(
                "an authority that does not work", #"{"path": "openid-configuration", "status": 503}"#,
                says: "HTTP 503", remedy: "try again"),
            Broken(
                "a sign-in that was revoked", check: "renewal", says: ["\(alice) at"], remedy: "lanyard login"
            ) { world in
                try configure(world, "/contoso.example")
                try await world.signIn(alice, path: "contoso/hello.git")
                try await world.sandbox.revoke(#"{"username": "\#(alice)"}"#)
                return try await doctor(world).checks
            },
            Broken(
                "an authority that renews nothing", check: "renewal", says: ["HTTP 500"], remedy: "try again"
            ) { world in
                try configure(world, "/contoso.example")
                try await world.signIn(alice, path: "contoso/hello.git")
                try await world.sandbox.fault(#"{"path": "/token", "status": 500}"#)
                return try await doctor(world).checks
            },
        ]

        private static var expired: TLSServer.Identity {
            var identity = TLSServer.Identity.host("localhost")
            identity.notValidBefore = .now.addingTimeInterval(-9 * 86_400)
            identity.notValidAfter = .now.addingTimeInterval(-2 * 86_400)
            return identity
        }
    }

    /// Returns an authority's metadata for the requested port, without device codes.
    private static func metadata(of request: String, date: String?) -> TLSServer.Behaviour {
        let host = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host:") }?.dropFirst(5) ?? ""
        let url = "https://\(host.trimmingCharacters(in: .whitespaces))/contoso.example"
        let isMetadata = request.contains("openid-configuration")
        let body =
            isMetadata
            ? #"{"issuer":"\#(url)/v2.0","authorization_endpoint":"\#(url)/a","token_endpoint":"\#(url)/t"}"#
            : #"{"error":"invalid_client"}"#
        let head = "HTTP/1.1 \(isMetadata ? "200 OK" : "400 Bad Request")\r\ncontent-type: application/json\r\n"
        let time = date.map { "date: \($0)\r\n" } ?? ""
        return .answer("\(head)\(time)content-length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test(arguments: Broken.all)
    func `a broken set-up is told by its cause, with a remedy`(_ broken: Broken) async throws {
        try await World.with { world in
            let checks = try await broken.examine(world)
            let failures = checks.filter { $0.level == "fail" }
            let failure = try #require(failures.first, "\(checks)")
            #expect(failure.check == broken.check, "\(failures)")
            #expect(broken.causes.contains { failure.text.contains($0) }, "\(failure)")
            #expect(failure.remedies.contains { $0.contains(broken.remedy) }, "\(failure)")
            if broken.check == "authority" { #expect(!checks.contains { $0.check == "renewal" }, "\(checks)") }
        }
    }

    @Test func `the rule's place is named where the rule is at fault, and not for a setting`() async throws {
        try await World.with { world in
            func edits(_ extra: [String: String] = [:]) async throws -> [String] {
                let failure = try #require(try await Self.doctor(world, extra).checks.first { $0.level == "fail" })
                #expect(failure.check == "authority" && !failure.remedies.isEmpty, "\(failure)")
                return failure.remedies.filter { $0.hasPrefix("edit ") }
            }
            func git(_ key: String, _ value: String) -> [String: String] {
                ["GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": value]
            }
            try Self.configure(world, "/contoso.example")
            let settings = [
                ["https_proxy": "ftp://x"], ["HTTPS_PROXY": "ftp://x"], ["ALL_PROXY": "http://x:99999"],
                ["SSL_CERT_FILE": "/nowhere.pem"], git("http.proxy", "ftp://x"), git("http.sslCAInfo", "/nowhere.pem"),
                git("http.sslCert", "/nowhere.pem"),
            ]
            for setting in settings { #expect(try await edits(setting) == [], "\(setting)") }
            try Self.configure(world, "/contoso.example", trusting: "/nowhere.pem")
            #expect(try await edits() == [])
            for authority in ["/contoso.example", "/nowhere.example"] {
                try Self.configure(world, authority, client: "22222222-2222-2222-2222-222222222222")
                let told = try await edits()
                #expect(told.count == 1 && told.first?.hasSuffix("config.toml:3") == true, "\(told)")
            }
        }
    }

    // MARK: Whole

    @Test func `what works is told, and each renewal is stored`() async throws {
        try await World.with { world in
            try Self.configure(world, "/contoso.example")
            try await world.signIn(Self.alice, path: "contoso/hello.git")
            // If the token from a renewal is lost, the next renewal fails.
            try await world.sandbox.set(#"{"single_use_refresh_tokens": 1}"#)
            try await world.sandbox.clearLog()
            for _ in 0..<3 {
                let (checks, status) = try await Self.doctor(world)
                #expect(status == 0 && checks.allSatisfy { $0.level == "pass" }, "\(checks)")
                #expect(checks.map(\.check) == ["authority", "clock", "renewal"], "\(checks)")
                #expect(checks.first?.text.hasSuffix("and knows the client ID \(world.sandbox.clientID)") == true)
                #expect(checks.last?.text.hasPrefix("\(Self.alice) was renewed at") == true, "\(checks)")
            }
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.renewals.count == 3 && requests.signIns.isEmpty, "\(requests)")
            // The previous access token is still valid, and there is a way to the next.
            #expect(try await world.get("contoso/hello.git").value("username") == Self.alice)
            let claims = "claims={\"access_token\":{\"nbf\":null}}\n"
            #expect(try await world.get("contoso/hello.git", lines: claims).status == 0)
        }
    }

    @Test func `renewals beside others lose no refresh token`() async throws {
        try await World.with { world in
            try Self.configure(world, "/contoso.example")
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            try await world.signIn(Self.alice, path: "contoso/hello.git")
            try await world.sandbox.set(#"{"access_token_lifetime": 3600, "single_use_refresh_tokens": 1}"#)
            let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        number % 2 == 0
                            ? try await Self.doctor(world).status : try await world.get("contoso/hello.git").status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 0 }, "\(statuses)")
            #expect(try await Self.doctor(world).status == 0)
        }
    }

    @Test func `who has yet to sign in is a warning, and nobody is asked`() async throws {
        try await World.with { world in
            try Self.configure(world, "/contoso.example")
            let (checks, status) = try await Self.doctor(world, world.browser(as: Self.alice))
            let renewal = try #require(checks.last)
            #expect(status == 0 && renewal.check == "renewal" && renewal.level == "warn", "\(checks)")
            #expect(renewal.remedies == ["sign in: lanyard login \(world.sandbox.resource)/contoso"], "\(renewal)")
            #expect(try await world.sandbox.authorityRequests().signIns.isEmpty)
        }
    }

    @Test func `a token that nothing can follow is a warning once the refresh token is gone`() async throws {
        try await World.with { world in
            try Self.configure(world, "/contoso.example")
            try await world.signIn(Self.alice, path: "contoso/hello.git")
            try await world.sandbox.revoke()
            #expect(try await Self.doctor(world).status == 1)
            let (checks, status) = try await Self.doctor(world)
            let renewal = try #require(checks.last)
            #expect(status == 0 && renewal.level == "warn", "\(checks)")
            #expect(renewal.text.hasSuffix("minutes, and there is no refresh token"), "\(renewal)")
        }
    }

    @Test func `each authority is asked once`() async throws {
        try await World.with { world in
            try Self.configure(world, "/contoso.example")
            try world.configure(rule: "https://git.contoso.example", at: "contoso.example")
            try world.configure(rule: "https://*.contoso.example", at: "fabrikam.example")
            let (checks, _) = try await Self.doctor(world)
            #expect(checks.filter { $0.check == "authority" }.count == 2, "\(checks)")
            let asked = try await world.sandbox.authorityRequests().filter { $0.path.hasSuffix("configuration") }
            #expect(asked.count == 2, "\(asked)")
        }
    }

    @Test func `this machine's platform is asked if an identity is the machine's`() async throws {
        try await World.with { world in
            try """
            [[identity]]
            name = "deployment"
            managed = "system"

            [[rule]]
            url = "\(world.sandbox.resource)/contoso"
            identity = "deployment"
            scopes = ["api://sandbox-git/.default"]

            """.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let absent = try await Self.doctor(world, ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:1"])
            let finding = try #require(absent.checks.first)
            #expect(absent.status == 1 && finding.check == "authority" && finding.level == "fail", "\(absent)")
            #expect(!absent.checks.contains { $0.check == "renewal" }, "\(absent)")
            #expect(finding.text.hasPrefix("the platform that this machine runs on: "), "\(finding)")
            #expect(finding.text.contains("no managed identity") && !finding.remedies.isEmpty, "\(finding)")
            try await world.withMachineIdentity { variables in
                let present = try await Self.doctor(world, variables)
                #expect(present.status == 0, "\(present)")
                let told = present.checks.filter { $0.check == "authority" }.map(\.text)
                #expect(told == ["the platform that this machine runs on answers"], "\(present)")
            }
        }
    }

    @Test func `the proxy is told that is used, if one is`() async throws {
        try await World.with { world in
            try Self.configure(world, "/contoso.example")
            try await PlainServer.tunnelling { port in
                var proxy = ["https_proxy": "http://user:geheim@127.0.0.1:\(port)"]
                let through = try await Self.doctor(world, proxy).checks
                let way = "answers through the proxy http://127.0.0.1:\(port), and knows"
                #expect(through.first?.text.contains(way) == true, "\(through)")
                proxy["no_proxy"] = "localhost"
                let direct = try await Self.doctor(world, proxy).checks
                #expect(direct.first?.text.contains(" answers, and knows") == true, "\(direct)")
            }
            for (variable, scheme) in [("ALL_PROXY", "socks5"), ("all_proxy", "socks5h"), ("https_proxy", "socks5h")] {
                try await PlainServer.socks { port in
                    let through = try await Self.doctor(world, [variable: "\(scheme)://127.0.0.1:\(port)"]).checks
                    let way = "answers through the proxy \(scheme)://127.0.0.1:\(port), and knows"
                    #expect(through.first?.text.contains(way) == true, "\(through)")
                }
            }
        }
    }

    private static let stranger = """
        while read -r line; do [ -n "$line" ] || break; case $line in operation=*) operation=${line#*=} ;; esac; done
        [ "$operation" = probe ] && [ -e "$HOME/hangs" ] && exec sleep 600
        printf 'event=error\\ncode=unsupported\\nmessage=not known\\n\\n'
        """

    @Test func `a plugin that knows no probe is no problem, and one that hangs is told after a while`() async throws {
        try await World.with { world in
            let plugins = try world.install(
                plugin: "stranger", script: Self.stranger,
                manifest: "[[authority]]\nhosts = [\"id.stranger.example\"]\npath = \"/{realm}\"\n")
            try Self.configure(world, "https://id.stranger.example/r")
            let polite = try await Self.doctor(world, plugins)
            let authority = try #require(polite.checks.first)
            #expect(authority.level == "pass" && authority.text.contains("the plugin stranger can't check it"))
            #expect(polite.status == 0 && polite.checks.contains { $0.check == "renewal" }, "\(polite)")
            try Data().write(to: URL(filePath: world.folder + "/home/hangs"))
            let start = ContinuousClock.now
            let hanging = try await Self.doctor(world, plugins).checks
            #expect(hanging.first?.text.contains("did not answer within 20 seconds") == true, "\(hanging)")
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test func `a report names nobody, whatever the authority says`() async throws {
        try await World.with { world in
            try Self.configure(world, "https://login.fabrikam.invalid/contoso.example")
            try world.configure(rule: "https://git.fabrikam.invalid/team", at: "contoso.example")
            try world.configure(rule: "https://alice.fabrikam.invalid", at: "nowhere-else.example")
            let signIn = try await world.lanyard(
                ["login", "https://git.fabrikam.invalid/team", "--account", Self.alice], world.browser(as: Self.alice))
            #expect(signIn.status == 0, "\(signIn)")
            let proxy = ["HTTPS_PROXY": "http://alice:geheim@proxy.fabrikam.invalid:8080", "no_proxy": "localhost"]
            let ended = try await world.lanyard(["doctor", "--online", "--report"], proxy)
            for word in ["alice", "contoso", "fabrikam", "nowhere-else", "geheim"] {
                #expect(!ended.output.lowercased().contains(word), "\(word): \(ended)")
            }
            #expect(
                ended.output.contains("AADSTS90002") && ended.output.contains("the proxy HOST:8080"))
            #expect(ended.output.contains("an account was renewed"), "\(ended)")
        }
    }

    @Test func `with a wrong configuration nobody is asked`() async throws {
        try await World.with { world in
            try "flow = 3\n".write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let (checks, status) = try await Self.doctor(world)
            #expect(status == 1 && checks.first?.text.contains("the configuration is wrong") == true, "\(checks)")
        }
    }
}
