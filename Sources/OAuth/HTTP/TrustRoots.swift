import Addresses
import Files
import NIOSSL
import Secrets

/// The certificates that the authority's own may lead to.
///
/// They are the system's, and besides them those that the environment and the configuration name. Nothing turns
/// checking off.
enum TrustRoots {
    /// Bundles that NIOSSL does not look for itself.
    private static let furtherBundles = ["/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"]
    /// Bundles that NIOSSL loads.
    private static let systemBundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
    private static let mostFiles = 1_000
    /// The largest file that is read, in bytes: the system's own bundle has a quarter of a mebibyte.
    private static let largestFile = 8 << 20

    /// A client's TLS settings.
    ///
    /// - Parameters:
    ///   - caFile: the configuration's `ca-file`.
    ///   - environment: where `SSL_CERT_FILE` and `SSL_CERT_DIR` are looked for.
    /// - Returns: settings that check certificate and host name.
    /// - Throws: `invalidRequest` if a named file holds no certificates.
    static func configuration(
        caFile: String?, environment: [String: String]
    ) throws(OAuthError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        var roots: [NIOSSLCertificate] = []
        if let path = environment["SSL_CERT_FILE"], !path.isEmpty, !systemBundles.contains(path) {
            roots += try certificates(in: path, namedBy: "SSL_CERT_FILE")
        }
        for directory in (environment["SSL_CERT_DIR"] ?? "").pieces(between: ":") where directory != "/etc/ssl/certs" {
            roots += certificates(below: String(directory))
        }
        if let caFile { roots += try certificates(in: caFile, namedBy: "ca-file") }
        if systemBundles.allSatisfy({ FileStatus(of: $0) == nil }) {
            configuration.trustRoots = .certificates(furtherBundles.flatMap { (try? certificates(at: $0)) ?? [] })
        }
        configuration.additionalTrustRoots = [.certificates(roots)]
        return configuration
    }

    private static func certificates(
        in path: String, namedBy name: String
    ) throws(OAuthError) -> [NIOSSLCertificate] {
        let problem: String
        do throws(FileProblem) {
            let found = try certificates(at: path)
            if !found.isEmpty { return found }
            problem = "holds no readable certificates"
        } catch {
            problem = "can't be read: \(error.reason)"
        }
        throw OAuthError(
            .invalidRequest, "\(path.displayable()) \(problem)",
            hint: "make \(name) name a readable file of PEM certificates")
    }

    private static func certificates(below directory: String) -> [NIOSSLCertificate] {
        let names = (try? Folder(directory))?.names(atMost: mostFiles) ?? []
        return names.sorted().flatMap { (try? certificates(at: "\(directory)/\($0)")) ?? [] }
    }

    /// What a regular file holds; a pipe that nobody writes to would be waited for.
    private static func certificates(at path: String) throws(FileProblem) -> [NIOSSLCertificate] {
        let file = try OpenFile(path)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        let text = try file.contents(atMost: min(status.size, largestFile))
        return (try? NIOSSLCertificate.fromPEMBytes(separated(text))) ?? []
    }

    /// The file with each certificate on lines of its own, though those put together lacked their last line feed.
    private static func separated(_ text: [UInt8]) -> [UInt8] {
        let joint = "-----END CERTIFICATE----------BEGIN CERTIFICATE-----"
        let parts = "-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----"
        return Array(String(decoding: text, as: UTF8.self).replacing(joint, with: parts).utf8) + [UInt8(ascii: "\n")]
    }
}
