import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// A certificate authority for the lifetime of the sandbox, and its only certificate.
struct Certificates: Sendable {
    /// The authority's certificate, for clients that must trust it.
    let authorityPEM: String
    let server: TLSConfiguration

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("lanyard sandbox CA (not for real use)") }
        let authority = try Self.authority(name, key: Certificate.PrivateKey(key))
        // End with a line feed, so that other certificates can be appended.
        authorityPEM = try authority.serializeAsPEM().pemString + "\n"

        let leafKey = P256.Signing.PrivateKey()
        let leaf = try Self.leaf(for: leafKey, issuer: name, signedBy: Certificate.PrivateKey(key))
        let leafPEM = try leaf.serializeAsPEM().pemString
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: [UInt8](leafPEM.utf8), format: .pem))],
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: [UInt8](leafKey.pemRepresentation.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        server = configuration
    }

    private static func authority(_ name: DistinguishedName, key: Certificate.PrivateKey) throws -> Certificate {
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            SubjectKeyIdentifier(hash: key.publicKey)
        }
        return try Certificate(of: key.publicKey, subject: name, issuer: name, signedBy: key, extensions: extensions)
    }

    private static func leaf(
        for key: P256.Signing.PrivateKey, issuer: DistinguishedName, signedBy issuerKey: Certificate.PrivateKey
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        let loopback: [GeneralName] = [
            .dnsName("localhost"),
            .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: ArraySlice(repeatElement(0, count: 15) + [1]))),
        ]
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames(loopback)
            SubjectKeyIdentifier(hash: publicKey)
            AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuerKey.publicKey).keyIdentifier)
        }
        return try Certificate(
            of: publicKey, subject: DistinguishedName { CommonName("localhost") }, issuer: issuer, signedBy: issuerKey,
            extensions: extensions)
    }
}

extension Certificate {
    /// Makes a certificate that is valid for a month.
    init(
        of key: PublicKey, subject: DistinguishedName, issuer: DistinguishedName, signedBy issuerKey: PrivateKey,
        extensions: Extensions
    ) throws {
        try self.init(
            version: .v3, serialNumber: SerialNumber(), publicKey: key,
            notValidBefore: Date.now.addingTimeInterval(-300), notValidAfter: Date.now.addingTimeInterval(30 * 86400),
            issuer: issuer, subject: subject, extensions: extensions, issuerPrivateKey: issuerKey)
    }
}
