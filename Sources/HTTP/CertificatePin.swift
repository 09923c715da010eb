import Addresses
import Crypto

/// The only certificate accepted from a service of this machine's platform, identified by the SHA-1 of its DER.
///
/// The platform identifies it in no other way. SHA-1 no longer prevents collisions between two certificates made for
/// that purpose, but nobody can make a certificate for a given hash.
package struct CertificatePin: Sendable, Equatable {
    private let digest: String

    /// Parses forty hexadecimal digits of either case, ignoring colons and white space; returns nil for anything else.
    package init?(_ thumbprint: String) {
        let digits = thumbprint.utf8.filter { !" :\r\n\t".utf8.contains($0) }
        let digest = String(decoding: digits, as: UTF8.self).lowercased()
        guard digest.utf8.count == 40, digest.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return nil
        }
        self.digest = digest
    }

    /// Whether a certificate matches the pin.
    package func matches(der: some Sequence<UInt8>) -> Bool {
        Array(Insecure.SHA1.hash(data: Array(der))).hexadecimal == digest
    }
}
