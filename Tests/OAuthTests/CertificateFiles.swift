import Foundation
import Subprocess
import SystemPackage

/// Certificates and keys as administrators have them, created with openssl(1): all inputs of the tests of
/// `ClientCertificate`.
struct CertificateFiles: Sendable {
    /// The password of the encrypted ones.
    static let password = "s+/=&% sesame"

    /// Runs the body with their folder; they are created once for all tests.
    static func with(_ body: (CertificateFiles) async throws -> Void) async throws {
        let made = try await made.value
        try await withFolder { files in
            for (name, bytes) in made { try bytes.write(to: URL(filePath: files.path(name))) }
            try await body(files)
        }
    }

    private static let made = Task {
        try await withFolder { files in
            try await files.openssl(script)
            let names = try FileManager.default.contentsOfDirectory(atPath: files.folder)
            return try Dictionary(
                uniqueKeysWithValues: names.map { name in
                    (name, try Data(contentsOf: URL(filePath: files.path(name))))
                })
        }
    }

    private static func withFolder<Result>(_ body: (CertificateFiles) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(CertificateFiles(folder: folder.path))
    }

    let folder: String

    func path(_ name: String) -> String { "\(folder)/\(name)" }
    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// Concatenates files into one, and returns its path.
    func join(_ names: [String], as name: String = "joined.pem") throws -> String {
        try names.map(text).joined().write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    /// Returns a certificate's DER.
    func der(_ name: String) throws -> Data? {
        let lines = try text(name).split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Data(base64Encoded: lines.joined())
    }

    /// Runs a shell script in the folder; returns its output.
    @discardableResult
    func openssl(_ script: String) async throws -> String {
        let result = try await Subprocess.run(
            .path("/bin/sh"), arguments: ["-ec", script],
            environment: .inherit.updating(["PASSWORD": Self.password]), workingDirectory: FilePath(folder),
            input: .none,
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        guard result.terminationStatus.isSuccess else { throw OpenSSLFailure(words: result.standardError) }
        return result.standardOutput
    }

    private static let script = """
        make() { openssl req -x509 -nodes -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" -newkey "$2" $3 $4; }
        make app rsa:2048
        make other rsa:2048
        make small rsa:1024
        make ec ec -pkeyopt ec_paramgen_curve:P-256
        make ec384 ec -pkeyopt ec_paramgen_curve:P-384
        make ec521 ec -pkeyopt ec_paramgen_curve:P-521
        openssl x509 -in app.pem -trustout -setalias app -addtrust clientAuth -out app.trusted
        openssl rsa -in app.key -traditional -out app.pkcs1
        openssl rsa -in app.key -traditional -aes256 -passout env:PASSWORD -out app.dek
        openssl pkcs8 -topk8 -in app.key -out app.encrypted -passout env:PASSWORD
        export="openssl pkcs12 -export -inkey app.key -in app.pem"
        $export -certfile other.pem -passout env:PASSWORD -out app.p12
        $export -passout pass: -out empty.p12
        $export -passout pass: -keypbe NONE -certpbe NONE -out bare.p12
        $export -passout env:PASSWORD -keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1 -out older.p12
        openssl pkcs12 -export -nokeys -in app.pem -passout env:PASSWORD -out certificate.p12
        openssl pkcs12 -export -nocerts -inkey app.key -passout env:PASSWORD -out key.p12
        """
}

/// openssl(1) failed.
struct OpenSSLFailure: Error {
    var words: String
}
