package import Addresses
import CLinux
import Files
import Glibc

/// The trust anchors for certificates: the system's, and those that the environment and the configuration add.
///
/// Nothing turns verification off.
package struct TrustAnchors: Sendable {
    /// Where a system's trusted certificates are.
    package struct System: Sendable {
        let folder: String
        /// Files that contain all certificates; the first one that exists is used.
        let bundles: [String]

        /// Names the places.
        package init(folder: String, bundles: [String]) { (self.folder, self.bundles) = (folder, bundles) }

        /// The places in common distributions: Debian and Arch, Fedora, openSUSE, Alpine.
        package static let usual = System(
            folder: "/etc/ssl/certs",
            bundles: [
                "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                "/etc/ssl/cert.pem",
            ])

        var hasHashes: Bool {
            let names = (try? Folder(folder))?.names(atMost: 10_000) ?? []
            return names.contains { $0.utf8.count == 10 && $0.hasSuffix(".0") }
        }
    }

    private static let mostFiles = 1_000
    /// The size limit of a file, in bytes; the system's own bundle has a quarter of a mebibyte.
    private static let largestFile = 8 << 20

    private let system: System
    /// Those that are added, as PEM.
    private let added: [UInt8]

    /// Reads the additional certificates.
    ///
    /// - Throws: what is wrong with a named file.
    package init(_ settings: NetworkSettings) throws(NetworkSettingsError) {
        let (environment, system) = (settings.environment, settings.system)
        var added: [UInt8] = []
        if let path = environment["SSL_CERT_FILE"], !path.isEmpty, !system.bundles.contains(path) {
            added += try Self.certificates(in: path, namedBy: "SSL_CERT_FILE")
        }
        let folders = (environment["SSL_CERT_DIR"] ?? "").pieces(between: ":").map(String.init)
        for folder in folders + [settings.caFolder].compactMap(\.self) where folder != system.folder {
            let names = (try? Folder(folder))?.names(atMost: Self.mostFiles) ?? []
            for name in names.sorted() { added += (try? Self.certificates(at: "\(folder)/\(name)")) ?? [] }
        }
        for path in settings.caFiles where !system.bundles.contains(path) {
            added += try Self.certificates(in: path, namedBy: "ca-file, or git's http.sslCAInfo,")
        }
        (self.system, self.added) = (system, added)
    }

    /// The sources to try in turn until one has the issuer.
    ///
    /// All certificates at once come last, because reading them takes most of the time before a request is sent, and
    /// hardly any authority needs them. GnuTLS reads all files of a folder.
    func sources(readsFolders: Bool) -> [@Sendable () -> Source] {
        let bundle = system.bundles.first { FileStatus(of: $0) != nil }
        var sources: [@Sendable () -> Source] = []
        if readsFolders || bundle == nil, system.hasHashes { sources.append { Source(added, folder: system.folder) } }
        if let bundle {
            // A file replaces the system's, so it has to have both.
            sources.append {
                let all = added.isEmpty ? nil : try? Self.certificates(at: bundle)
                return all.map { Source($0 + added) } ?? Source(path: bundle)
            }
        } else if sources.isEmpty {
            sources.append { Source(added) }
        }
        return sources
    }

    private static func certificates(
        in path: String, namedBy name: String
    ) throws(NetworkSettingsError) -> [UInt8] {
        let fault: String
        do throws(FileError) {
            let found = try certificates(at: path)
            if !found.isEmpty { return found }
            fault = "holds no readable certificates"
        } catch {
            fault = "can't be read: \(error.reason)"
        }
        throw NetworkSettingsError(name, .certificates(path: path, fault))
    }

    /// Returns the certificates in a regular file; reading a pipe without a writer would block.
    private static func certificates(at path: String) throws(FileError) -> [UInt8] {
        let file = try OpenFile(path)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        return PEMFile(try file.contents(atMost: min(status.size, largestFile))).certificates.flatMap(PEMFile.text)
    }
}

extension TrustAnchors {
    /// Where libcurl finds certificates.
    final class Source: Sendable {
        /// A file of PEM certificates; nil for none.
        let file: String?
        /// A folder in which files are named after the hash of their subject (openssl-rehash(1)); nil for none.
        let folder: String?
        /// A file in memory, since older versions of libcurl read only files; -1 for none.
        private let memory: CInt

        init(_ certificates: [UInt8], folder: String? = nil) {
            // GnuTLS silently takes an empty file for nobody, OpenSSL refuses it.
            memory = certificates.isEmpty ? -1 : lanyard_memory_file(certificates, certificates.count)
            (file, self.folder) = (memory < 0 ? nil : "/proc/self/fd/\(memory)", folder)
        }

        init(path: String) { (file, folder, memory) = (path, nil, -1) }

        deinit { if memory >= 0 { close(memory) } }
    }
}
