import Glibc
import Subprocess
import SystemPackage

/// What of the host's surroundings a plugin gets.
enum PluginEnvironment {
    private static let kept: Set<String> = [
        "PATH", "HOME", "LANG", "LANGUAGE", "https_proxy", "http_proxy", "no_proxy", "HTTPS_PROXY", "HTTP_PROXY",
        "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]

    /// The variables kept: enough to find programs, speak the person's language and reach the network.
    static func scrubbed(_ environment: [String: String]) -> [String: String] {
        environment.filter { kept.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    static func make(_ environment: [String: String]) -> Environment {
        .custom(
            Dictionary(
                scrubbed(environment).compactMap { key, value in
                    Environment.Key(rawValue: key).map { ($0, value) }
                }, uniquingKeysWith: { first, _ in first }))
    }
}

/// An empty folder for one conversation; a plugin that leaves files behind in it loses them.
struct ScratchFolder: ~Copyable {
    let path: String

    /// - Parameter environment: `XDG_RUNTIME_DIR` and `TMPDIR` say where; else `/tmp`.
    init?(_ environment: [String: String]) {
        let places = [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"], "/tmp"].compactMap { $0 }
        for place in places where place.hasPrefix("/") {
            var template = (place + "/lanyard-plugin-XXXXXX").utf8CString
            let made = template.withUnsafeMutableBufferPointer { buffer in
                // mkdtemp makes the folder with mode 0700.
                buffer.baseAddress.flatMap { mkdtemp($0) }.flatMap { String(validatingCString: $0) }
            }
            if let made {
                path = made
                return
            }
        }
        return nil
    }

    deinit {
        FolderRemoval.remove(path)
    }
}

/// Removes a folder and what is in it, never through a symbolic link.
enum FolderRemoval {
    static func remove(_ path: String, depth: Int = 0) {
        if rmdir(path) == 0 || depth > 32 { return }
        guard let directory = fdopendir(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            let child = path + "/" + name
            if unlink(child) != 0 { remove(child, depth: depth + 1) }
        }
        rmdir(path)
    }
}
