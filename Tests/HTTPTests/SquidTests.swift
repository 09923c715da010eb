import AuthorityFixture
import Foundation
import HTTPProbe
import TestSupport
import Testing

/// Requests through squid.
@Suite(.enabled(if: Squid.isInstalled, "squid is not installed"))
struct SquidTests {
    /// What a proxy asks for.
    enum Method: String, CaseIterable {
        case basic = "Basic"
        case digest = "Digest"
        case ntlm = "NTLM"

        /// What makes squid ask for it; both know alice with the password `p:s@c %r/t`.
        var squid: String {
            switch self {
            case .basic:
                "auth_param basic program /usr/lib/squid/basic_ncsa_auth FOLDER/basic\nauth_param basic children 1"
            case .digest:
                """
                auth_param digest program /usr/lib/squid/digest_file_auth -c FOLDER/digest
                auth_param digest children 1
                auth_param digest realm lanyard
                """
            // It takes any password.
            case .ntlm: "auth_param ntlm program /usr/lib/squid/ntlm_fake_auth\nauth_param ntlm children 1"
            }
        }
    }

    private static let right = "alice:p%3As%40c%20%25r%2Ft"
    private static let wrong = "alice:wrong"
    private static let needsPassword = "proxyWantsPassword"

    private static func settings(_ methods: [Method]) -> String {
        (methods.map(\.squid) + [Squid.closed]).joined(separator: "\n")
    }

    private static func writePasswords(in folder: ScratchDirectory) throws {
        _ = try folder.write("alice:$apr1$abcdefgh$/6i9Ofh88zZC4ZgzWKRTx1\n", to: "basic")
        _ = try folder.write("alice:lanyard:4d9817ed0ef9d5e0be5c0ef48002d866\n", to: "digest")
    }

    /// A request with a secret in each place.
    private static func question(_ server: TLSServer) -> Question {
        var question = Question("https://localhost:\(server.port)/secret-path?secret-query", caFiles: [server.caFile])
        question.method = "POST"
        question.headers = ["authorization", "Bearer secret-header", "content-type", "text/plain"]
        question.body = "secret-body"
        return question
    }

