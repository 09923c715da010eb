import Foundation

/// A real OpenID Connect issuer of somebody else's, on a loopback port, over HTTPS.
///
/// script/issuers gets the programs; script/test says in `LANYARD_ISSUERS` where they are.
package struct ThirdPartyIssuer: Decodable, Sendable {
    /// Which program it is.
    package enum Kind: String, CaseIterable, Decodable, Sendable { case canaille, glewlwyd, nanoidp }

    /// The folder with the programs; nil if script/test couldn't get them.
    package static let programs = ProcessInfo.processInfo.environment["LANYARD_ISSUERS"]

    /// Which program it is.
    package let kind: Kind
    /// Its identifier, which discovery starts from; glewlwyd's has a path.
    package let issuer: String
    /// The certificate to trust.
    package let caFile: String
    /// A public client for authorization codes and refresh tokens and, if the issuer has them, device codes.
    package let clientID: String
    /// Who signs in, besides `bob`.
    package let username: String
    /// The password of everybody.
    package let password: String
    /// The port that the redirect URI is registered with; nil if any will do.
    package let redirectPort: Int?

    private enum CodingKeys: String, CodingKey {
        case kind, issuer, username, password
        case caFile = "ca_file"
        case clientID = "client_id"
        case redirectPort = "redirect_port"
    }

    /// The redirect URI at a port, or at the only one that is registered.
    package func redirectURI(port: Int) -> String { "http://127.0.0.1:\(redirectPort ?? port)/" }

    /// A `$BROWSER` that signs in; with `--elsewhere` it prints where the browser would go instead.
    package var browser: String {
        "\(Self.scripts)/third-party-sign-in \(URL(fileURLWithPath: caFile).deletingLastPathComponent().path)"
    }

    private static let scripts = Built.checkout + "/Tests/TestSupport/Scripts"

    /// Runs the body while such an issuer serves, with a folder of its own in the scratch directory.
    package static func with<Result: Sendable>(
        _ kind: Kind, in scratch: ScratchDirectory, isolation: isolated (any Actor)? = #isolation,
        _ body: (ThirdPartyIssuer) async throws -> Result
    ) async throws -> Result {
        guard let programs else { throw ThirdPartyIssuerError("script/issuers was not run") }
        let folder = "\(scratch.path)/\(kind)"
        let log = "\(scratch.path)/\(kind).log"
        // The script gives the program's errors to its output.
        return try await TestSupport.with(
            "\(programs)/python/bin/python3", ["\(scripts)/third-party-issuer", kind.rawValue, folder], output: log,
            environment: scratch.environment
        ) {
            try await body(try await started(in: folder, log: log))
        }.result
    }

    /// Waits until the issuer that was started in a folder serves.
    private static func started(in folder: String, log: String) async throws -> ThirdPartyIssuer {
        for _ in 0..<12000 {
            if let file = FileManager.default.contents(atPath: folder + "/issuer.json") {
                return try JSONDecoder().decode(Self.self, from: file)
            }
            if FileManager.default.fileExists(atPath: folder + "/failed") { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        let said = try? String(contentsOfFile: log, encoding: .utf8)
        throw ThirdPartyIssuerError("the issuer did not start: \(said ?? "")")
    }
}

/// An issuer that doesn't come up.
package struct ThirdPartyIssuerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
