import Addresses
import Crypto
import CryptoExtras
import FoundationEssentials
import JWTKit
import SwiftASN1
import X509

/// The certificate that the sandbox creates for its application, like one uploaded by an administrator.
struct ApplicationCertificate: Sendable {
    /// The key and certificate in one file.
    let pem: String
    /// The certificate's SHA-256 in base64url.
    let thumbprint: String
    private let keys: JWTKeyCollection

    init() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let name = try DistinguishedName { CommonName("lanyard sandbox application") }
        let own = Certificate.PrivateKey(key)
        let certificate = try Certificate(
            of: own.publicKey, subject: name, issuer: name, signedBy: own, extensions: Certificate.Extensions())
        let document = try certificate.serializeAsPEM()
        thumbprint = Base64URL.encode(SHA256.hash(data: document.derBytes))
        pem = key.pemRepresentation + "\n" + document.pemString + "\n"
        keys = try await JWTKeyCollection().add(
            pss: JWTKit.Insecure.RSA.PublicKey(backing: key.publicKey), digestAlgorithm: .sha256)
    }

    /// Whether the certificate's key signed a token with PS256.
    func hasSigned(_ token: String) async -> Bool {
        (try? await keys.verify(token, as: Claims.self)) != nil
    }
}
