import Files
import FoundationEssentials
import Glibc
import Synchronization

/// The keys that the agent has written, each valid for one token.
///
/// Programs read them at `/var/opt/azcmagent/tokens` only. The sandbox writes them to its own folder; to try it, make
/// that folder appear there.
final class ArcKeys: Sendable {
    static let place = "/var/opt/azcmagent/tokens"
    private static let mostKeys = 100

    private let folder: String
    /// The contents of each file, oldest first.
    private let keys = Mutex<[(name: String, key: String)]>([])

    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Writes a new key, and returns the path where programs find it.
    func new() throws -> String {
        let (name, key) = ("\(newIdentifier()).key", newSecret())
        try Folder(folder).write(Array(key.utf8), to: name, isDurable: false)
        keys.withLock { keys in
            keys.append((name, key))
            if keys.count > Self.mostKeys { unlink("\(folder)/\(keys.removeFirst().name)") }
        }
        return "\(Self.place)/\(name)"
    }

    /// Uses a key and removes its file; returns false if there is no such key.
    func use(_ key: String) -> Bool {
        keys.withLock { keys in
            guard let index = keys.firstIndex(where: { $0.key == key }) else { return false }
            unlink("\(folder)/\(keys.remove(at: index).name)")
            return true
        }
    }
}
