import Addresses
import Foundation
import HTTPProbe
import TestSupport
import Testing

/// The proxy that variables and git's settings name for a host, compared with the one that curl and git connect to.
struct ProxyChoiceTests {
    /// Variables, and a host.
    struct Row: CustomTestStringConvertible {
        let variables: [String: String]
        let host: String

        var testDescription: String { "\(variables.map { "\($0.key)=\($0.value)" }.sorted()) \(host)" }

        /// Variables for a proxy, and an exception from it.
        static func except(_ exceptions: String, _ host: String, as name: String = "no_proxy") -> Row {
            Row(variables: ["https_proxy": "http://127.0.0.2:9001", name: exceptions], host: host)
        }

        static func proxy(_ variables: [String: String]) -> Row { Row(variables: variables, host: "id.example") }
    }

    static let variables: [Row] = [
        .proxy([:]),
        .proxy(["https_proxy": "http://127.0.0.2:9001"]), .proxy(["HTTPS_PROXY": "http://127.0.0.3:9001"]),
        .proxy(["https_proxy": "http://127.0.0.2:9001", "HTTPS_PROXY": "http://127.0.0.3:9001"]),
        .proxy(["https_proxy": "", "HTTPS_PROXY": "http://127.0.0.3:9001"]),
        .proxy(["https_proxy": "http://127.0.0.2:9001", "all_proxy": "http://127.0.0.4:9001"]),
        .proxy(["HTTPS_PROXY": "http://127.0.0.3:9001", "all_proxy": "http://127.0.0.4:9001"]),
        .proxy(["all_proxy": "http://127.0.0.4:9001"]), .proxy(["ALL_PROXY": "http://127.0.0.5:9001"]),
        .proxy(["all_proxy": "http://127.0.0.4:9001", "ALL_PROXY": "http://127.0.0.5:9001"]),
        .proxy(["https_proxy": "", "all_proxy": "http://127.0.0.4:9001"]),
        .proxy(["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "", "ALL_PROXY": ""]),
        .proxy(["http_proxy": "http://127.0.0.2:9001", "HTTP_PROXY": "http://127.0.0.3:9001"]),
        .proxy(["Https_Proxy": "http://127.0.0.2:9001"]),
    ]

    static let urls: [Row] =
        [
            "127.0.0.2", "127.0.0.2:9001", "http://127.0.0.2", "http://127.0.0.2:9001", "https://127.0.0.2",
            "https://127.0.0.2:9001", "socks4://127.0.0.2", "socks4a://127.0.0.2", "socks5://127.0.0.2",
            "socks5h://127.0.0.2", "socks://127.0.0.2", "socks5h://127.0.0.2:9001", "HTTP://127.0.0.2:9001",
            "SOCKS5H://127.0.0.2", "http://127.0.0.2:9001/", "http://127.0.0.2:9001/path?query#fragment",
            "http://127.0.0.2/", "http://alice:secret@127.0.0.2:9001", "alice:secret@127.0.0.2:9001",
            "http://alice@127.0.0.2:9001", "http://:@127.0.0.2:9001", "http://alice:p%40@127.0.0.2:9001",
            "http://[::1]:9001", "[::1]:9001", "http://[::1]", "socks5h://[::1]",
            "http://localhost:9001", "ftp://127.0.0.2", "socks6://127.0.0.2", "socks5a://127.0.0.2", "http://",
            "http://:9001", "http://127.0.0.2:65536", "http://127.0.0.2:port",
            "http:127.0.0.2:9001",
            "http://127.0.0.2:", "127.0.0.2:", "http://127.0.0.2::", "http://127.0.0.2:9001:", "127.0.0.2:9001:/",
            " http://127.0.0.2:9001", "http://127.0.0.2:9001 ", "http://alice:%zz@127.0.0.2:9001",
            "socks5h:///tmp/none",
        ].map { .proxy(["https_proxy": $0]) }

    static let exceptions: [Row] =
        [
            ("", "id.example"), ("*", "id.example"), ("*", "127.0.0.9"), ("*", "[::1]"), (" *", "id.example"),
            ("* ", "id.example"), ("*,other.example", "id.example"), ("other.example,*", "id.example"),
            ("*.example", "id.example"), ("id.*", "id.example"), (",", "id.example"), (" ", "id.example"),
            ("id.example", "id.example"), ("ID.Example", "id.example"), ("id.example", "ID.EXAMPLE"),
            ("example", "id.example"), (".example", "id.example"), ("..example", "id.example"),
            (".id.example", "id.example"), ("id.example.", "id.example"), (".id.example.", "id.example"),
            ("id.example..", "id.example"), ("d.example", "id.example"), ("id.exampl", "id.example"),
            ("a.id.example", "id.example"),
            ("id.example", "a.id.example"), (".id.example", "a.id.example"), ("id.example", "aid.example"),
            ("id.example:8443", "id.example"), ("id.example:443", "id.example"),
            ("other.example,id.example", "id.example"), ("other.example, id.example", "id.example"),
            ("other.example ,id.example", "id.example"), ("other.example\tid.example", "id.example"),
            ("other.example id.example", "id.example"), ("other.example,,id.example", "id.example"),
            (" id.example ", "id.example"), ("\tid.example\t", "id.example"),
            ("other.example;id.example", "id.example"),
            ("https://id.example", "id.example"), ("id.example/", "id.example"), (".", "id.example"),
            ("..", "id.example"),
            ("localhost", "localhost"), ("127.0.0.1", "localhost"), ("localhost", "127.0.0.9"),
            ("127.0.0.9", "127.0.0.9"), ("127.0.0.8", "127.0.0.9"), ("127.0.0.", "127.0.0.9"), (".0.0.9", "127.0.0.9"),
            ("0.9", "127.0.0.9"), ("127.0.0.9.", "127.0.0.9"), ("127.0.0.9:8443", "127.0.0.9"),
            ("127.0.0.0/8", "127.1.2.3"), ("127.1.0.0/22", "127.1.3.9"), ("127.1.0.0/22", "127.1.4.9"),
            ("127.1.2.3/32", "127.1.2.3"), ("127.1.2.4/32", "127.1.2.3"), ("127.1.2.3/33", "127.1.2.3"),
            ("127.1.2.3/0", "127.1.2.3"), ("0.0.0.0/0", "127.1.2.3"), ("127.0.0.0/-1", "127.1.2.3"),
            ("127.0.0.0/", "127.1.2.3"), ("127.1.2.3/", "127.1.2.3"), ("127.0.0.0/ 8", "127.1.2.3"),
            ("127.0.0.0/08", "127.1.2.3"), ("127.0.0.0/+8", "127.1.2.3"),
            ("127/8", "127.1.2.3"), ("127.0.0.1/1", "127.1.2.3"),
            ("127.0.0.0/8", "id.example"), ("other.example,127.0.0.0/8", "127.1.2.3"),
            ("::1", "[::1]"), ("::1", "[0:0::1]"), ("::2", "[::1]"),
            ("::/0", "[::1]"), ("::1/129", "[::1]"),
            ("[::1]:8443", "[::1]"), ("fe80::/10", "[::1]"), ("::FFFF", "[::ffff]"), ("::ffff", "[::FFFF]"),
            ("127.0.0.9", "[::ffff:127.0.0.9]"),
        ].map { .except($0, $1) } + [
            .except("id.example", "id.example", as: "NO_PROXY"),
            Row(
                variables: ["https_proxy": "127.0.0.2:9001", "no_proxy": "", "NO_PROXY": "id.example"],
                host: "id.example"),
            Row(
                variables: ["https_proxy": "127.0.0.2:9001", "no_proxy": "other.example", "NO_PROXY": "id.example"],
                host: "id.example"),
            Row(variables: ["all_proxy": "127.0.0.2:9001", "no_proxy": "id.example"], host: "id.example"),
        ]

    /// The first place that curl's or git's account of itself says it connects to; nil if there is none.
    private static func place(in text: String) -> String? {
        guard let line = text.split(separator: "\n").first(where: { $0.contains("Trying ") }),
            let words = line.split(separator: "Trying ").last?.prefix(while: { $0 != " " }),
            let colon = words.lastIndex(of: ":")
        else { return nil }
        let address = words[..<colon].trimmingCharacters(in: ["[", "]"])
        let port = words[colon...].dropFirst().prefix { $0.isNumber }
        return port == "8443" ? "none" : "\(address):\(port)"
    }

    /// Where curl connects to.
    private static func curl(_ row: Row) async throws -> String {
        let found = try await run(
            "curl", ["-sv", "-m", "5", "--resolve", "*:8443:127.0.0.1", "https://\(row.host):8443/"],
            environment: Libcurl.bare.merging(row.variables) { $1 })
        return place(in: found.errors) ?? "error"
    }

    private static func place(_ proxy: ProxyURL?) -> String {
        proxy.map { "\($0.name == "localhost" ? "127.0.0.1" : $0.name):\($0.port)" } ?? "none"
    }

    @Test(arguments: variables + urls + exceptions)
    func `the variables mean what they mean to curl`(_ row: Row) async throws {
        let url = try #require(StrictURL("https://\(row.host):8443/"))
        let ours: String
        do throws(NetworkSettingsError) {
            let settings = try ProxySettings(environment: row.variables)
            ours = Self.place(settings.proxy(for: url.host.withoutAnyPort.text))
        } catch {
            #expect(row.variables[error.source] != nil)
            ours = "error"
        }
        let curl = try await Self.curl(row)
        #expect(ours == curl)
    }

    // curl compares IPv6 addresses as texts, or misreads their masks, until 8.17.
    @Test(arguments: [
        ("0:0:0:0:0:0:0:1", true), ("::1/128", true), ("::/64", true), ("::/8", true), ("[::1]", true),
        ("[::1]/128", true),
        ("::1/0", true), ("::2/128", false), ("fe80::/10", false), ("::1/129", false),
    ])
    func `IPv6 addresses are compared as addresses`(_ exceptions: String, _ isExcepted: Bool) throws {
        let row = Row.except(exceptions, "")
        #expect((try ProxySettings(environment: row.variables).proxy(for: "[::1]") == nil) == isExcepted)
    }

    @Test(arguments: ["http://127.0.0.2:0", "http://alice:%00@127.0.0.2:9001"])
    func `what can't be a proxy is an error, and nobody is asked without it`(_ text: String) {
        let error = #expect(throws: NetworkSettingsError.self) { try ProxySettings(environment: ["https_proxy": text]) }
        #expect(error?.source == "https_proxy")
    }

    /// git's settings, variables, and a path of the URL.
    struct Setting: CustomTestStringConvertible {
        let lines: String
        var variables: [String: String] = [:]
        var path = ""
        /// A remote of the repository, which git is asked for instead of the URL.
        var remote: String?

        init(_ lines: String, _ variables: [String: String] = [:], path: String = "", remote: String? = nil) {
            (self.lines, self.variables, self.path, self.remote) = (lines, variables, path, remote)
        }

        var testDescription: String { "\(lines) \(variables.map { "\($0.key)=\($0.value)" }.sorted()) \(path)" }
    }

    private static let variable = ["https_proxy": "http://127.0.0.2:9001"]
    private static let general = "[http]\nproxy = http://127.0.0.3:9001\n"

    static let settings: [Setting] = [
        .init(""), .init("", variable), .init(general), .init(general, variable),
        .init("[http]\nproxy =\n", variable), .init("[http]\nproxy = \"\"\n", ["all_proxy": "http://127.0.0.2:9001"]),
        .init(general, ["no_proxy": "id.example"]), .init(general, ["NO_PROXY": "example"]),
        .init(general, ["no_proxy": "*"]), .init(general, ["no_proxy": "other.example", "NO_PROXY": "id.example"]),
        .init("[http]\nproxy = 127.0.0.3:9001\n"), .init("[http]\nproxy = 127.0.0.3\n"),
        .init("[http]\nproxy = https://127.0.0.3\n"), .init("[http]\nproxy = socks5h://127.0.0.3\n"),
        .init("[http]\nproxy = socks://127.0.0.3:9001\n"),
        .init("[http]\nproxy = http://alice:secret@127.0.0.3:9001\n"),
        .init("[http]\nproxy = http://127.0.0.3:9001/\n"),
        .init(general + "[http \"https://id.example:8443\"]\nproxy = http://127.0.0.4:9001\n"),
        .init(general + "[http \"https://id.example\"]\nproxy = http://127.0.0.4:9001\n"),
        .init(general + "[http \"https://*.example:8443\"]\nproxy = http://127.0.0.4:9001\n"),
        .init(general + "[http \"https://other.example:8443\"]\nproxy = http://127.0.0.4:9001\n"),
        .init(general + "[http \"http://id.example:8443\"]\nproxy = http://127.0.0.4:9001\n"),
        .init(general + "[http \"https://id.example:8443\"]\nproxy =\n", variable),
        .init(general + "[http \"https://id.example:8443/a\"]\nproxy = http://127.0.0.4:9001\n", path: "a/b"),
        .init(general + "[http \"https://id.example:8443/a\"]\nproxy = http://127.0.0.4:9001\n", path: "ab"),
        .init(
            "[http \"https://id.example:8443/a/b\"]\nproxy = http://127.0.0.5:9001\n"
                + "[http \"https://id.example:8443/a\"]\nproxy = http://127.0.0.4:9001\n", path: "a/b"),
        .init(general + "[remote \"origin\"]\nproxy = http://127.0.0.6:9001\n", variable, remote: "origin"),
        .init(general + "[remote \"origin\"]\nproxy =\n", variable, remote: "origin"),
        .init("[remote \"origin\"]\nproxy = http://127.0.0.6:9001\n", ["no_proxy": "id.example"], remote: "origin"),
    ]

    @Test(arguments: settings)
    func `git's settings mean what they mean to git`(_ setting: Setting) async throws {
        try await ScratchDirectory.with { folder in
            let url = "https://id.example:8443/\(setting.path)"
            let lines = """
                \(setting.lines)
                [http]
                curloptResolve = id.example:8443:127.0.0.1
                [remote "origin"]
                url = \(url)

                """
            let place = "\(folder.path)/checkout"
            let made = try await run("git", ["init", "-q", place], environment: Libcurl.bare)
            #expect(made.status == 0)
            var variables = setting.variables.merging(["GIT_TERMINAL_PROMPT": "0"]) { $1 }
            if setting.remote == nil {
                variables["GIT_CONFIG_GLOBAL"] = try folder.write(lines, to: "settings")
            } else {
                try lines.write(toFile: "\(place)/.git/config", atomically: true, encoding: .utf8)
            }
            let git = try await run(
                "git", ["ls-remote", setting.remote ?? url],
                environment: Libcurl.bare.merging(variables) { $1 }.merging(["GIT_CURL_VERBOSE": "1"]) { $1 },
                folder: place)
            var question = Question(url)
            (question.peer, question.asksGit) = (.nobody, true)
            // git names the repository to what it runs for it.
            let repository = setting.remote == nil ? [:] : ["GIT_DIR": ".git"]
            let reply = try await Libcurl.openSSL.ask(question, variables.merging(repository) { $1 }, in: place)
            let ours = Self.place(reply.proxy.flatMap { ProxyURL($0) })
            #expect(reply.reason == nil)
            #expect(ours == Self.place(in: git.errors), "\(git.errors)")
        }
    }

    static let methods = [nil, "anyauth", "basic", "digest", "ntlm", "bogus", "Digest"] as [String?]

    @Test(arguments: Libcurl.allCases, methods.map { ($0, false) } + methods.map { ($0, true) })
    func `a way to prove oneself to the proxy is used as git uses it`(
        _ build: Libcurl, _ way: (method: String?, isVariable: Bool)
    ) async throws {
        let (method, isVariable) = way
        try await ScratchDirectory.with { folder in
            let offer = """
                HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="r"\r
                Proxy-Authenticate: Digest realm="r", nonce="n", qop="auth"\r\nProxy-Authenticate: NTLM\r
                Content-Length: 0\r\n\r\n
                """
            /// The ways in which somebody proves itself.
            func ways(_ ask: (_ variables: [String: String]) async throws -> Void) async throws -> [Substring] {
                var ways: [Substring] = []
                try await RawServer.run { client in
                    while client.receiveHead().contains("\r\n\r\n"), client.send(offer) {}
                } _: { server in
                    let setting = isVariable ? nil : method.map { "proxyAuthMethod = \($0)\n" }
                    var variables = [
                        "GIT_CONFIG_GLOBAL": try folder.write(
                            "[http]\nproxy = http://alice:secret@127.0.0.1:\(server.port)\n\(setting ?? "")",
                            to: "settings"),
                        "GIT_TERMINAL_PROMPT": "0",
                    ]
                    if isVariable { variables["GIT_HTTP_PROXY_AUTHMETHOD"] = method }
                    try await ask(variables)
                    ways = server.text.split(separator: "Proxy-Authorization: ").dropFirst().map {
                        $0.prefix { $0 != " " }
                    }
                }
                return ways
            }
            let git = try await ways { variables in
                let environment = build.environment.merging(variables) { $1 }
                _ = try await run("git", ["ls-remote", "https://id.example/"], environment: environment)
            }
            let ours = try await ways { variables in
                var question = Question("https://id.example/")
                question.asksGit = true
                let reply = try await build.ask(question, variables)
                #expect(reply.reason == "proxyWantsPassword", "\(reply)")
            }
            // git asks its helpers for another password, and tries again.
            #expect(ours == Array(git.prefix(ours.count)) && !ours.isEmpty, "git: \(git), ours: \(ours)")
        }
    }
}
