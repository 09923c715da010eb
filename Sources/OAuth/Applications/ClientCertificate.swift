import Addresses
import Crypto
import CryptoExtras
import Files
package import FoundationEssentials
import NIOSSL
package import Secrets

/// A certificate that an application proves itself with, and its private key.
package struct ClientCertificate: Sendable {
    /// What the file is called, for messages.
    private let path: String
    /// The certificates as DER, that of the key first.
    private let chain: [[UInt8]]
    private let key: _RSA.Signing.PrivateKey
    /// When the key's certificate ends.
    private let end: Date

    /// The longest file that is read, in bytes.
    private static let longestFile = 1 << 20

    /// Reads a file: PEM if it holds `-----BEGIN`, otherwise PKCS #12, encrypted or not.
    ///
    /// - Throws: `invalidRequest` if it can't be read, lacks its certificate or its one RSA key, or doesn't open with the password.
    package init(file path: String, password: Secret?) throws(OAuthError) {
        let bytes: [UInt8]
        do throws(FileProblem) {
            bytes = try OpenFile(path).contents(atMost: Self.longestFile)
        } catch {
            throw .certificate(path, "can't be read: \(error.reason)", "check the path and who may read the file")
        }
        let isPEM = bytes.firstRange(of: "-----BEGIN".utf8) != nil
        let (certificates, key) =
            try isPEM ? Self.readPEM(bytes, path, password) : Self.readPKCS12(bytes, path, password)
        let rsa = try Self.rsaKey(key, path)
        let publicKey = rsa.publicKey.derRepresentation
        let own = certificates.first { certificate in
            (try? certificate.extractPublicKey().toSPKIBytes()).map { Data($0) } == publicKey
        }
        guard let own, let first = try? own.toDERBytes() else {
            throw .certificate(path, "has no certificate for its private key", "put a matching pair into the file")
        }
        self.path = path
        self.key = rsa
        end = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
        chain = [first] + certificates.filter { $0 != own }.compactMap { try? $0.toDERBytes() }
    }

    private static func readPEM(
        _ bytes: [UInt8], _ path: String, _ password: Secret?
    ) throws(OAuthError) -> ([NIOSSLCertificate], NIOSSLPrivateKey) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw .certificate(path, "has no certificate", "add it to the private key: cat key.pem certificate.pem")
        }
        switch text.split(separator: "-----BEGIN ").count(where: { $0.isOfPrivateKey }) {
        case 1: break
        case 0: throw .certificate(path, "has no private key", "add it to the certificate: cat key.pem certificate.pem")
        default: throw .certificate(path, "has several private keys", "keep only the certificate's")
        }
        do {
            let key = try NIOSSLPrivateKey(bytes: bytes, format: .pem) { (give: NIOSSLPassphraseSetter<[UInt8]>) in
                give(Array((password?.reveal() ?? "").utf8))
            }
            return (certificates, key)
        } catch {
            throw .unopened(path, hasPassword: password != nil)
        }
    }

    private static func readPKCS12(
        _ bytes: [UInt8], _ path: String, _ password: Secret?
    ) throws(OAuthError) -> ([NIOSSLCertificate], NIOSSLPrivateKey) {
        // The reader ends the process over a bundle that lacks either.
        guard Bag.keys.contains(where: { bytes.firstRange(of: $0.bytes) != nil }) else {
            throw .certificate(
                path, "is neither PEM nor PKCS #12 with a private key", "export the certificate with its key")
        }
        guard Bag.certificates.contains(where: { bytes.firstRange(of: $0.bytes) != nil }) else {
            throw .certificate(path, "has no certificate", "export the key with its certificate")
        }
        // No password is written in two ways: as none, and as an empty one.
        let passwords: [[UInt8]?] = password.map { [Array($0.reveal().utf8)] } ?? [nil, []]
        for password in passwords {
            if let bundle = try? NIOSSLPKCS12Bundle(buffer: bytes, passphrase: password) {
                return (bundle.certificateChain, bundle.privateKey)
            }
        }
        throw .unopened(path, hasPassword: password != nil)
    }

    /// The object identifiers of what a PKCS #12 file holds, in DER (RFC 7292, 4.2).
    private enum Bag: UInt8 {
        case key = 1
        case shroudedKey = 2
        case certificate = 3
        /// Not a bag, but what hides bags: encrypted data (RFC 2315, 13).
        case encrypted = 0

        static let keys: [Bag] = [.key, .shroudedKey]
        static let certificates: [Bag] = [.certificate, .encrypted]

        var bytes: [UInt8] {
            switch self {
            case .encrypted: [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x06]
            default: [0x06, 0x0B, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, rawValue]
            }
        }
    }

    private static func rsaKey(_ key: NIOSSLPrivateKey, _ path: String) throws(OAuthError) -> _RSA.Signing.PrivateKey {
        do {
            return try _RSA.Signing.PrivateKey(derRepresentation: key.derBytes)
        } catch {
            throw .certificate(
                path, "has a private key that is not RSA, or shorter than 2048 bits",
                "make an RSA key of 2048 bits or more")
        }
    }
}

