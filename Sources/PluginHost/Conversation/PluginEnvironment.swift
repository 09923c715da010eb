import Addresses
import Files
import Glibc
package import Subprocess
package import SystemPackage

/// The parts of the host's environment that a plugin gets.
package enum PluginEnvironment {
    /// The working folder of plugins: it always exists, belongs to root and needs no cleaning up.
    package static let folder: FilePath = "/"

    private static let kept: Set<String> = [
        "PATH", "HOME", "LANG", "LANGUAGE", "https_proxy", "http_proxy", "no_proxy", "HTTPS_PROXY", "HTTP_PROXY",
        "NO_PROXY", "all_proxy", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]

    /// Returns the variables that are kept: enough to find programs, use the user's language and reach the network.
    static func scrubbed(_ environment: [String: String]) -> [String: String] {
        environment.filter { name, value in
            // A descriptor of this process is none of the plugin's.
            (kept.contains(name) || name.hasPrefix("LC_")) && !ProcessEnvironment.isStandIn(value)
        }
    }

    /// Creates a plugin's environment: the variables that are kept, and those that its manifest needs.
    package static func make(_ environment: [String: String], for plugin: PluginManifest) -> Environment {
        var variables = scrubbed(environment)
        if plugin.needs.contains(.sessionBus) { variables["DBUS_SESSION_BUS_ADDRESS"] = sessionBus(environment) }
        return .custom(Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) }))
    }

    /// Whether there is a session bus: a socket exists at its address.
    static func hasSessionBus(_ environment: [String: String]) -> Bool {
        guard let address = sessionBus(environment) else { return false }
        return address.pieces(between: ";").contains { server in
            guard server.utf8.starts(with: "unix:path=".utf8) else { return server.hasPrefix("unix:abstract=") }
            let path = Substring(server.utf8.dropFirst("unix:path=".utf8.count).prefix { $0 != UInt8(ascii: ",") })
            var status = stat()
            return stat(String(path), &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }

    /// Returns the session bus's address: from the variable, or else where systemd puts it; nil if there is neither.
    private static func sessionBus(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        return environment.absolutePath("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
    }
}
