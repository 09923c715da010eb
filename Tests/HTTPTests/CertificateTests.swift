import AuthorityFixture
import Foundation
import HTTPProbe
import SwiftASN1
import TestSupport
import Testing
import X509

/// The certificates that a server may have.
struct CertificateTests {
    private static let loopback = address([127, 0, 0, 1])

    private static func address(_ bytes: [UInt8]) -> GeneralName {
        .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
    }

    /// A name of a certificate, a host, and whether the one stands for the other.
    static let names: [(String, String, Bool)] = [
        ("login.example", "login.example", true), ("Login.Example", "login.example", true),
        ("login.example", "LOGIN.example", true), ("login.example", "a.login.example", false),
        ("*.login.example", "a.login.example", true), ("*.LOGIN.example", "a.login.example", true),
        ("*.login.example", "login.example", false), ("*.login.example", "b.a.login.example", false),
        ("*", "localhost", false), ("*.example", "login.example", false),
        ("l*.login.example", "la.login.example", false),
        ("*a.login.example", "la.login.example", false), ("a.*.example", "a.login.example", false),
        ("*.*.example", "a.login.example", false), ("login.*", "login.example", false),
        ("l*.example", "login.example", false),
        ("login.example\0.evil.example", "login.example", false), ("login.exampl", "login.example", false),
        ("xlogin.example", "login.example", false), (".login.example", "login.example", false),
        (".login.example", "a.login.example", false), ("login.example:443", "login.example", false),
        ("https://login.example", "login.example", false), ("evil.example", "login.example", false),
    ]

