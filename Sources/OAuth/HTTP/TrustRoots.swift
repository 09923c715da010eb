import Addresses
import Files
import NIOSSL
import Secrets

/// The locations of a system's trusted certificates.
package struct SystemCertificates: Sendable {
    /// A folder in which files are named after the hash of their subject (openssl-rehash(1)), so that one can be found
    /// without reading all.
    let folder: String
    /// Files that contain all certificates; the first one that exists is used.
    let bundles: [String]

    /// The locations in common distributions: Debian and Arch, Fedora, openSUSE, Alpine.
    package static let usual = SystemCertificates(
        folder: "/etc/ssl/certs",
        bundles: [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ])

    /// The folder; nil if no file in it has such a name.
    var hashed: String? {
        let names = (try? Folder(folder))?.names(atMost: 10_000) ?? []
        return names.contains { $0.utf8.count == 10 && $0.hasSuffix(".0") } ? folder : nil
    }

    /// The bundle to use; nil if none exists.
    var bundle: String? { bundles.first { FileStatus(of: $0) != nil } }
}

extension TLSConfiguration {
    /// A client's configuration with TLS 1.3, or with TLS 1.2 if the keys are ephemeral and the encryption is
    /// authenticated: older ones are deprecated (RFC 8996; RFC 9325, 4.2).
    static var strictClient: TLSConfiguration {
        var configuration = makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
        return configuration
    }
}

/// The trust anchors for an authority's certificate.
///
/// They are the system's certificates, plus those that the environment and the configuration add. Nothing turns
/// validation off.
struct TrustRoots {
    private static let mostFiles = 1_000
    /// The size limit of a file, in bytes; the system's own bundle has a quarter of a mebibyte.
    private static let largestFile = 8 << 20

    private let system: SystemCertificates
    private let named: [NIOSSLCertificate]

    /// Reads the additional certificates.
    ///
    /// - Parameters:
    ///   - caFile: The configuration's `ca-file`.
    ///   - environment: The environment with `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    ///   - system: The locations of the system's certificates.
    /// - Throws: `invalidRequest` if a named file contains no certificates.
    init(
        caFile: String?, environment: [String: String], system: SystemCertificates = .usual
    ) throws(OAuthError) {
        var named: [NIOSSLCertificate] = []
        if let path = environment["SSL_CERT_FILE"], !path.isEmpty, !system.bundles.contains(path) {
            named += try Self.certificates(in: path, namedBy: "SSL_CERT_FILE")
        }
        for directory in (environment["SSL_CERT_DIR"] ?? "").pieces(between: ":") where directory != system.folder {
            named += Self.certificates(below: String(directory))
        }
        if let caFile { named += try Self.certificates(in: caFile, namedBy: "ca-file") }
        self.system = system
        self.named = named
    }

    /// A client's TLS configuration, which validates certificate and host name.
    var configuration: TLSConfiguration {
        configuration(trusting: system.bundle.map { .file($0) } ?? .certificates([]))
    }

    /// The configuration without the bundle, which takes several milliseconds to read; nil if certificates can't be
    /// looked up by hash.
    var quickConfiguration: TLSConfiguration? { system.hashed.map { configuration(trusting: .file($0)) } }

    private func configuration(trusting roots: NIOSSLTrustRoots) -> TLSConfiguration {
        var configuration = TLSConfiguration.strictClient
        configuration.trustRoots = roots
        configuration.additionalTrustRoots = [.certificates(named)]
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

    /// Returns the certificates in a regular file; reading a pipe without a writer would block.
    private static func certificates(at path: String) throws(FileProblem) -> [NIOSSLCertificate] {
        let file = try OpenFile(path)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        let text = try file.contents(atMost: min(status.size, largestFile))
        return PEMFile(text).certificates
    }
}
