import Addresses
import Crypto
import FoundationEssentials
import Glibc
import SwiftASN1
import X509

/// What a server's certificate says of itself.
struct Certificate {
    /// Its encoding.
    let der: [UInt8]
    /// The host names and addresses that it is for (RFC 9525, 6); a common name is none.
    let names: [String]
    /// When it begins to be valid, in seconds since 1970.
    let begin: Int
    /// When it expires, in seconds since 1970.
    let end: Int

    /// Reads a certificate in PEM; nil if it can't be read.
    init?(pem: String) {
        guard let document = try? PEMDocument(pemString: pem),
            let certificate = try? X509.Certificate(derEncoded: document.derBytes)
        else { return nil }
        der = document.derBytes
        let alternatives = try? certificate.extensions.subjectAlternativeNames
        names = (alternatives.flatMap { $0 } ?? SubjectAlternativeNames()).compactMap { name in
            switch name {
            case .dnsName(let text): text
            case .ipAddress(let bytes): Self.address(Array(bytes.bytes))
            default: nil
            }
        }
        begin = Int(certificate.notValidBefore.timeIntervalSince1970)
        end = Int(certificate.notValidAfter.timeIntervalSince1970)
    }

    /// Whether it is for a host that libcurl takes it for, too (RFC 9525, 6).
    ///
    /// libcurl takes a common name if there is no other, and with GnuTLS also `*a` for the beginning of a label.
    func isFor(_ host: String) -> Bool {
        if IPNetwork(host) != nil { return !names.isEmpty }
        let host = host.withoutFinalDot
        return names.contains { name in
            let name = name.lowercased().withoutFinalDot
            guard name.hasPrefix("*."), let (_, rest) = host.cut(at: ".") else { return name == host }
            return name.dropFirst(2) == rest && rest.utf8.contains(UInt8(ascii: "."))
        }
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: 46)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard [4, 16].contains(bytes.count), inet_ntop(family, bytes, &text, 46) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension CertificateDefect {
    /// The same problem with what the certificate says of itself.
    func detailed(by certificate: Certificate) -> CertificateDefect {
        switch self {
        case .expired: .expired(certificate.end)
        case .notYetValid: .notYetValid(certificate.begin)
        case .otherName: .otherName(certificate.names)
        case .unknownIssuer, .notPinned, .unknown: self
        }
    }
}

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
