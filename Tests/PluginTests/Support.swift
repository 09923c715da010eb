import Addresses
import Files
import FoundationEssentials
import Glibc
import Secrets
import Synchronization
import Testing

@testable import PluginHost
@testable import PluginWire

/// The folder of the built tests and plugins.
enum Built {
    static let folder = FileTrust.parent(of: FileTrust.realPath("/proc/self/exe") ?? "/")

    static func plugin(_ program: String, name: String, arguments: [String] = []) -> PluginManifest {
        var manifest = PluginManifest(name: name)
        manifest.executable = folder + "/" + program
        manifest.arguments = arguments
        manifest.authorities = [AuthorityPattern(hosts: ["login.example", "id.acme.example"], path: [.realm])]
        if program == "ExamplePlugin" {
            manifest.identities = [.client]
            manifest.exchanges = [PluginExchange(name: "door", hosts: ["*.doors.acme.example"], scopes: ["open"])]
        }
        return manifest
    }
}

extension PluginRegistry {
    /// The contents of the checked-in manifests.
    static let firstParty: PluginRegistry = {
        let plugins =
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path + "/plugins"
        let manifests = ["aad-b2c", "aad-common", "aad-tenant", "oauth"].compactMap { name in
            let file = "\(plugins)/\(name)/plugin.toml"
            return (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { text in
                try? ManifestReader(text, file: file).read().manifest
            }
        }
        return PluginRegistry(plugins: manifests)
    }()
}

extension AuthorityMatch {
    static func of(_ plugin: PluginManifest, hosts: [String] = ["login.example", "alias.example"]) throws -> Self {
        AuthorityMatch(
            plugin: plugin, authority: try #require(AuthorityURL("https://login.example/r")), environment: hosts[0],
            environmentHosts: hosts, realm: "r", sharedRealm: nil, policy: nil)
    }
}

extension PluginRequest {
    static func sample(_ operation: Operation = .authorize) -> PluginRequest {
        var request = PluginRequest(operation)
        request.authority = "https://login.example/r"
        request.clientID = "client"
        request.scopes = ["s1"]
        if operation == .renew { request.refreshToken = Secret("RT-secret") }
        return request
    }
}

/// A user who answers from a table, and otherwise waits until the task is cancelled.
final class FakeUser: UserInterface {
    private let reply: @Sendable (PluginEvent) -> PluginReply?
    private let shown = Mutex<[PluginEvent]>([])
    private let abandoned = Mutex(0)

    var events: [PluginEvent] { shown.withLock { $0 } }
    var abandonedCount: Int { abandoned.withLock { $0 } }

    init(_ reply: @escaping @Sendable (PluginEvent) -> PluginReply? = { _ in nil }) {
        self.reply = reply
    }

    func answer(_ event: PluginEvent) async -> PluginReply {
        shown.withLock { $0.append(event) }
        if let reply = reply(event) { return reply }
        try? await Task.sleep(for: .seconds(60))
        abandoned.withLock { $0 += 1 }
        return .done
    }

    func progress(_ message: String) async {
        shown.withLock { $0.append(.progress(message: message)) }
    }
}

/// Collects the output of a trace.
final class TraceLog: Sendable {
    private let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func listen(_ direction: PluginTraceDirection, _ line: String) {
        lines.withLock { $0.append("\(direction.rawValue) \(line)") }
    }
}

/// A folder for one test, removed afterwards.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        var template = "/tmp/lanyard-test-XXXXXX".utf8CString
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.flatMap { String(validatingCString: $0) }
        }
        path = try #require(made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ name: String, _ text: String, mode: mode_t = 0o644) throws -> String {
        let file = path + "/" + name
        makeFolders(FileTrust.parent(of: file))
        let stream = try #require(fopen(file, "w"))
        fputs(text, stream)
        fclose(stream)
        chmod(file, mode)
        return file
    }

    func link(_ name: String, to target: String) {
        makeFolders(FileTrust.parent(of: path + "/" + name))
        symlink(target, path + "/" + name)
    }

    private func makeFolders(_ folder: String) {
        guard folder != "/", mkdir(folder, 0o755) != 0, errno == ENOENT else { return }
        makeFolders(FileTrust.parent(of: folder))
        mkdir(folder, 0o755)
    }
}

/// Whether a process is alive; one that has ended but hasn't been reaped isn't.
func isAlive(_ pid: pid_t) -> Bool {
    guard kill(pid, 0) == 0, let file = fopen("/proc/\(pid)/stat", "r") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    guard fgets(&line, 512, file) != nil else { return false }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return !text.contains(") Z ")
}

/// Returns the contents of a text file.
func contents(of path: String) throws -> String {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}
