import Addresses
import CCrypto
import Crypto
import Files
package import FoundationEssentials
import HTTP
import JSON
package import Secrets
import SwiftASN1
import X509

/// The private key that an application authenticates with, and its certificate, if the authority knows the key by that.
package struct ClientCertificate: Sendable {
    /// The file's path, for error messages.
    private let path: String
    /// The certificates as DER, starting with the one that belongs to the key; empty for a key alone.
    private let chain: [[UInt8]]
    private let key: SigningKey
    /// The expiry date of the key's certificate; nil for a key alone.
    private let end: Date?

    /// The size limit of the file, in bytes.
    private static let longestFile = 1 << 20

    /// Reads a file: PEM if it contains `-----BEGIN`, otherwise PKCS #12, encrypted or not.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - password: What opens it.
    ///   - mayBeKey: Whether a key alone will do, because the authority knows it without a certificate.
    /// - Throws: `invalidRequest` if the file can't be read, lacks the certificate or exactly one key that can sign,
    ///   or the password doesn't open it.
    package init(file path: String, password: Secret?, mayBeKey: Bool = false) throws(OAuthError) {
        let (bytes, isWritableByAll): ([UInt8], Bool)
        do throws(FileError) {
            let file = try OpenFile(path)
            (bytes, isWritableByAll) = (try file.contents(atMost: Self.longestFile), try file.status().grants(0o002))
        } catch {
            throw .certificate(path, "can't be read: \(error.reason)", "check the path and who may read the file")
        }
        guard !isWritableByAll else {
            throw .certificate(path, "can be written by any user", "check that it is yours, and make it private")
        }
        let file = PEMFile(bytes)
        let parts =
            try file.blocks.isEmpty
            ? Self.readPKCS12(bytes, path, password)
            : Self.readPEM(file, path, password, mayBeKey: mayBeKey)
        let key = try Self.signingKey(parts.key, path)
        guard !parts.certificates.isEmpty else {
            (self.path, self.key, end, chain) = (path, key, nil, [])
            return
        }
        // A chain may hold what isn't read here, such as keys of other kinds.
        let own = parts.certificates.lazy.compactMap { try? Certificate(derEncoded: $0) }
            .first { $0.publicKey.subjectPublicKeyInfoBytes.elementsEqual(key.publicKey) }
        guard let own, let first = own.der else {
            throw .certificate(path, "has no certificate for its private key", "put a matching pair into the file")
        }
        self.path = path
        self.key = key
        end = own.notValidAfter
        chain = [first] + parts.certificates.filter { $0 != first }
    }

    /// Reads a private key alone: PEM, without a password.
    ///
    /// - Parameters:
    ///   - pem: The key.
    ///   - path: The file that holds it.
    /// - Throws: `invalidRequest` if it isn't one key that can sign.
    package init(key pem: Secret, in path: String) throws(OAuthError) {
        let parts = try Self.readPEM(PEMFile(Array(pem.reveal().utf8)), path, nil, mayBeKey: true)
        (self.path, key, end, chain) = (path, try Self.signingKey(parts.key, path), nil, [])
    }

    private static func readPEM(
        _ file: PEMFile, _ path: String, _ password: Secret?, mayBeKey: Bool
    ) throws(OAuthError) -> Parts {
        let certificates = file.certificates
        guard mayBeKey || !certificates.isEmpty else {
            throw .certificate(path, "has no certificate", "add it to the private key: cat key.pem certificate.pem")
        }
        switch file.blocks.count(where: { $0.label.hasSuffix("PRIVATE KEY") }) {
        case 1: break
        case 0: throw .certificate(path, "has no private key", "add it to the certificate: cat key.pem certificate.pem")
        default: throw .certificate(path, "has several private keys", "keep only the certificate's")
        }
        guard let parts = try read(Array(file.text.utf8), path, password?.reveal() ?? "") else {
            throw .unopened(path, hasPassword: password != nil)
        }
        return Parts(key: parts.key, certificates: certificates)
    }

    private static func readPKCS12(
        _ bytes: [UInt8], _ path: String, _ password: Secret?
    ) throws(OAuthError) -> Parts {
        guard keyBags.contains(where: { bytes.firstRange(of: $0) != nil }) else {
            throw .certificate(
                path, "is neither PEM nor PKCS #12 with a private key", "export the certificate with its key")
        }
        guard certificateBags.contains(where: { bytes.firstRange(of: $0) != nil }) else {
            throw .certificate(path, "has no certificate", "export the key with its certificate")
        }
        // A missing password has two encodings: no password, and an empty one.
        for password in password.map({ [$0.reveal()] }) ?? [nil, ""] {
            if let parts = try read(bytes, path, password) { return parts }
        }
        throw .unopened(path, hasPassword: password != nil)
    }

    /// What a private key is in: a key bag or, if it is encrypted, a shrouded one.
    private static let keyBags = [bag(1), bag(2)]
    /// What a certificate is in: a certificate bag, or encrypted data that contains bags (RFC 2315, 13).
    private static let certificateBags = [bag(3), [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x06]]

    /// Returns the object identifier of a kind of content of a PKCS #12 file, in DER (RFC 7292, 4.2).
    private static func bag(_ number: UInt8) -> [UInt8] {
        [0x06, 0x0B, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, number]
    }

    /// Has OpenSSL read a file, whatever it is encrypted with; nil if the password doesn't open it.
    private static func read(_ bytes: [UInt8], _ path: String, _ password: String?) throws(OAuthError) -> Parts? {
        var parts = Parts()
        let result = withUnsafeMutablePointer(to: &parts) { parts in
            lanyard_certificate_read(
                bytes, bytes.count, password,
                { data, isKey, der, length in
                    let bytes = Array(UnsafeBufferPointer(start: der, count: length))
                    data?.withMemoryRebound(to: Parts.self, capacity: 1) { parts in
                        if isKey { parts.pointee.key = bytes } else { parts.pointee.certificates.append(bytes) }
                    }
                }, parts)
        }
        switch result {
        case LANYARD_CERTIFICATE_READ: return parts
        case LANYARD_CERTIFICATE_UNOPENED: return nil
        default:
            throw .certificate(
                path, "can't be read without OpenSSL's libcrypto",
                "sudo apt install libssl3, sudo dnf install openssl-libs, or sudo pacman -S openssl")
        }
    }

    /// What a file holds, in DER.
    private struct Parts {
        var key: [UInt8] = []
        var certificates: [[UInt8]] = []
    }

    private static func signingKey(_ key: [UInt8], _ path: String) throws(OAuthError) -> SigningKey {
        guard let key = SigningKey(der: key) else {
            throw .certificate(
                path, "has a private key that is neither RSA nor of a usual curve, or shorter than 2048 bits",
                "make an RSA key of 2048 bits or more, or one of the curve P-256")
        }
        return key
    }
}

