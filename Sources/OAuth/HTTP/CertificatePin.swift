import Addresses
import Crypto
import NIOSSL

/// The one certificate that a service of this machine's platform may have, known by the SHA-1 of its DER.
///
/// The platform names it in no other way. SHA-1 no longer stops somebody who makes two certificates of one hash, but nobody can make
/// one of a hash that is given.
package struct CertificatePin: Sendable, Equatable {
    private let digest: String

    /// Reads forty hexadecimal digits of either case; colons and blanks between them don't count.
    ///
    /// Nil of anything else.
    package init?(_ thumbprint: String) {
        let digits = thumbprint.utf8.filter { !" :\r\n\t".utf8.contains($0) }
        let digest = String(decoding: digits, as: UTF8.self).lowercased()
        guard digest.utf8.count == 40, digest.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return nil
        }
        self.digest = digest
    }

    /// Whether a certificate is the one.
    package func matches(der: some Sequence<UInt8>) -> Bool {
        Array(Insecure.SHA1.hash(data: Array(der))).hexadecimal == digest
    }

    func matches(_ certificate: NIOSSLCertificate) -> Bool {
        (try? certificate.toDERBytes()).map { matches(der: $0) } ?? false
    }
}