    /// Whether the server got all of the request, and the proxy nothing of it.
    private static func checkSecrets(_ server: TLSServer, _ log: [Squid.Entry]) throws {
        let request = try #require(server.requests.only)
        for text in ["secret-path", "secret-query", "Bearer secret-header", "secret-body"] {
            #expect(request.contains(text))
        }
        #expect(!request.lowercased().contains("proxy-"))
        #expect(!log.isEmpty)
        for entry in log {
            #expect(entry.method == "CONNECT" && entry.target == "localhost:\(server.port)")
            #expect(
                !entry.head.contains("secret") && !entry.head.lowercased().contains("\nauthorization"), "\(entry.head)")
            #expect(entry.head.contains("User-Agent: ") == false || entry.head.contains("probe"))
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `without a password only the tunnel is asked for`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try await TLSServer.run(.host("localhost")) { server in
                let log = try await Squid.with(in: folder.path) { squid in
                    let reply = try await build.ask(Self.question(server), ["https_proxy": squid.url()])
                    #expect(reply.status == 404 && reply.reason == nil, "\(reply)")
                }
                try Self.checkSecrets(server, log)
                #expect(log.only?.head.contains("Proxy-Authorization") == false)
            }
        }
    }

    @Test(arguments: Libcurl.allCases, Method.allCases)
    func `what a proxy asks for is what it gets`(_ build: Libcurl, _ method: Method) async throws {
        try await ScratchDirectory.with { folder in
            try Self.writePasswords(in: folder)
            try await TLSServer.run(.host("localhost")) { server in
                let log = try await Squid.with(Self.settings([method]), in: folder.path) { squid in
                    let reply = try await build.ask(Self.question(server), ["https_proxy": squid.url(Self.right)])
                    #expect(reply.status == 404, "\(reply)")
                }
                try Self.checkSecrets(server, log)
                let last = try #require(log.last)
                // squid's NTLM for tests adds to the name.
                #expect(last.user.contains("alice") && last.status == "200", "\(last)")
                #expect(last.head.contains("Proxy-Authorization: \(method.rawValue) "), "\(last.head)")
                // Which way it is isn't known at first, and a password isn't sent on suspicion.
                #expect(log.first?.head.contains("Proxy-Authorization: ") == false)
            }
        }
    }

    @Test(arguments: Libcurl.allCases, [Method.basic, .digest])
    func `a wrong password and none are called so, and nothing reaches the server`(
        _ build: Libcurl, _ method: Method
    ) async throws {
        try await ScratchDirectory.with { folder in
            try Self.writePasswords(in: folder)
            try await TLSServer.run(.host("localhost")) { server in
                let log = try await Squid.with(Self.settings([method]), in: folder.path) { squid in
                    for user in [Self.wrong, nil, "nobody:\(Self.wrong)"] {
                        let reply = try await build.ask(Self.question(server), ["https_proxy": squid.url(user)])
                        #expect(
                            reply.reason == Self.needsPassword && reply.isOfProxy && !reply.mayHaveArrived, "\(reply)")
                        var question = Self.question(server)
                        question.peer = .authority
                        let shown = try await build.ask(question, ["https_proxy": squid.url(user)])
                        #expect(
                            shown.message?.hasPrefix("the proxy localhost:\(squid.port) asks for a user name") == true,
                            "\(shown)")
                        #expect(shown.message?.contains("wrong") == false && shown.hint?.contains("wrong") == false)
                    }
                }
                #expect(server.requests.isEmpty)
                #expect(!log.isEmpty && log.allSatisfy { $0.status == "407" && !$0.head.contains("secret") })
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `git's http.proxyAuthMethod restricts what is offered`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try Self.writePasswords(in: folder)
            try await TLSServer.run(.host("localhost")) { server in
                for (offered, wanted, used) in [
                    ([Method.basic, .digest], "digest", "Digest"), ([.digest, .basic], "basic", "Basic"),
                    ([.basic], "digest", nil), ([.digest], "basic", nil), ([.basic], "negotiate", nil),
                ] as [([Method], String, String?)] {
                    let log = try await Squid.with(Self.settings(offered), in: folder.path) { squid in
                        var question = Self.question(server)
                        question.proxyAuthentication = wanted
                        let reply = try await build.ask(question, ["https_proxy": squid.url(Self.right)])
                        #expect(reply.status == (used == nil ? nil : 404), "\(reply)")
                        #expect(reply.reason == (used == nil ? Self.needsPassword : nil), "\(reply)")
                    }
                    for entry in log where entry.head.contains("Proxy-Authorization") {
                        let name = wanted.capitalized
                        #expect(entry.head.contains("Proxy-Authorization: \(name) "), "\(entry.head)")
                    }
                    #expect((log.last?.status == "200") == (used != nil))
                }
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `a refusal and a host that isn't there are told with the proxy's status`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try await Squid.with("http_access deny all", in: folder.path) { squid in
                let reply = try await build.ask(Question("https://localhost:9"), ["https_proxy": squid.url()])
                #expect(reply.reason == "refusedByProxy(Optional(403))" && reply.isOfProxy && !reply.mayHaveArrived)
            }
            try await Squid.with(hosts: ["id.example"], in: folder.path) { squid in
                let reply = try await build.ask(Question("https://id.example:9"), ["https_proxy": squid.url()])
                #expect(reply.reason == "refusedByProxy(Optional(503))" && reply.isOfProxy && !reply.mayHaveArrived)
            }
        }
    }
}

/// Requests through a proxy that wants Kerberos.
@Suite(.enabled(if: Squid.isInstalled && KerberosRealm.isInstalled, "krb5-kdc or squid is not installed"))
struct KerberosTests {
    @Test(arguments: Libcurl.allCases)
    func `who has signed in to the realm passes the proxy as git does`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try await KerberosRealm.with(in: folder.path) { realm in
                try await TLSServer.run(.host("localhost")) { server in
                    let pem = try String(contentsOfFile: server.caFile, encoding: .utf8)
                    let bundle = try folder.write(pem, to: "ca.pem")
                    // A user of no name stands for the one who has signed in, to curl and git.
                    let ways: [(user: String?, setting: String?, passes: Bool)] = [
                        (":", nil, true), (":", "negotiate", true), (nil, "negotiate", false), (nil, nil, false),
                        (":", "basic", false),
                    ]
                    let settings = "\(realm.squid)\n\(Squid.closed)"
                    let log = try await Squid.with(settings, environment: realm.service, in: folder.path) { squid in
                        for way in ways {
                            var question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                            question.proxyAuthentication = way.setting
                            let variables = realm.user.merging(["https_proxy": squid.url(way.user)]) { $1 }
                            let reply = try await build.ask(question, variables)
                            #expect(reply.status == (way.passes ? 404 : nil), "\(way) \(reply)")
                            #expect(reply.reason == (way.passes ? nil : "proxyWantsPassword"), "\(way) \(reply)")
                            let git = try await run(
                                "git",
                                (way.setting.map { ["-c", "http.proxyAuthMethod=\($0)"] } ?? []) + [
                                    "-c", "http.sslCAInfo=\(bundle)", "ls-remote", question.url,
                                ], environment: Libcurl.bare.merging(variables) { $1 })
                            #expect(git.errors.contains("not found") == way.passes, "\(way) \(git)")
                        }
                        var question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                        question.proxyAuthentication = "negotiate"
                        let stranger = realm.stranger.merging(["https_proxy": squid.url(":")]) { $1 }
                        let reply = try await build.ask(question, stranger)
                        #expect(reply.reason == "proxyWantsPassword" && reply.isOfProxy, "\(reply)")
                    }
                    let passed = log.filter { $0.status == "200" }
                    #expect(passed.count >= 2 * ways.count { $0.passes })
                    #expect(passed.allSatisfy { $0.user == "alice@LANYARD.TEST" })
                    #expect(server.requests.count == passed.count)
                }
            }
        }
    }
}