extension ClientCertificate {
    /// Creates a client assertion for one request (RFC 7523, 3).
    ///
    /// It is valid for ten minutes, and names the certificate, if there is one, by its SHA-256 thumbprint, as Entra
    /// requires.
    ///
    /// - Parameters:
    ///   - client: The client ID, used as issuer and subject.
    ///   - audience: The token endpoint that receives the assertion.
    ///   - sendsChain: Whether to include the certificates (`x5c`), for an authority that trusts their issuer.
    ///   - algorithms: The algorithms that the authority accepts; nil if it doesn't say.
    ///   - now: The current time.
    /// - Returns: The assertion.
    /// - Throws: `invalidRequest` if the certificate has expired, or its key is for other algorithms.
    package func assertion(
        of client: String, for audience: String, sendsChain: Bool = false, by algorithms: [String]? = ["PS256"],
        now: Date = .now
    ) throws(OAuthError) -> Secret {
        let moment = Int(now.timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "aud": .string(audience), "iss": .string(client), "sub": .string(client),
            "jti": .string(UUID().uuidString.lowercased()), "nbf": JSONValue(moment), "iat": JSONValue(moment),
            "exp": JSONValue(moment + 600),
        ]
        var header: [String: JSONValue] = [:]
        header["x5t#S256"] = chain.first.map { .string(Base64URL.encode(SHA256.hash(data: $0))) }
        if sendsChain { header["x5c"] = JSONValue(strings: chain.map { Data($0).base64EncodedString() }) }
        return try signed(claims, header, by: algorithms, now)
    }

