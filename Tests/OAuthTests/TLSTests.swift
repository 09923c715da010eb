import AuthorityFixture
import Crypto
import Foundation
import HTTP
import Testing

@testable import OAuth

/// The versions of TLS and their cipher suites.
struct TLSTests {
    /// Whether a server with this TLS is sent requests.
    private static func isSafe(_ security: TLSServer.Security) -> Bool { [.tls12, .tls13].contains(security) }

    private static func serving(
        _ security: TLSServer.Security, _ body: (TLSServer) async throws -> Void
    ) async throws {
        var identity = TLSServer.Identity.host("localhost")
        identity.security = security
        try await TLSServer.run(identity, { _ in TLSServer.nothingHere }, body)
    }

    @Test(arguments: TLSServer.Security.allCases)
    func `an authority with outdated TLS sees no byte of HTTP, and the error says why`(
        _ security: TLSServer.Security
    ) async throws {
        try await Self.serving(security) { server in
            var settings = Transport.Settings(userAgent: "tests", environment: [:])
            settings.network.caFiles = [server.caFile]
            let transport = try Transport(settings)
            do throws(OAuthError) {
                let answer = try await transport.post(
                    "https://localhost:\(server.port)/token", [("code", "secret")], .harmless)
                #expect(Self.isSafe(security) && answer.status == 404)
            } catch {
                #expect(!Self.isSafe(security))
                #expect(error.message.contains("offers only encryption that is no longer safe"), "\(error.message)")
                #expect(error.hint?.contains("TLS 1.2") == true)
            }
            #expect(server.requests.count == (Self.isSafe(security) ? 1 : 0))
        }
    }

    @Test(arguments: TLSServer.Security.allCases, [false, true])
    func `so does a service of the platform, pinned or not`(
        _ security: TLSServer.Security, isPinned: Bool
    ) async throws {
        try await Self.serving(security) { server in
            let pem = try String(contentsOfFile: server.caFile, encoding: .utf8)
            let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
            let der = try #require(Data(base64Encoded: body))
            let thumbprint = Insecure.SHA1.hash(data: der).map { String(format: "%02x", $0) }.joined()
            let url = "https://localhost:\(server.port)"
            var network = NetworkSettings(environment: [:])
            network.caFiles = [server.caFile]
            let pin = try #require(CertificatePin(thumbprint))
            let client = HTTPClient(
                userAgent: "tests", isPinned ? .pinned(pin) : .trusted(try TrustAnchors(network)))
            let answer = try? await client.send(HTTPRequest("GET", "\(url)/token"), within: .seconds(30))
            #expect(answer?.status == (Self.isSafe(security) ? 404 : nil))
            #expect(server.requests.count == (Self.isSafe(security) ? 1 : 0))
        }
    }
}
