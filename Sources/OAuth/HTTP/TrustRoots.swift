import Addresses
import Files
import NIOSSL
import Secrets

/// Where a system keeps the certificates that it trusts.
package struct SystemCertificates: Sendable {
    /// A folder in which each has a name made of its subject's hash (openssl-rehash(1)), so that one is found without reading all.
    let folder: String
    /// Files with all of them; the first that is there counts.
    let bundles: [String]

    /// Those of the usual distributions: Debian and Arch, Fedora, openSUSE, Alpine.
    package static let usual = SystemCertificates(
        folder: "/etc/ssl/certs",
        bundles: [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ])

    /// The folder, if anything in it has such a name.
    var hashed: String? {
        let names = (try? Folder(folder))?.names(atMost: 10_000) ?? []
        return names.contains { $0.utf8.count == 10 && $0.hasSuffix(".0") } ? folder : nil
    }

    /// The file that counts.
    var bundle: String? { bundles.first { FileStatus(of: $0) != nil } }
}

/// The certificates that the authority's own may lead to.
///
/// They are the system's, and besides them those that the environment and the configuration name. Nothing turns
/// checking off.
struct TrustRoots {
    private static let mostFiles = 1_000
    /// The largest file that is read, in bytes: the system's own bundle has a quarter of a mebibyte.
    private static let largestFile = 8 << 20

    private let system: SystemCertificates
    private let named: [NIOSSLCertificate]

    /// Reads what is named.
    ///
    /// - Parameters:
    ///   - caFile: the configuration's `ca-file`.
    ///   - environment: where `SSL_CERT_FILE` and `SSL_CERT_DIR` are looked for.
    ///   - system: where the system's are.
    /// - Throws: `invalidRequest` if a named file holds no certificates.
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

    /// A client's TLS settings: they check certificate and host name.
    var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = system.bundle.map { .file($0) } ?? .certificates([])
        configuration.additionalTrustRoots = [.certificates(named)]
        return configuration
    }

    /// The same without the bundle, which takes several milliseconds to read; nil if nothing can be looked up by its hash.
    var quickConfiguration: TLSConfiguration? {
        guard let folder = system.hashed else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(folder)
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