    @Test(.enabled(if: Squid.isInstalled, "squid is not installed"), arguments: Libcurl.allCases)
    func `names are compared as RFC 9525 has it, and a wildcard has two labels behind it`(_ build: Libcurl) async throws
    {
        try await ScratchDirectory.with { folder in
            let hosts = Array(Set(Self.names.map { $0.1.lowercased() }))
            try await Squid.with(hosts: hosts, in: folder.path) { squid in
                for (name, host, isNamed) in Self.names {
                    try await TLSServer.run(.host(name)) { server in
                        let question = Question("https://\(host):\(server.port)/", caFiles: [server.caFile])
                        let reply = try await build.ask(question, ["https_proxy": squid.url()])
                        #expect(reply.status == (isNamed ? 404 : nil), "\(name) for \(host): \(reply)")
                        #expect(isNamed || reply.refuses("otherName(["), "\(name) for \(host): \(reply)")
                        #expect(isNamed || !reply.mayHaveArrived)
                        #expect(server.requests.count == (isNamed ? 1 : 0), "\(name) for \(host)")
                    }
                }
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `an address is named by an address only, byte for byte`(_ build: Libcurl) async throws {
        let cases: [([GeneralName], String, Bool)] = [
            ([Self.loopback], "127.0.0.1", true), ([Self.address([127, 0, 0, 2])], "127.0.0.1", false),
            ([.dnsName("127.0.0.1")], "127.0.0.1", false), ([.dnsName("*.0.0.1")], "127.0.0.1", false),
            ([.dnsName("127.0.0.1"), Self.address([127, 0, 0, 2])], "127.0.0.1", false),
            ([Self.address([127, 0, 0])], "127.0.0.1", false),
            ([Self.address([UInt8](repeating: 0, count: 15) + [1])], "[::1]", true),
            ([Self.address([0, 0, 0, 1])], "[::1]", false), ([.dnsName("::1")], "[::1]", false),
            ([.dnsName("[::1]")], "[::1]", false), ([Self.address([10, 0, 0, 1])], "10.0.0.1", true),
            ([Self.address([10, 0, 0, 1])], "10.0.0.2", false),
            ([Self.loopback], "localhost", false), ([.dnsName("evil.example"), Self.loopback], "localhost", false),
            ([.dnsName("localhost"), Self.loopback], "127.0.0.1", true),
            ([.dnsName("localhost"), Self.loopback], "localhost", true),
            ([.uniformResourceIdentifier("https://localhost/")], "localhost", false),
            ([.rfc822Name("localhost")], "localhost", false),
        ]
        for (names, host, isNamed) in cases {
            var identity = TLSServer.Identity(names)
            // It stands for nothing, whatever other names there are.
            identity.commonName = host.trimmingCharacters(in: ["[", "]"])
            try await TLSServer.run(identity) { server in
                // Whatever is asked for, this proxy connects to the server.
                try await RawServer.run { client in
                    client.receiveHead()
                    client.send("HTTP/1.1 200 OK\r\n\r\n")
                    client.relay(to: server.port)
                } _: { proxy in
                    let question = Question("https://\(host):\(server.port)/", caFiles: [server.caFile])
                    let reply = try await build.ask(question, ["https_proxy": "http://127.0.0.1:\(proxy.port)"])
                    #expect(proxy.text.hasPrefix("CONNECT \(host):\(server.port) "))
                    #expect(reply.status == (isNamed ? 404 : nil), "\(names) for \(host): \(reply)")
                    #expect(isNamed || reply.refuses("otherName(["), "\(names) for \(host): \(reply)")
                    #expect(server.requests.count == (isNamed ? 1 : 0), "\(names) for \(host)")
                }
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `a common name alone names nobody`(_ build: Libcurl) async throws {
        for host in ["localhost", "127.0.0.1"] {
            var identity = TLSServer.Identity([])
            identity.commonName = host
            try await TLSServer.run(identity) { server in
                // This server is really one that curl takes.
                let url = "https://\(host):\(server.port)/"
                let curl = try await run(
                    "curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", server.caFile, url],
                    environment: Libcurl.bare)
                #expect(curl.output == "404", "\(curl)")
                var question = Question(url, caFiles: [server.caFile])
                let reply = try await build.ask(question)
                #expect(reply.refuses("otherName([])") && !reply.mayHaveArrived, "\(reply)")
                question.peer = .authority
                let shown = try await build.ask(question)
                #expect(
                    shown.message?.contains("the certificate of \(host):\(server.port) is for another name") == true)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `why a certificate isn't accepted is told with what it says itself`(_ build: Libcurl) async throws {
        var expired = TLSServer.Identity.host("localhost")
        expired.notValidBefore = Date(timeIntervalSince1970: 1_000_000_000)
        expired.notValidAfter = Date(timeIntervalSince1970: 1_100_000_000)
        var early = TLSServer.Identity.host("localhost")
        early.notValidBefore = Date(timeIntervalSince1970: 4_000_000_000)
        early.notValidAfter = Date(timeIntervalSince1970: 4_100_000_000)
        let cases: [(TLSServer.Identity, isTrusted: Bool, reason: String, message: String)] = [
            (expired, true, "expired(Optional(1100000000))", "expired on 2004-11-09"),
            (early, true, "notYetValid(Optional(4000000000))", "is not valid before 2096-10-02"),
            (.host("evil.example"), true, #"otherName(["evil.example"])"#, "is for another name: evil.example"),
            (.host("localhost"), false, "unknownIssuer", "is not trusted: its issuer is not known here"),
            (
                .init([.dnsName("a.example"), Self.loopback]), true, #"otherName(["a.example", "127.0.0.1"])"#,
                "a.example, 127.0.0.1"
            ),
        ]
        for (identity, isTrusted, reason, message) in cases {
            try await TLSServer.run(identity) { server in
                var question = Question("https://localhost:\(server.port)/", caFiles: isTrusted ? [server.caFile] : [])
                let reply = try await build.ask(question)
                #expect(
                    reply.reason == "certificate(\(reason))" && !reply.mayHaveArrived && !reply.isOfProxy, "\(reply)")
                question.peer = .authority
                let shown = try await build.ask(question)
                #expect(shown.message?.contains(message) == true && shown.hint != nil, "\(shown)")
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `an issuer vouches if it is known, in the system's bundle too`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            let (issuer, other) = (try await Issuer(in: folder, "issuer"), try await Issuer(in: folder, "other"))
            let pems = try [other, issuer].map { try String(contentsOfFile: $0.caFile, encoding: .utf8) }
            let bundle = try folder.write(pems.joined(), to: "bundle.pem")
            try await issuer.serving { url in
                for (caFiles, bundle, isTrusted) in [
                    ([issuer.caFile], nil, true), ([other.caFile, issuer.caFile], nil, true),
                    ([other.caFile], bundle, true),
                    ([], bundle, true), ([other.caFile], nil, false), ([], nil, false),
                    ([issuer.caFile], other.caFile, true), ([], other.caFile, false),
                ] as [([String], String?, Bool)] {
                    var question = Question(url, caFiles: caFiles)
                    question.bundle = bundle
                    let reply = try await build.ask(question)
                    #expect(reply.status == (isTrusted ? 200 : nil), "\(caFiles) \(bundle ?? "") \(reply)")
                    #expect(
                        isTrusted || reply.reason == "certificate(unknownIssuer)" && !reply.mayHaveArrived, "\(reply)")
                }
            }
        }
    }

    /// git's settings and variables, in which FOLDER stands for what has the files.
    static let ways: [(lines: String, variables: [String: String])] = [
        ("sslCAInfo = FOLDER/issuer.pem\nsslCert = FOLDER/client-leaf.pem\nsslKey = FOLDER/client-leaf.key", [:]),
        ("sslCAInfo = FOLDER/issuer.pem\nsslCert = FOLDER/both.pem", [:]),
        ("sslCAPath = FOLDER/hashed\nsslCert = FOLDER/both.pem", [:]),
        ("sslCAInfo = FOLDER/issuer.pem", [:]), ("sslCert = FOLDER/both.pem", [:]),
        ("sslCAInfo = FOLDER/issuer.pem\nsslCert = FOLDER/nothing.pem", [:]),
        ("sslCAInfo = FOLDER/issuer.pem\nsslCert = FOLDER/other-leaf.pem\nsslKey = FOLDER/other-leaf.key", [:]),
        (
            "sslCAInfo = FOLDER/other.pem\nsslCert = FOLDER/other-leaf.pem",
            [
                "GIT_SSL_CAINFO": "FOLDER/issuer.pem", "GIT_SSL_CERT": "FOLDER/client-leaf.pem",
                "GIT_SSL_KEY": "FOLDER/client-leaf.key",
            ]
        ),
        ("sslCert = FOLDER/both.pem", ["GIT_SSL_CAPATH": "FOLDER/hashed"]),
    ]

    @Test(arguments: Libcurl.allCases, ways)
    func `git's certificates and keys count as in git`(
        _ build: Libcurl, _ way: (lines: String, variables: [String: String])
    ) async throws {
        try await ScratchDirectory.with { folder in
            let issuer = try await Issuer(in: folder, "issuer")
            let clients = try await Issuer(in: folder, "client")
            _ = try await Issuer(in: folder, "other")
            let both = try ["client-leaf.pem", "client-leaf.key"].map {
                try String(contentsOfFile: "\(folder.path)/\($0)", encoding: .utf8)
            }
            _ = try folder.write(both.joined(), to: "both.pem")
            let hashed = "\(folder.path)/hashed"
            try FileManager.default.createDirectory(atPath: hashed, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: issuer.caFile, toPath: "\(hashed)/issuer.pem")
            let rehashed = try await run("openssl", ["rehash", hashed], environment: Libcurl.bare)
            #expect(rehashed.status == 0)
            func placed(_ text: String) -> String { text.replacing("FOLDER", with: folder.path) }
            var variables = way.variables.mapValues(placed)
            variables["GIT_CONFIG_GLOBAL"] = try folder.write("[http]\n\(placed(way.lines))\n", to: "settings")
            try await issuer.serving(clientsOf: clients) { url in
                let git = try await run(
                    "git", ["ls-remote", url], environment: Libcurl.bare.merging(variables) { $1 }, folder: folder.path)
                // The server shows a page, which is no repository.
                let isReached = git.errors.contains("not valid: is this a git repository?")
                #expect(isReached || git.errors.contains("unable to access"), "\(git)")
                var question = Question(url)
                question.asksGit = true
                let reply = try await build.ask(question, variables)
                #expect((reply.status == 200) == isReached, "\(reply) \(git)")
                #expect(way.lines.contains("nothing.pem") == (reply.reason == "ownCertificate"), "\(reply)")
            }
        }
    }

    @Test(arguments: Libcurl.allCases, TLSServer.Security.allCases)
    func `old TLS sees no byte of HTTP`(_ build: Libcurl, _ security: TLSServer.Security) async throws {
        // GnuTLS makes CBC safe by encrypting first, or with a countermeasure, and libcurl can't restrict it.
        let isSafe =
            switch security {
            case .tls10, .tls11: false
            case .tls12WithCBC: build == .gnuTLS
            case .tls12, .tls13: true
            }
        var identity = TLSServer.Identity.host("localhost")
        identity.security = security
        try await TLSServer.run(identity) { server in
            var question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
            let reply = try await build.ask(question)
            #expect(reply.status == (isSafe ? 404 : nil) && reply.reason == (isSafe ? nil : "outdatedTLS"), "\(reply)")
            #expect(isSafe || !reply.mayHaveArrived)
            question.needsTLS13 = true
            let strict = try await build.ask(question)
            #expect(strict.status == (security == .tls13 ? 404 : nil), "\(strict)")
            #expect(strict.reason == (security == .tls13 ? nil : "outdatedTLS"), "\(strict)")
            #expect(server.requests.count == (isSafe ? 1 : 0) + (security == .tls13 ? 1 : 0))
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `what is no TLS is called so`(_ build: Libcurl) async throws {
        for text in ["HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", "220 mail.example ESMTP\r\n"] {
            try await RawServer.run { client in
                client.receive()
                client.send(text)
                client.wait()
            } _: { server in
                let reply = try await build.ask(Question("https://localhost:\(server.port)/"))
                #expect(reply.reason == "withoutTLS" && !reply.mayHaveArrived, "\(text) \(reply)")
            }
        }
    }
}
