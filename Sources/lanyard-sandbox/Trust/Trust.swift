import Addresses
import Crypto
import CryptoExtras
import FoundationEssentials
public import JSON
public import JWTKit
import NIOSSL
import SwiftASN1
import X509

/// The keys and certificates of a sandbox; creating them takes most of its start-up time.
struct Trust: Sendable {
    let key: SigningKey
    let certificates: Certificates
    let applicationCertificate: ApplicationCertificate

    init() async throws {
        key = try await SigningKey()
        certificates = try Certificates()
        applicationCertificate = try await ApplicationCertificate()
    }
}

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
            SubjectAlternativeNames(loopback + CloudRepositories.hosts.map(GeneralName.dnsName))
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

/// The key that signs and verifies this sandbox's tokens.
struct SigningKey: Sendable {
    private let keys: JWTKeyCollection
    private let identifier: String
    /// The JSON Web Key Set that the authority publishes (RFC 7517).
    let published: JSONValue

    init() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let primitives = try key.publicKey.getKeyPrimitives()
        identifier = newSecret(bytes: 20)
        keys = try await JWTKeyCollection().add(
            rsa: Insecure.RSA.PrivateKey(backing: key), digestAlgorithm: .sha256,
            kid: JWKIdentifier(string: identifier))
        published = [
            "keys": [
                [
                    "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(identifier), "x5t": .string(identifier),
                    "n": .string(Base64URL.encode(primitives.modulus)),
                    "e": .string(Base64URL.encode(primitives.publicExponent)),
                ]
            ]
        ]
    }

    func sign(_ claims: Claims) async throws -> String {
        try await keys.sign(claims, kid: JWKIdentifier(string: identifier), header: ["typ": "JWT", "alg": "RS256"])
    }

    /// Returns the claims of a token signed with this key; nil for anything else, including `alg: none`.
    ///
    /// The caller must check the expiry and audience.
    func verify(_ token: String) async -> Claims? {
        guard let header = Claims(part: token.prefix { $0 != "." }),
            header["alg"]?.string == "RS256", header["kid"]?.string == identifier
        else { return nil }
        return try? await keys.verify(token, as: Claims.self)
    }
}

/// A token's claims, or its header.
typealias Claims = [String: JSONValue]

extension Claims: @retroactive JWTPayload {
    /// Reads a part of a token; nil if it is no JSON object in base64.
    init?(part: Substring) {
        guard let bytes = Base64URL.decode(part), let members = JSONValue(bytes: bytes)?.members else { return nil }
        self = members
    }

    /// Does nothing: each resource checks the claims itself.
    public func verify(using algorithm: some JWTAlgorithm) {}
}
