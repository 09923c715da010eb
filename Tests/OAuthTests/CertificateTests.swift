import AuthorityFixture
import Foundation
import HTTP
import SwiftASN1
import Testing
import X509

@testable import OAuth

/// The certificates that an authority may have.
struct CertificateTests {
    private static let loopback = GeneralName.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))

    /// Requests a server's configuration by the host's name; returns the error.
    private func ask(
        _ server: TLSServer, host: String = "localhost", isTrusted: Bool = true
    ) async -> OAuthError? {
        var settings = Transport.Settings(userAgent: "tests", environment: [:])
        settings.limits.pause = .milliseconds(50)
        settings.network.caFiles = isTrusted ? [server.caFile] : []
        let url = "https://\(host):\(server.port)"
        return await #expect(throws: OAuthError.self) {
            let transport = try Transport(settings)
            return try await ProviderMetadata.fetch("\(url)/configuration", of: url, over: transport)
        }
    }

    @Test func `a certificate for the address only is refused for a host name, before anything is sent`() async throws {
        try await TLSServer.run(.init(Self.loopback)) { server in
            let error = await ask(server)
            #expect(error?.kind == .unavailable)
            #expect(error?.message.hasSuffix("is for another name: 127.0.0.1") == true, "\(error?.message ?? "")")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `so is one for the address and another name`() async throws {
        try await TLSServer.run(.init(.dnsName("evil.example"), Self.loopback)) { server in
            #expect(await ask(server)?.message.contains("evil.example, 127.0.0.1") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `so is one for another name`() async throws {
        try await TLSServer.run(.init(.dnsName("evil.example"))) { server in
            #expect(await ask(server)?.message.contains("is for another name") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the host's own name is taken`() async throws {
        try await TLSServer.run(.init(.dnsName("LOCALHOST."), Self.loopback)) { server in
            #expect(await ask(server)?.message.contains("there is no authority") == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an address is taken by the certificate for the address`() async throws {
        try await TLSServer.run(.init(Self.loopback)) { server in
            #expect(await ask(server, host: "127.0.0.1")?.message.contains("there is no authority") == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an address is not taken by a name`() async throws {
        try await TLSServer.run(.init(.dnsName("127.0.0.1"))) { server in
            #expect(await ask(server, host: "127.0.0.1")?.message.contains("is for another name") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ["000 X", "099 Early"])
    func `a status below 100 is an error, not the end of the process`(_ status: String) async throws {
        let answer = TLSServer.Behaviour.answer("HTTP/1.1 \(status)\r\ncontent-length: 0\r\n\r\n")
        try await TLSServer.run(.init(.dnsName("localhost")), { _ in answer }) { server in
            let error = await ask(server)
            #expect(error?.kind == .unavailable)
            #expect(error?.message.hasSuffix("not HTTP") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `an expired certificate is called so`() async throws {
        var identity = TLSServer.Identity(.dnsName("localhost"))
        identity.notValidBefore = Date(timeIntervalSince1970: 1_000_000_000)
        identity.notValidAfter = Date(timeIntervalSince1970: 1_100_000_000)
        try await TLSServer.run(identity) { server in
            let error = await ask(server)
            #expect(error?.message.hasSuffix("expired on 2004-11-09") == true, "\(error?.message ?? "")")
            #expect(error?.hint?.contains("clock") == true)
        }
    }

    @Test func `so is one that is not valid yet`() async throws {
        var identity = TLSServer.Identity(.dnsName("localhost"))
        identity.notValidBefore = Date.now.addingTimeInterval(86_400)
        identity.notValidAfter = Date.now.addingTimeInterval(172_800)
        try await TLSServer.run(identity) { server in
            let error = await ask(server)
            #expect(error?.message.contains("is not valid before") == true, "\(error?.message ?? "")")
            #expect(error?.hint?.contains("clock") == true)
        }
    }

    @Test func `an unknown issuer is called so, and nothing is sent to find out`() async throws {
        try await TLSServer.run(.init(.dnsName("localhost"))) { server in
            let error = await ask(server, isTrusted: false)
            #expect(error?.message.hasSuffix("its issuer is not known here") == true, "\(error?.message ?? "")")
            #expect(error?.hint?.contains("ca-file") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `an unknown issuer's certificate for another name is called that`() async throws {
        try await TLSServer.run(.init(.dnsName("hotel.example"))) { server in
            let error = await ask(server, isTrusted: false)
            #expect(error?.message.hasSuffix("is for another name: hotel.example") == true, "\(error?.message ?? "")")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a reset is tried again, as a close is`() async throws {
        for byReset in [true, false] {
            try await TLSServer.run(.init(.dnsName("localhost")), { _ in .drop(byReset: byReset) }) { server in
                #expect(await ask(server)?.message.contains("closed the connection") == true)
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test(arguments: [
        ("missing", "can't be read: No such file or directory"), (".", "can't be read: it is not a regular file"),
        ("endless", "can't be read: it is too long"), ("text", "holds no readable certificates"),
    ])
    func `a file that holds no certificates is refused, whatever its length`(name: String, problem: String) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/lanyard-certificates-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("text".utf8).write(to: URL(fileURLWithPath: folder + "/text"))
        try Data().write(to: URL(fileURLWithPath: folder + "/endless"))
        #expect(truncate(folder + "/endless", 1 << 40) == 0)
        let path = "\(folder)/\(name)"
        for isConfigured in [true, false] {
            var settings = Transport.Settings(
                userAgent: "tests", environment: isConfigured ? [:] : ["SSL_CERT_FILE": path])
            settings.network.caFiles = isConfigured ? [path] : []
            let error = #expect(throws: OAuthError.self) { try Transport(settings) }
            #expect(
                error?.kind == .unusableSetting && error?.message == "\(path) \(problem)", "\(error?.message ?? "")")
            #expect(error?.hint?.contains(isConfigured ? "ca-file" : "SSL_CERT_FILE") == true)
        }
    }
}
