import Foundation
import SystemPackage

/// A real third-party OpenID Connect issuer on a loopback port, over HTTPS.
///
/// script/get issuers gets the programs; script/test passes their folder in `LANYARD_ISSUERS`.
package struct ThirdPartyIssuer: Decodable, Sendable {
    /// The issuer's program.
    package enum Kind: String, CaseIterable, Decodable, Sendable { case canaille, glewlwyd, nanoidp }

    /// The folder with the programs; nil if script/test couldn't get them.
    package static let programs = ProcessInfo.processInfo.environment["LANYARD_ISSUERS"]

    /// The issuer's program.
    package let kind: Kind
    /// Its identifier, used for discovery; glewlwyd's has a path.
    package let issuer: String
    /// The certificate to trust.
    package let caFile: String
    /// A public client for authorization codes, refresh tokens and, if the issuer supports them, device codes.
    package let clientID: String
    /// The user who signs in; `bob` is another.
    package let username: String
    /// The password of all users.
    package let password: String
    /// The port of the registered redirect URI; nil if any port is accepted.
    package let redirectPort: Int?

    private enum CodingKeys: String, CodingKey {
        case kind, issuer, username, password
        case caFile = "ca_file"
        case clientID = "client_id"
        case redirectPort = "redirect_port"
    }

    /// A `$BROWSER` that signs in.
    package var browser: String { "'\(Self.scripts)/third-party-sign-in' \(folder)" }

    /// lanyard's name for the account; only one of the issuers tells clients the user name.
    package var shownName: String { kind == .nanoidp ? username : "\(username)@example.org" }

    /// Whether a public client can revoke tokens.
    package var takesTokensBack: Bool { kind == .nanoidp }

    /// Opens the page with a device's code in its URL, signs in, and approves the device.
    package func approve(at page: String) async throws -> Ended {
        try await run(
            "\(Self.scripts)/third-party-sign-in", [folder, "--device", page], environment: ["PATH": Programs.folder])
    }

    /// The end of what its program has written, for a test that fails.
    package var lastOutput: String {
        String(decoding: (FileManager.default.contents(atPath: folder + "/log") ?? Data()).suffix(3000), as: UTF8.self)
    }

    fileprivate static let scripts = Built.checkout + "/Tests/TestSupport/Scripts"
    private var folder: String { URL(fileURLWithPath: caFile).deletingLastPathComponent().path }

    /// Returns an issuer of a kind that runs until the tests end; the first caller starts it.
    package static func shared(_ kind: Kind) async throws -> ThirdPartyIssuer {
        try await ThirdPartyIssuers.shared.issuer(kind)
    }
}

/// The running issuers.
private actor ThirdPartyIssuers {
    static let shared = ThirdPartyIssuers()
    private var issuers: [ThirdPartyIssuer.Kind: Task<ThirdPartyIssuer, any Error>] = [:]
    /// The issuers' inputs: each issuer exits when its input is closed, which happens when this process exits.
    private var inputs: [FileDescriptor] = []

    func issuer(_ kind: ThirdPartyIssuer.Kind) async throws -> ThirdPartyIssuer {
        let task = issuers[kind] ?? Task { try await start(kind) }
        issuers[kind] = task
        return try await task.value
    }

    private func start(_ kind: ThirdPartyIssuer.Kind) async throws -> ThirdPartyIssuer {
        guard let programs = ThirdPartyIssuer.programs else {
            throw ThirdPartyIssuerError("script/get issuers was not run")
        }
        let folder = "/tmp/lanyard-\(kind)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let log = try FileDescriptor.open(
            FilePath(folder + "/log"), .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        // The child of another test must not keep the pipe open.
        let pipe = try FileDescriptor.pipe(options: .closeOnExec)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: programs + "/python/bin/python3")
        process.arguments = ["\(ThirdPartyIssuer.scripts)/third-party-issuer", kind.rawValue, folder]
        process.environment = ["PATH": Programs.folder, "HOME": folder, "LANG": "C.UTF-8"]
        process.standardInput = FileHandle(fileDescriptor: pipe.readEnd.rawValue, closeOnDealloc: true)
        process.standardOutput = FileHandle(fileDescriptor: log.rawValue, closeOnDealloc: true)
        process.standardError = FileHandle.nullDevice
        try process.run()
        inputs.append(pipe.writeEnd)
        return try await started(in: folder)
    }

    /// Waits until the issuer in a folder is ready.
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

/// The issuer didn't start.
package struct ThirdPartyIssuerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