extension ClientCertificate {
    /// Makes an assertion that the client is itself, for one request (RFC 7523, 3).
    ///
    /// It is good for ten minutes, signed with PS256, and names the certificate by its SHA-256 thumbprint, as Entra wants it.
    ///
    /// - Parameters:
    ///   - client: the client ID, which issues it and is its subject.
    ///   - audience: the token endpoint that it is sent to.
    ///   - sendsChain: whether the certificates go along (`x5c`), for an authority that trusts their issuer.
    ///   - now: the time.
    /// - Returns: the assertion.
    /// - Throws: `invalidRequest` if the certificate has expired.
    package func assertion(
        of client: String, for audience: String, sendsChain: Bool, now: Date = .now
    ) throws(OAuthError) -> Secret {
        guard now < end else {
            let day = end.formatted(Date.ISO8601FormatStyle().year().month().day())
            throw .certificate(path, "expired on \(day)", "get a new certificate, and register it with the application")
        }
        let moment = Int(now.timeIntervalSince1970)
        let claims = AssertionClaims(
            aud: audience, iss: client, sub: client, jti: UUID().uuidString.lowercased(), nbf: moment, iat: moment,
            exp: moment + 600)
        let header = AssertionHeader(
            thumbprint: Base64URL.encode(SHA256.hash(data: chain[0])),
            x5c: sendsChain ? chain.map { Data($0).base64EncodedString() } : nil)
        do {
            let encoder = JSONEncoder()
            let signed = try "\(Base64URL.encode(encoder.encode(header))).\(Base64URL.encode(encoder.encode(claims)))"
            let signature = try key.signature(for: SHA256.hash(data: Data(signed.utf8)), padding: .PSS)
            return Secret("\(signed).\(Base64URL.encode(signature.rawRepresentation))")
        } catch {
            throw .certificate(path, "has a private key that doesn't sign", "make a new pair")
        }
    }
}

/// RFC 7515, 4.1.
private struct AssertionHeader: Encodable {
    let alg = "PS256"
    let typ = "JWT"
    let thumbprint: String
    let x5c: [String]?

    private enum CodingKeys: String, CodingKey {
        case alg, typ, x5c
        case thumbprint = "x5t#S256"
    }
}

/// RFC 7523, 3.
private struct AssertionClaims: Encodable {
    let aud: String
    let iss: String
    let sub: String
    let jti: String
    let nbf: Int
    let iat: Int
    let exp: Int
}

extension Substring {
    /// Whether a PEM block, less its `-----BEGIN `, is a private key's: `PRIVATE KEY`, `RSA PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`.
    fileprivate var isOfPrivateKey: Bool {
        guard let end = utf8.firstRange(of: "-----".utf8) else { return false }
        return self[..<end.lowerBound].utf8.reversed().starts(with: "PRIVATE KEY".utf8.reversed())
    }
}

extension OAuthError {
    /// What is wrong with a certificate's file, and what to do about it.
    fileprivate static func certificate(_ path: String, _ fault: String, _ hint: String) -> OAuthError {
        OAuthError(.invalidRequest, "the certificate \(path.displayable(limit: 300)) \(fault)", hint: hint)
    }

    fileprivate static func unopened(_ path: String, hasPassword: Bool) -> OAuthError {
        hasPassword
            ? certificate(path, "does not open with its password", "check the password; the file may be damaged, too")
            : certificate(
                path, "can't be read as PEM or PKCS #12 without a password", "if it is encrypted, give its password")
    }
}
