import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// A certificate authority that lives as long as the sandbox, and the one certificate it issued.
struct Certificates: Sendable {
    /// The authority's certificate, for those who are to trust it.
    let authorityPEM: String
    let server: TLSConfiguration

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("lanyard sandbox CA (not for real use)") }
        let authority = try Self.authority(name, key: Certificate.PrivateKey(key))
        // A last line has an end, for those who add certificates of their own.
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
        try certificate(of: key.publicKey, subject: name, issuer: name, signedBy: key) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            SubjectKeyIdentifier(hash: key.publicKey)
        }
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
        return try certificate(
            of: publicKey, subject: DistinguishedName { CommonName("localhost") }, issuer: issuer, signedBy: issuerKey
        ) {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames(loopback)
            SubjectKeyIdentifier(hash: publicKey)
            AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuerKey.publicKey).keyIdentifier)
        }
    }

    private static func certificate(
        of key: Certificate.PublicKey, subject: DistinguishedName, issuer: DistinguishedName,
        signedBy issuerKey: Certificate.PrivateKey,
        @ExtensionsBuilder extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key,
            notValidBefore: Date.now.addingTimeInterval(-300), notValidAfter: Date.now.addingTimeInterval(30 * 86400),
            issuer: issuer, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions(builder: extensions), issuerPrivateKey: issuerKey)
    }
}
