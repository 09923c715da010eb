import Addresses
import Foundation
import JSON
import Secrets
import Testing
import Vectors

@testable import OAuth

/// Certificates that applications authenticate with.
struct ClientCertificateTests {
    private static let endpoint = "https://login.example/tenant/oauth2/v2.0/token"
    private static let password = Secret(CertificateFiles.password)

    /// The parts of an assertion; the last is the signature.
    private struct Assertion {
        let header: JSONValue
        let claims: JSONValue
        let signed: Data
        let signature: Data

        init(_ text: Secret) throws {
            let parts = text.reveal().split(separator: ".", omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            let bytes = try parts.map { try #require(Base64URL.decode($0)) }
            header = try #require(JSONValue(bytes: bytes[0]))
            claims = try #require(JSONValue(bytes: bytes[1]))
            signed = Data("\(parts[0]).\(parts[1])".utf8)
            signature = Data(bytes[2])
        }
    }

    private static func assertion(
        _ path: String, sendsChain: Bool = false, at endpoint: String = endpoint, now: Date = .now
    ) async throws -> Assertion {
        let certificate = try ClientCertificate(file: path, password: nil)
        return try Assertion(
            certificate.assertion(of: "the-client", for: endpoint, sendsChain: sendsChain, now: now))
    }

    // MARK: Files

    @Test(arguments: MachineVectors.followed.filter { $0.category == "certificate" })
    func `a file is read`(_ vector: VectorCase) async throws {
        try await CertificateFiles.with { files in
            let isEC = vector.text("key_type") == "EC"
            let names = [
                "PRIVATE KEY": isEC ? "ec.key" : "app.key", "RSA PRIVATE KEY": "app.pkcs1",
                "CERTIFICATE": isEC ? "ec.pem" : vector.input["key_matches"] == .null ? "other.pem" : "app.pem",
            ]
            let blocks = vector.input["blocks"]?.elements.compactMap(\.string) ?? ["CERTIFICATE", "PRIVATE KEY"]
            let path =
                try vector.text("path").map(files.path) ?? vector.text("format").map { _ in files.path("app.p12") }
                ?? files.join(try blocks.map { try #require(names[$0]) }, as: vector.text("file_name") ?? "joined.pem")
            let password = vector.text("password").map { $0 == "right" ? Self.password : Secret("swordfish") }
            do throws(OAuthError) {
                _ = try ClientCertificate(file: path, password: password).assertion(of: "it", for: Self.endpoint)
                #expect(vector.expected("error") == nil)
            } catch {
                #expect(vector.expected("error") == "invalid-request" && error.kind == .invalidRequest, "\(error)")
                #expect(error.hint != nil && !error.message.contains("swordfish"))
                if let word = vector.expected("says") { #expect((error.message + (error.hint ?? "")).contains(word)) }
            }
        }
    }

    @Test(arguments: [(0o600, true), (0o644, true), (0o666, false), (0o602, false)])
    func `a file that anyone may write to is refused`(_ permissions: Int, _ isRead: Bool) async throws {
        try await CertificateFiles.with { files in
            let path = try files.join(["app.key", "app.pem"])
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
            do throws(OAuthError) {
                _ = try ClientCertificate(file: path, password: nil)
                #expect(isRead)
            } catch {
                #expect(!isRead && error.message.hasSuffix("can be written by any user"), "\(error.message)")
            }
        }
    }

    @Test func `every form that keys are kept in is read, with its password and without`() async throws {
        try await CertificateFiles.with { files in
            for name in ["app.p12", "older.p12", "app.dek", "app.encrypted"] {
                let path = try name.hasSuffix("p12") ? files.path(name) : files.join([name, "app.pem"])
                _ = try ClientCertificate(file: path, password: Self.password)
                for wrong in [nil, Secret(""), Secret("swordfish")] {
                    let error = #expect(throws: OAuthError.self) { try ClientCertificate(file: path, password: wrong) }
                    #expect(error?.kind == .invalidRequest && error?.hint?.contains("password") == true, "\(name)")
                }
            }
            for name in ["empty.p12", "bare.p12"] { _ = try ClientCertificate(file: files.path(name), password: nil) }
            // For a key without a password, no password is wrong.
            _ = try ClientCertificate(file: files.join(["app.key", "app.pem"]), password: Self.password)
        }
    }

    @Test func `a file is read as openssl reads it`() async throws {
        try await CertificateFiles.with { files in
            let (key, own, trusted) = (
                try files.text("app.key"), try files.text("app.pem"), try files.text("app.trusted")
            )
            let trimmed = [key, own].map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.joined()
            let mark = "\u{FEFF}"
            for text in [
                mark + key + own, mark + key + mark + own, mark + own + mark + key, key + trusted, trimmed,
                "Bag Attributes\n  friendlyName: app\n\(key)subject=/CN=app\n\n\(own)end\n",
                (key + own).replacing("\n", with: "\r\n"), key + own + "-----BEGIN CERTIFICATE-----\nnone",
            ] {
                let path = files.path("as-openssl.pem")
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                let sent = try await Self.assertion(path, sendsChain: true)
                #expect(sent.header["x5c"]?.elements.map(\.string) == [try files.der("app.pem")?.base64EncodedString()])
            }
        }
    }

    @Test func `what is no certificate with its one key says what is missing`() async throws {
        try await CertificateFiles.with { files in
            try Data(repeating: 0x30, count: 5_000).write(to: URL(filePath: files.path("noise.p12")))
            try Data().write(to: URL(filePath: files.path("empty.pem")))
            try Data(repeating: 0x41, count: 2 << 20).write(to: URL(filePath: files.path("huge.pem")))
            let broken = try files.text("app.pem").replacing("M", with: "N")
            try broken.write(toFile: files.path("broken.pem"), atomically: true, encoding: .utf8)
            let faults = [
                (files.path("certificate.p12"), "with a private key"), (files.path("key.p12"), "has no certificate"),
                (files.path("noise.p12"), "neither PEM nor PKCS #12"),
                (files.path("empty.pem"), "neither PEM nor PKCS #12"),
                (files.path("huge.pem"), "can't be read"), (files.folder, "can't be read"),
                (try files.join(["app.key", "broken.pem"], as: "1"), "has no certificate"),
                (try files.join(["app.key", "other.key", "app.pem"], as: "2"), "several private keys"),
                (try files.join(["small.key", "small.pem"], as: "3"), "shorter than 2048 bits"),
            ]
            for (path, words) in faults {
                let error = #expect(throws: OAuthError.self) { try ClientCertificate(file: path, password: nil) }
                #expect(error?.kind == .invalidRequest && error?.message.contains(words) == true, "\(path): \(error)")
                #expect(error?.hint != nil)
            }
        }
    }

    @Test func `an expired certificate is not used`() async throws {
        try await CertificateFiles.with { files in
            let path = try files.join(["app.key", "app.pem"])
            let error = await #expect(throws: OAuthError.self) {
                _ = try await Self.assertion(path, now: .now.addingTimeInterval(3 * 86_400))
            }
            #expect(error?.kind == .invalidRequest && error?.message.contains("expired on 20") == true, "\(error)")
        }
    }

    // MARK: Assertions

    /// The cases of the vectors that no test here runs.
    private static let leftOut: Set = ["assertion/adfs-is-rs256", "assertion/dsts-is-rs256"]

    @Test(
        arguments: MachineVectors.followed.filter { $0.category == "assertion" && !leftOut.contains($0.id) })
    func `an assertion is made`(_ vector: VectorCase) async throws {
        try await CertificateFiles.with { files in
            let path = try files.join(["app.key", "app.pem"])
            switch vector.id {
            case "assertion/pss-salt":
                let salt = try #require(vector.expect["salt_bytes"]?.wholeNumber)
                try await Self.verify(try await Self.assertion(path), files, salt: salt)
            case "assertion/thumbprint-base64url-unpadded":
                let digits = try #require(vector.text("sha256_hex"))
                let bytes = stride(from: 0, to: digits.count, by: 2).map {
                    UInt8(digits.dropFirst($0).prefix(2), radix: 16) ?? 0
                }
                #expect(Base64URL.encode(Data(bytes)) == vector.expected("x5t#S256"))
            case "assertion/x5c-leaf-first":
                let names = ["leaf": "app.pem", "intermediate": "other.pem", "root": "small.pem"]
                let order = try vector.texts("file_order").map { try #require(names[$0]) }
                let sent = try await Self.assertion(files.join(["app.key"] + order), sendsChain: true)
                let expected = try vector.expectedTexts("x5c").map {
                    try files.der(names[$0] ?? "")?.base64EncodedString()
                }
                #expect(sent.header["x5c"]?.elements.map(\.string) == expected)
            case "assertion/jti-unique":
                let made = try await [Self.assertion(path), Self.assertion(path)]
                #expect(made[0].claims["jti"] != made[1].claims["jti"])
            case "assertion/aud-follows-tenant":
                let tenant = try #require(vector.expected("aud_tenant"))
                let made = try await Self.assertion(path, at: "https://login.example/\(tenant)/token")
                #expect(made.claims["aud"]?.string == "https://login.example/\(tenant)/token")
            default: Issue.record("no test runs \(vector.id)")
            }
        }
    }

    /// Verifies the signature with openssl(1).
    private static func verify(_ assertion: Assertion, _ files: CertificateFiles, salt: Int) async throws {
        try assertion.signed.write(to: URL(filePath: files.path("signed")))
        try assertion.signature.write(to: URL(filePath: files.path("signature")))
        let printed = try await files.openssl(
            """
            openssl x509 -in app.pem -noout -pubkey >public.pem
            openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:\(salt) -sigopt rsa_mgf1_md:sha256 \
                -verify public.pem -signature signature signed
            """)
        #expect(printed == "Verified OK\n")
    }

    private static let signatures: [(key: String, accepted: [String]?, algorithm: String?)] = [
        ("app", nil, "RS256"), ("app", ["PS256", "ES256"], "PS256"), ("app", ["ES256", "HS256"], nil),
        ("ec", nil, "ES256"),
        ("ec384", ["RS256", "ES384"], "ES384"), ("ec521", nil, "ES512"), ("ec", ["RS256", "ES384"], nil),
    ]

    @Test(arguments: signatures)
    func `an assertion is signed as the key can and the issuer accepts`(
        _ name: String, _ accepted: [String]?, _ algorithm: String?
    ) async throws {
        try await CertificateFiles.with { files in
            let path = try files.join(["\(name).key", "\(name).pem"])
            let certificate = try ClientCertificate(file: path, password: nil)
            guard let algorithm else {
                let error = #expect(throws: OAuthError.self) {
                    try certificate.assertion(of: "it", for: Self.endpoint, by: accepted)
                }
                #expect(error?.kind == .invalidRequest && error?.message.contains(" is accepted") == true, "\(error)")
                return
            }
            let sent = try Assertion(certificate.assertion(of: "it", for: Self.endpoint, by: accepted))
            #expect(sent.header["alg"]?.string == algorithm)
            if name != "app" { try await Self.verifyCurve(sent, files, name, "sha\(algorithm.suffix(3))") }
        }
    }

    /// Verifies the signature of an elliptic curve's key with openssl(1), which has its two numbers in ASN.1.
    private static func verifyCurve(
        _ assertion: Assertion, _ files: CertificateFiles, _ name: String, _ hash: String
    ) async throws {
        try assertion.signed.write(to: URL(filePath: files.path("signed")))
        let half = assertion.signature.count / 2
        let numbers = [assertion.signature.prefix(half), assertion.signature.suffix(half)].map { number in
            number.map { String(format: "%02x", $0) }.joined()
        }
        try "asn1=SEQUENCE:s\n[s]\nr=INTEGER:0x\(numbers[0])\ns=INTEGER:0x\(numbers[1])\n"
            .write(toFile: files.path("signature.conf"), atomically: true, encoding: .utf8)
        let printed = try await files.openssl(
            """
            openssl asn1parse -genconf signature.conf -noout -out signature
            openssl x509 -in \(name).pem -noout -pubkey >public.pem
            openssl dgst -\(hash) -verify public.pem -signature signature signed
            """)
        #expect(printed == "Verified OK\n")
    }

    @Test func `an assertion says who is meant, for whom and for how long, and nothing else`() async throws {
        try await CertificateFiles.with { files in
            let path = try files.join(["app.pem", "app.key"])
            let fingerprint = try await files.openssl(
                "openssl x509 -in app.pem -outform DER | openssl dgst -sha256 -binary | base64")
            let made = try await Self.assertion(path)
            #expect(made.header.members?.keys.sorted() == ["alg", "typ", "x5t#S256"])
            #expect(made.header["alg"] == "PS256" && made.header["typ"] == "JWT")
            let thumbprint = fingerprint.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }
            #expect(made.header["x5t#S256"]?.string == String(thumbprint))
            #expect(made.claims.members?.keys.sorted() == ["aud", "exp", "iat", "iss", "jti", "nbf", "sub"])
            #expect(made.claims["iss"] == "the-client" && made.claims["sub"] == "the-client")
            #expect(made.claims["aud"]?.string == Self.endpoint)
            let start = try #require(made.claims["iat"]?.wholeNumber)
            #expect(abs(start - Int(Date.now.timeIntervalSince1970)) < 60)
            #expect(made.claims["nbf"]?.wholeNumber == start && made.claims["exp"]?.wholeNumber == start + 600)
            #expect(made.claims["jti"]?.string.flatMap(UUID.init) != nil)
        }
    }
}
