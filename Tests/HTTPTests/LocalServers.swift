import AuthorityFixture
import Crypto
import Foundation
import SwiftASN1
import TestSupport
import Testing
import X509

/// Runs a server of Debian's on a free port while the body runs, and ends it; its arguments, and files, are made for a port.
private func serving(
    _ program: String, environment: [String: String] = [:], _ arguments: (Int) throws -> [String],
    isReady: (Int) -> Bool = { (try? TCPPort.isOpen($0)) == true }, _ body: (Int) async throws -> Void
) async throws {
    // Another program may take the port first.
    for _ in 0..<5 {
        // Nobody's connections begin at these.
        let port = Int.random(in: 20_000..<32_000)
        guard try !TCPPort.isOpen(port) else { continue }
        let isServed = try await with(
            program, try arguments(port), environment: Libcurl.bare.merging(environment) { $1 }, endedBy: SIGTERM
        ) {
            for _ in 0..<1_000 {
                if isReady(port) {
                    try await body(port)
                    return true
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            return false
        }.result
        if isServed { return }
    }
    Issue.record("\(program) doesn't serve")
}

/// Runs a program that has to succeed.
private func carryOut(_ program: String, _ arguments: [String], _ environment: [String: String]) async throws {
    let ended = try await run(program, arguments, environment: Libcurl.bare.merging(environment) { $1 })
    try #require(ended.status == 0, "\(program): \(ended)")
}

/// squid, the proxy.
struct Squid {
    /// What it did for a client.
    struct Entry: Sendable {
        let method: Substring
        let target: Substring
        let user: Substring
        let status: Substring
        /// The head of the request, as it came.
        let head: String
    }

    static let isInstalled = access("/usr/sbin/squid", X_OK) == 0
    /// Everybody may connect to any port.
    static let open = "http_access allow all"
    /// Only who has proved to be somebody.
    static let closed = "acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all"

    let port: Int
    let folder: String

    /// The proxy's URL for a user with a password, both encoded.
    func url(_ user: String? = nil) -> String { "http://\(user.map { "\($0)@" } ?? "")localhost:\(port)" }

    /// Runs the body with a proxy, and returns what the proxy logged.
    ///
    /// Besides localhost, it finds these hosts at 127.0.0.1.
    @discardableResult static func with(
        _ settings: String = Squid.open, hosts: [String] = [], environment: [String: String] = [:], in parent: String,
        _ body: (Squid) async throws -> Void
    ) async throws -> [Entry] {
        let folder = "\(parent)/squid-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "127.0.0.1 localhost \(hosts.joined(separator: " "))\n"
            .write(toFile: "\(folder)/hosts", atomically: true, encoding: .utf8)
        try await serving("/usr/sbin/squid", environment: environment) { port in
            try """
            http_port 127.0.0.1:\(port)
            pid_filename \(folder)/pid
            cache_log \(folder)/cache.log
            coredump_dir \(folder)
            logformat whole %rm %ru %un %>Hs %>h
            access_log stdio:\(folder)/access.log whole
            hosts_file \(folder)/hosts
            cache deny all
            cache_mem 0
            memory_cache_shared off
            netdb_filename none
            pinger_enable off
            shutdown_lifetime 0 seconds
            max_filedescriptors 256
            \(settings.replacing("FOLDER", with: parent))

            """.write(toFile: "\(folder)/squid.conf", atomically: true, encoding: .utf8)
            return ["-N", "-f", "\(folder)/squid.conf", "-n", "test\(port)"]
        } isReady: { port in
            let log = try? String(contentsOfFile: "\(folder)/cache.log", encoding: .utf8)
            // It says so before it listens.
            return (try? TCPPort.isOpen(port)) == true
                && log?.contains("Accepting HTTP Socket connections at conn") == true
                && log?.contains("local=127.0.0.1:\(port) ") == true
        } _: { port in
            try await body(Squid(port: port, folder: folder))
        }
        let log = try String(contentsOfFile: "\(folder)/access.log", encoding: .utf8)
        return log.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            // Who only looks whether it listens leaves an entry, too.
            guard words.count >= 4, words[1] != "error:transaction-end-before-headers" else { return nil }
            return Entry(
                method: words[0], target: words[1], user: words[2], status: words[3],
                head: words.count > 4 ? words[4].removingPercentEncoding ?? "" : "")
        }
    }
}

/// stunnel, which makes an https proxy of another one.
enum Stunnel {
    static let isInstalled = access("/usr/bin/stunnel", X_OK) == 0

    /// Runs the body with the port of an https proxy, and the file with its certificate.
    static func with(
        before proxy: Squid, _ identity: TLSServer.Identity, in folder: String,
        _ body: (_ port: Int, _ caFile: String) async throws -> Void
    ) async throws {
        let (certificate, key) = try TLSServer.certificate(identity, subject: "proxy")
        let caFile = "\(folder)/proxy-\(UUID().uuidString).pem"
        try (certificate.serializeAsPEM().pemString + "\n").write(toFile: caFile, atomically: true, encoding: .utf8)
        try key.pemRepresentation.write(toFile: "\(folder)/proxy.key", atomically: true, encoding: .utf8)
        try await serving("/usr/bin/stunnel") { port in
            try """
            foreground = yes
            pid =
            [proxy]
            accept = 127.0.0.1:\(port)
            connect = 127.0.0.1:\(proxy.port)
            cert = \(caFile)
            key = \(folder)/proxy.key

            """.write(toFile: "\(folder)/stunnel.conf", atomically: true, encoding: .utf8)
            return ["\(folder)/stunnel.conf"]
        } _: { port in
            try await body(port, caFile)
        }
    }
}

/// microsocks, which speaks SOCKS5.
enum MicroSocks {
    static let isInstalled = access("/usr/bin/microsocks", X_OK) == 0

    /// Runs the body with the port of a server.
    static func with(_ user: (name: String, password: String)? = nil, _ body: (Int) async throws -> Void) async throws {
        let who = user.map { ["-u", $0.name, "-P", $0.password] } ?? []
        try await serving("/usr/bin/microsocks") {
            ["-i", "127.0.0.1", "-p", "\($0)"] + who
        } _: {
            try await body($0)
        }
    }
}

/// ssh's own server of SOCKS4, 4a and 5, which connects from the other end.
enum SSHSocks {
    /// Runs the body with the port of a server.
    static func with(in folder: String, _ body: @Sendable (Int) async throws -> Void) async throws {
        try await SSHServer.with(in: folder) { server in
            try await serving("/usr/bin/ssh", environment: ["HOME": folder]) { port in
                server.arguments(["-N", "-D", "127.0.0.1:\(port)", "-o", "ExitOnForwardFailure=yes"])
            } _: {
                try await body($0)
            }
        }
    }
}

/// A Kerberos realm with a key distribution centre, a proxy's keys, and a user who has signed in.
struct KerberosRealm {
    static let isInstalled =
        access("/usr/sbin/krb5kdc", X_OK) == 0 && access("/usr/sbin/kadmin.local", X_OK) == 0
        && access("/usr/bin/kinit", X_OK) == 0 && access("/usr/lib/squid/negotiate_kerberos_auth", X_OK) == 0

    private let folder: String

    /// The environment of the user.
    var user: [String: String] { ["KRB5_CONFIG": "\(folder)/krb5.conf", "KRB5CCNAME": "FILE:\(folder)/ccache"] }
    /// The environment of somebody who hasn't signed in.
    var stranger: [String: String] { ["KRB5_CONFIG": "\(folder)/krb5.conf", "KRB5CCNAME": "FILE:\(folder)/nothing"] }
    /// The environment of the proxy.
    var service: [String: String] { ["KRB5_CONFIG": "\(folder)/krb5.conf", "KRB5RCACHENAME": "none:"] }
    /// What makes squid ask for it.
    var squid: String {
        """
        auth_param negotiate program /usr/lib/squid/negotiate_kerberos_auth -k \(folder)/http.keytab \
        -s HTTP/localhost@LANYARD.TEST
        auth_param negotiate children 1 startup=1 idle=1
        """
    }

    /// Runs the body with a realm.
    static func with(in parent: String, _ body: (KerberosRealm) async throws -> Void) async throws {
        let folder = "\(parent)/realm"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let files = ["KRB5_CONFIG": "\(folder)/krb5.conf", "KRB5_KDC_PROFILE": "\(folder)/kdc.conf"]
        func configure(_ port: Int) throws {
            try """
            [libdefaults]
             default_realm = LANYARD.TEST
             dns_lookup_kdc = false
             dns_lookup_realm = false
             dns_canonicalize_hostname = false
             rdns = false
             udp_preference_limit = 1
            [realms]
             LANYARD.TEST = {
              kdc = 127.0.0.1:\(port)
             }

            """.write(toFile: "\(folder)/krb5.conf", atomically: true, encoding: .utf8)
            try """
            [kdcdefaults]
             kdc_listen = 127.0.0.1:\(port)
             kdc_tcp_listen = 127.0.0.1:\(port)
            [realms]
             LANYARD.TEST = {
              database_name = \(folder)/principal
              key_stash_file = \(folder)/stash
              acl_file = \(folder)/acl
              max_life = 1h
             }
            [logging]
             kdc = FILE:\(folder)/kdc.log

            """.write(toFile: "\(folder)/kdc.conf", atomically: true, encoding: .utf8)
        }
        try configure(88)
        try await carryOut("/usr/sbin/kdb5_util", ["create", "-s", "-P", "master", "-r", "LANYARD.TEST"], files)
        for command in [
            "addprinc -randkey HTTP/localhost", "addprinc -randkey alice",
            "ktadd -k \(folder)/http.keytab HTTP/localhost",
            "ktadd -k \(folder)/alice.keytab alice",
        ] { try await carryOut("/usr/sbin/kadmin.local", ["-r", "LANYARD.TEST", "-q", command], files) }
        try await serving("/usr/sbin/krb5kdc", environment: files) { port in
            try configure(port)
            return ["-n"]
        } _: { _ in
            let realm = KerberosRealm(folder: folder)
            let arguments = ["-k", "-t", "\(folder)/alice.keytab", "-c", "FILE:\(folder)/ccache", "alice"]
            try await carryOut("/usr/bin/kinit", arguments, realm.user)
            try await body(realm)
        }
    }
}

/// An authority for certificates, with openssl's own server, which has one of them for localhost.
struct Issuer {
    let caFile: String
    private let leaf: String

    init(in folder: ScratchDirectory, _ name: String) async throws {
        (caFile, leaf) = ("\(folder.path)/\(name).pem", "\(folder.path)/\(name)-leaf")
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        try await carryOut(
            "openssl", ["req", "-x509", "-subj", "/CN=\(name)", "-keyout", "\(caFile).key", "-out", caFile] + key, [:])
        try await carryOut(
            "openssl",
            [
                "req", "-x509", "-subj", "/CN=server", "-keyout", "\(leaf).key", "-out", "\(leaf).pem", "-CA", caFile,
                "-CAkey",
                "\(caFile).key", "-addext", "subjectAltName=DNS:localhost", "-addext",
                "basicConstraints=critical,CA:FALSE",
            ] + key, [:])
    }

    /// Runs the body with the URL of the server, which lets only those in whose certificates this issuer vouches for.
    func serving(clientsOf clients: Issuer? = nil, _ body: (String) async throws -> Void) async throws {
        let required = clients.map { ["-Verify", "1", "-verify_return_error", "-CAfile", $0.caFile] } ?? []
        try await HTTPTests.serving("openssl") { port in
            ["s_server", "-www", "-accept", "127.0.0.1:\(port)", "-cert", "\(leaf).pem", "-key", "\(leaf).key"]
                + required
        } _: {
            try await body("https://localhost:\($0)/")
        }
    }
}