/// Requests through a proxy that is spoken to by TLS.
@Suite(.enabled(if: Squid.isInstalled && Stunnel.isInstalled, "stunnel or squid is not installed"))
struct HTTPSProxyTests {
    @Test(arguments: Libcurl.allCases)
    func `its certificate is verified before anything is sent to it`(_ build: Libcurl) async throws {
        var expired = TLSServer.Identity.host("localhost")
        expired.notValidBefore = Date(timeIntervalSince1970: 1_000_000_000)
        expired.notValidAfter = Date(timeIntervalSince1970: 1_100_000_000)
        let cases: [(TLSServer.Identity, isTrusted: Bool, problem: String?)] = [
            (.host("localhost"), true, nil), (.host("localhost"), false, "unknownIssuer"),
            (.host("other.example"), true, "otherName"), (expired, true, "expired"),
        ]
        try await ScratchDirectory.with { folder in
            for (identity, isTrusted, problem) in cases {
                try await TLSServer.run(.host("localhost")) { server in
                    let log = try await Squid.with(in: folder.path) { squid in
                        try await Stunnel.with(before: squid, identity, in: folder.path) { port, caFile in
                            var question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                            if isTrusted { question.caFiles.append(caFile) }
                            for peer in [Question.Peer.server, .authority] {
                                question.peer = peer
                                let variables = ["https_proxy": "https://alice:secret@localhost:\(port)"]
                                let reply = try await build.ask(question, variables)
                                #expect(reply.status == (problem == nil ? 404 : nil), "\(reply)")
                                guard let problem else { continue }
                                if peer == .server {
                                    #expect(reply.reason?.hasPrefix("certificate(\(problem)") == true, "\(reply)")
                                    #expect(reply.isOfProxy && !reply.mayHaveArrived, "\(problem) \(reply)")
                                } else {
                                    let words = [
                                        "unknownIssuer": "is not trusted: its issuer is not known here",
                                        "otherName": "is for another name", "expired": "expired",
                                    ]
                                    #expect(
                                        reply.message
                                            == "the certificate of the proxy https://localhost:\(port) \(words[problem] ?? "")",
                                        "\(problem) \(reply)")
                                }
                            }
                        }
                    }
                    #expect(log.count { $0.status == "200" } == (problem == nil ? 2 : 0))
                    #expect(problem == nil || log.isEmpty)
                    #expect(server.requests.count == (problem == nil ? 2 : 0))
                }
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `a proxy without TLS is called so`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            _ = try await Squid.with(in: folder.path) { squid in
                var question = Question("https://id.example/")
                let variables = ["https_proxy": "https://alice:secret@localhost:\(squid.port)"]
                let reply = try await build.ask(question, variables)
                #expect(reply.reason == "withoutTLS" && reply.isOfProxy && !reply.mayHaveArrived, "\(reply)")
                question.peer = .authority
                let shown = try await build.ask(question, variables)
                #expect(
                    shown.message == "the proxy https://localhost:\(squid.port) does not speak TLS at this port",
                    "\(shown)")
                #expect(shown.hint == "set https_proxy to http://HOST:PORT")
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `behind it the host's own certificate is the host's`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try await TLSServer.run(.host("other.example")) { server in
                try await Squid.with(in: folder.path) { squid in
                    try await Stunnel.with(before: squid, .host("localhost"), in: folder.path) { port, caFile in
                        for isTrusted in [true, false] {
                            let question = Question(
                                "https://localhost:\(server.port)/",
                                caFiles: [caFile] + (isTrusted ? [server.caFile] : []))
                            let reply = try await build.ask(question, ["https_proxy": "https://localhost:\(port)"])
                            let isNamed = reply.reason == #"certificate(otherName(["other.example"]))"#
                            // libcurl itself doesn't say more of OpenSSL's TLS within TLS.
                            let isSilent = build == .openSSL && !isTrusted && reply.reason == "closed"
                            #expect((isNamed || isSilent) && !reply.isOfProxy && !reply.mayHaveArrived, "\(reply)")
                        }
                    }
                }
                #expect(server.requests.isEmpty)
            }
        }
    }
}

extension Array {
    /// The only element; nil if there are others, or none.
    var only: Element? { count == 1 ? self[0] : nil }
}
