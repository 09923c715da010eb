import AuthorityFixture
import Foundation
import HTTP
import Subprocess
import SwiftASN1
import Testing
import X509

@testable import OAuth

/// The locations of the system's certificates.
struct TrustTests {
    /// Sends a request to a server whose certificate the system has in some locations; returns the error message.
    ///
    /// For a trusted certificate, the message says that the answer isn't an authority's.
    private func ask(byHash: Bool, inBundle: Bool) async throws -> (message: String, requests: Int) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trust-\(UUID().uuidString)")
        let hashed = folder.appending(path: "certs")
        let bundle = folder.appending(path: "bundle.crt")
        try FileManager.default.createDirectory(at: hashed, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var message = ""
        var requests = 0
        try await TLSServer.run(.host("localhost")) { server in
            let own = try Data(contentsOf: URL(filePath: server.caFile))
            let (other, _) = try TLSServer.certificate(.host("other.example"), subject: "other")
            let others = Data((try other.serializeAsPEM().pemString + "\n").utf8)
            // Both locations have another certificate, so that neither is skipped for being empty.
            try others.write(to: hashed.appending(path: "other.pem"))
            if byHash { try own.write(to: hashed.appending(path: "own.pem")) }
            try (inBundle ? others + own : others).write(to: bundle)
            let rehashed = try await Subprocess.run(
                .name("openssl"), arguments: ["rehash", hashed.path], output: .discarded)
            try #require(rehashed.terminationStatus.isSuccess)
            var settings = Transport.Settings(userAgent: "tests", environment: [:])
            settings.network.system = TrustAnchors.System(folder: hashed.path, bundles: [bundle.path])
            let transport = try Transport(settings)
            let url = "https://localhost:\(server.port)"
            // It also works for the second request, after the first has found the certificate.
            for _ in 1...2 {
                let error = await #expect(throws: OAuthError.self) {
                    try await ProviderMetadata.fetch("\(url)/configuration", of: url, over: transport)
                }
                message = error?.message ?? ""
            }
            requests = server.requests.count
        }
        return (message, requests)
    }

    @Test(arguments: [(true, false), (true, true), (false, true)])
    func `a certificate is found by its hash, and in the bundle`(_ byHash: Bool, _ inBundle: Bool) async throws {
        let (message, requests) = try await ask(byHash: byHash, inBundle: inBundle)
        #expect(message.contains("there is no authority"), "\(message)")
        #expect(requests == 2)
    }

    @Test func `one that is nowhere is distrusted, and nothing is sent`() async throws {
        let (message, requests) = try await ask(byHash: false, inBundle: false)
        #expect(message.hasSuffix("its issuer is not known here"), "\(message)")
        #expect(requests == 0)
    }

    @Test func `a named file is read as openssl reads it`() async throws {
        try await TLSServer.run(.host("localhost")) { server in
            let own = try String(contentsOfFile: server.caFile, encoding: .utf8)
            let other = try TLSServer.certificate(.host("other.example"), subject: "other").0.serializeAsPEM().pemString
            let trusted = try await Subprocess.run(
                .name("openssl"), arguments: ["x509", "-in", server.caFile, "-trustout", "-addtrust", "serverAuth"],
                output: .string(limit: 1 << 20))
            let path = FileManager.default.temporaryDirectory.appending(path: "ca-\(UUID().uuidString).pem").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            for text in [
                "\u{FEFF}\(own)", "\u{FEFF}\(other)\u{FEFF}\(own)", trusted.standardOutput,
                "# ours\n\(other)\n# theirs\n\(own)", own.replacing("\n", with: "\r\n"), "\(other)\(own)",
                "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n\(own)",
            ] {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                for isConfigured in [true, false] {
                    var settings = Transport.Settings(
                        userAgent: "tests", environment: isConfigured ? [:] : ["SSL_CERT_FILE": path])
                    settings.network.system = TrustAnchors.System(folder: "/nowhere", bundles: ["/nowhere/bundle"])
                    if isConfigured { settings.network.caFiles = [path] }
                    let transport = try Transport(settings)
                    let answer = try? await transport.get("https://localhost:\(server.port)/")
                    #expect(answer?.status == 404, "\(text)")
                }
            }
        }
    }

    @Test func `without a file and a folder nothing but what is named is trusted`() async throws {
        let system = TrustAnchors.System(folder: "/nowhere", bundles: ["/nowhere/bundle"])
        try await TLSServer.run(.host("localhost")) { server in
            for (caFile, isTrusted) in [(server.caFile, true), (nil, false)] {
                var settings = Transport.Settings(userAgent: "tests", environment: [:])
                settings.network.system = system
                settings.network.caFiles = [caFile].compactMap(\.self)
                let transport = try Transport(settings)
                let answer = try? await transport.get("https://localhost:\(server.port)/")
                #expect((answer?.status == 404) == isTrusted)
            }
        }
    }
}
