package import Subprocess
package import SystemPackage

/// What of the host's surroundings a plugin gets.
package enum PluginEnvironment {
    /// Where plugins run: a folder that is always there, that nobody else owns and that needs no clearing.
    package static let folder: FilePath = "/"

    private static let kept: Set<String> = [
        "PATH", "HOME", "LANG", "LANGUAGE", "https_proxy", "http_proxy", "no_proxy", "HTTPS_PROXY", "HTTP_PROXY",
        "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]

    /// The variables kept: enough to find programs, speak the person's language and reach the network.
    static func scrubbed(_ environment: [String: String]) -> [String: String] {
        environment.filter { kept.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    package static func make(_ environment: [String: String]) -> Environment {
        .custom(
            Dictionary(
                scrubbed(environment).compactMap { key, value in
                    Environment.Key(rawValue: key).map { ($0, value) }
                }, uniquingKeysWith: { first, _ in first }))
    }
}