    /// Creates the token by which GitHub knows one of its Apps, for a request in the next minutes.
    ///
    /// GitHub refuses one that begins later than now or ends later than in ten minutes, both by its own clock.
    package func appToken(of app: String, now: Date = .now) throws(OAuthError) -> Secret {
        let moment = Int(now.timeIntervalSince1970)
        return try signed(
            ["iss": .string(app), "iat": JSONValue(moment - 60), "exp": JSONValue(moment + 540)], by: ["RS256"], now)
    }

    /// What a service account asks for with its signature, besides saying who it is.
    package struct Grant: Sendable {
        /// The scopes of an access token, separated by blanks.
        package var scope: String?
        /// The audience of an ID token.
        package var targetAudience: String?

        /// Creates what is asked for.
        package init(scope: String? = nil, targetAudience: String? = nil) {
            (self.scope, self.targetAudience) = (scope, targetAudience)
        }
    }

    /// Creates the assertion by which a service account gets a token (RFC 7523, 2.1); it is valid for an hour.
    ///
    /// - Parameters:
    ///   - grant: What is asked for.
    ///   - account: The account, by its address.
    ///   - keyID: The key's name at the authority.
    ///   - audience: The token endpoint that receives the assertion.
    ///   - now: The current time.
    /// - Returns: The assertion.
    /// - Throws: `invalidRequest` if the key doesn't sign.
    package func grant(
        _ grant: Grant, of account: String, keyID: String?, for audience: String, now: Date = .now
    ) throws(OAuthError) -> Secret {
        let moment = Int(now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "aud": .string(audience), "iss": .string(account), "iat": JSONValue(moment),
            "exp": JSONValue(moment + 3600),
        ]
        claims["scope"] = grant.scope.map(JSONValue.string)
        claims["target_audience"] = grant.targetAudience.map(JSONValue.string)
        return try signed(claims, keyID.map { ["kid": .string($0)] } ?? [:], by: ["RS256"], now)
    }

    /// Signs claims (RFC 7523, 3), with further members of the JOSE header (RFC 7515, 4.1).
    private func signed(
        _ claims: [String: JSONValue], _ further: [String: JSONValue] = [:], by algorithms: [String]?, _ now: Date
    ) throws(OAuthError) -> Secret {
        if let end, now >= end {
            let day = end.formatted(Date.ISO8601FormatStyle().year().month().day())
            throw .certificate(path, "expired on \(day)", "get a new certificate, and register it with the application")
        }
        guard let algorithm = key.algorithms.first(where: { algorithms?.contains($0) ?? true }) else {
            let accepted = (algorithms ?? []).joined(separator: ", ").displayable(limit: 100)
            let own = key.algorithms.joined(separator: " and ")
            throw .certificate(
                path, "has a private key for \(own), and only \(accepted) is accepted",
                "make another key: RSA for RS and PS, an elliptic curve's for ES")
        }
        do {
            let header = JSONValue.object(further).merging(["alg": .string(algorithm), "typ": "JWT"])
            let signed = [header, .object(claims)].map { Base64URL.encode($0.encoded()) }.joined(separator: ".")
            let signature = try key.sign(Data(signed.utf8), by: algorithm)
            return Secret("\(signed).\(Base64URL.encode(signature))")
        } catch {
            throw .certificate(path, "has a private key that doesn't sign", "make a new pair")
        }
    }
}

extension OAuthError {
    /// Returns an error that says what is wrong with a certificate file and how to fix it.
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

extension Certificate {
    /// The certificate's encoding.
    fileprivate var der: [UInt8]? {
        var serializer = DER.Serializer()
        return (try? serializer.serialize(self)).map { serializer.serializedBytes }
    }
}
