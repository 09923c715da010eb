import Foundation
import SystemPackage

/// A real OpenID Connect issuer of somebody else's, on a loopback port, over HTTPS.
///
/// script/issuers gets the programs; script/test says in `LANYARD_ISSUERS` where they are.
package struct ThirdPartyIssuer: Decodable, Sendable {
    /// Which program it is.
    package enum Kind: String, CaseIterable, Decodable, Sendable { case canaille, glewlwyd, nanoidp }

    /// The folder with the programs; nil if script/test couldn't get them.
    package static let programs = ProcessInfo.processInfo.environment["LANYARD_ISSUERS"]

    /// Which program it is.
    package let kind: Kind
    /// Its identifier, which discovery starts from; glewlwyd's has a path.
    package let issuer: String
    /// The certificate to trust.
    package let caFile: String
    /// A public client for authorization codes and refresh tokens and, if the issuer has them, device codes.
    package let clientID: String
    /// Who signs in, besides `bob`.
    package let username: String
    /// The password of everybody.
    package let password: String
    /// The port that the redirect URI is registered with; nil if any will do.
    package let redirectPort: Int?

    private enum CodingKeys: String, CodingKey {
        case kind, issuer, username, password
        case caFile = "ca_file"
        case clientID = "client_id"
        case redirectPort = "redirect_port"
    }

    /// A `$BROWSER` that signs in.
    package var browser: String { "\(Self.scripts)/third-party-sign-in \(folder)" }

    /// What lanyard calls who signs in: only one of them tells a client user names.
    package var shownName: String { kind == .nanoidp ? username : "\(username)@example.org" }

    /// Whether it takes tokens back from a client without a secret.
    package var takesTokensBack: Bool { kind == .nanoidp }

    /// Signs in at the page that has a device's code in its address, and says yes.
    package func approve(at page: String) async throws -> Ended {
        try await run(
            "\(Self.scripts)/third-party-sign-in", [folder, "--device", page], environment: ["PATH": "/usr/bin:/bin"])
    }

    fileprivate static let scripts = Built.checkout + "/Tests/TestSupport/Scripts"
    private var folder: String { URL(fileURLWithPath: caFile).deletingLastPathComponent().path }

    /// An issuer of a kind that serves until the tests end; whoever asks first starts it.
    package static func shared(_ kind: Kind) async throws -> ThirdPartyIssuer {
        try await ThirdPartyIssuers.shared.issuer(kind)
    }
}

/// The issuers that were started.
private actor ThirdPartyIssuers {
    static let shared = ThirdPartyIssuers()
    private var issuers: [ThirdPartyIssuer.Kind: Task<ThirdPartyIssuer, any Error>] = [:]
    /// What they read from: each ends when that is closed, which the end of this process does.
    private var inputs: [FileDescriptor] = []

    func issuer(_ kind: ThirdPartyIssuer.Kind) async throws -> ThirdPartyIssuer {
        let task = issuers[kind] ?? Task { try await start(kind) }
        issuers[kind] = task
        return try await task.value
    }

    private func start(_ kind: ThirdPartyIssuer.Kind) async throws -> ThirdPartyIssuer {
        guard let programs = ThirdPartyIssuer.programs else {
            throw ThirdPartyIssuerError("script/issuers was not run")
        }
        let folder = "/tmp/lanyard-\(kind)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let log = try FileDescriptor.open(
            FilePath(folder + "/log"), .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        // A child of another test's must not keep it open.
        let pipe = try FileDescriptor.pipe(options: .closeOnExec)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: programs + "/python/bin/python3")
        process.arguments = ["\(ThirdPartyIssuer.scripts)/third-party-issuer", kind.rawValue, folder]
        process.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"]
        process.standardInput = FileHandle(fileDescriptor: pipe.readEnd.rawValue, closeOnDealloc: true)
        process.standardOutput = FileHandle(fileDescriptor: log.rawValue, closeOnDealloc: true)
        process.standardError = FileHandle.nullDevice
        try process.run()
        inputs.append(pipe.writeEnd)
        return try await started(in: folder)
    }

    /// Waits until the issuer that was started in a folder serves.
    private func started(in folder: String) async throws -> ThirdPartyIssuer {
        for _ in 0..<12000 {
            if let file = FileManager.default.contents(atPath: folder + "/issuer.json") {
                return try JSONDecoder().decode(ThirdPartyIssuer.self, from: file)
            }
            if FileManager.default.fileExists(atPath: folder + "/failed") { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        let said = try? String(contentsOfFile: folder + "/log", encoding: .utf8)
        throw ThirdPartyIssuerError("the issuer did not start: \(said ?? "")")
    }
}

/// An issuer that doesn't come up.
package struct ThirdPartyIssuerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
