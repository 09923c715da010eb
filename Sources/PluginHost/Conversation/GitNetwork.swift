import Addresses
import Glibc
public import PluginWire
import Secrets
import Subprocess

/// What git's settings say of the way to a URL (git-config(1), *http*), so that lanyard reaches what git reaches.
///
/// git's own variables count before its settings, as in git. What turns verification off isn't followed.
public struct GitNetwork: Sendable {
    /// What is set.
    public struct Settings: Sendable {
        /// What the plugin gets of it.
        public var network = PluginNetwork()
        /// What tells git not to verify certificates, in words: a setting or a variable; nil for nothing.
        public var unverified: String?
        /// The setting that names the proxy, in words: that of a URL, or of a remote.
        public var proxySource: String?

        init() {}
    }

    private let environment: [String: String]

    /// Creates the settings of a process's environment and working folder.
    public init(environment: [String: String]) { self.environment = environment }

    /// Asks git about a URL; there is nothing if there is no git.
    public func settings(for url: String) async -> Settings {
        async let ofRemotes =
            isInRepository ? git(["--get-regexp", #"^remote\..*\.(proxy|proxyauthmethod)$"#]) : []
        var values = Dictionary(await git(["--get-urlmatch", "http", url]).map { ($0.key, $0.value) }) { $1 }
        let remotes = await ofRemotes
        // git doesn't tell which remote it asks for: what all those with a proxy agree on is certainly right.
        func agreed(_ name: String) -> String? {
            let found = Set(remotes.filter { $0.key.hasSuffix(".\(name)") }.map(\.value))
            return found.count == 1 ? found.first : nil
        }
        values["http.proxyauthmethod"] = agreed("proxyauthmethod") ?? values["http.proxyauthmethod"]
        let proxy = agreed("proxy")
        values["http.proxy"] = proxy ?? values["http.proxy"]
        var settings = read(values)
        if proxy != nil { settings.proxySource = "git's remote.NAME.proxy" }
        return settings
    }

    private func read(_ values: [String: String]) -> Settings {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        func path(_ variable: String?, _ key: String) -> String? {
            (variable ?? values["http.\(key)"]).flatMap { $0.isEmpty ? nil : absolute($0) }
        }
        var settings = Settings()
        settings.network.proxy = values["http.proxy"].map { Secret($0) }
        settings.proxySource = values["http.proxy"].map { _ in "git's http.proxy" }
        let method = variable("GIT_HTTP_PROXY_AUTHMETHOD") ?? values["http.proxyauthmethod"]
        settings.network.proxyAuthentication = method.flatMap {
            ["basic", "digest", "ntlm", "negotiate"].contains($0) ? $0 : nil
        }
        settings.network.caFiles = [path(variable("GIT_SSL_CAINFO"), "sslcainfo")].compactMap(\.self)
        settings.network.caFolder = path(variable("GIT_SSL_CAPATH"), "sslcapath")
        settings.network.certificate = path(variable("GIT_SSL_CERT"), "sslcert")
        settings.network.certificateKey = path(variable("GIT_SSL_KEY"), "sslkey")
        if (variable("GIT_SSL_VERSION") ?? values["http.sslversion"]) == "tlsv1.3" {
            settings.network.oldestTLS = "1.3"
        }
        if environment["GIT_SSL_NO_VERIFY"] != nil {
            settings.unverified = "GIT_SSL_NO_VERIFY"
        } else if let value = values["http.sslverify"], ["false", "no", "off", "0", ""].contains(value.lowercased()) {
            settings.unverified = "git's http.sslVerify"
        }
        return settings
    }

    /// git resolves a path as its own working folder's, which is this process's; a plugin has another.
    private func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/"), let home = environment["HOME"] { return home + path.dropFirst() }
        return workingFolder.map { "\($0)/\(path)" } ?? path
    }

    private var workingFolder: String? {
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// Whether git runs this process for a repository, whose settings then count: it names the repository to its helpers.
    ///
    /// Nobody else's working folder counts: a folder that came from elsewhere could send tokens through a proxy of its own.
    private var isInRepository: Bool { environment["GIT_DIR"] != nil }

    /// Runs `git config`, and returns the keys, in lower case as far as case doesn't count, with their values.
    private func git(_ arguments: [String]) async -> [(key: String, value: String)] {
        let result = try? await Subprocess.run(
            .name("git"),
            arguments: Arguments((isInRepository ? [] : ["-C", "/"]) + ["config", "--null"] + arguments),
            environment: .inherit.updating(["LC_ALL": "C"]), input: .none, output: .string(limit: 1 << 18),
            error: .discarded)
        guard let text = result?.standardOutput else { return [] }
        return text.utf8.split(separator: 0).map { entry in
            // A key without a value, as in `[http] sslVerify`, is true.
            guard let (key, value) = Substring(entry).cut(at: "\n") else { return (String(Substring(entry)), "true") }
            return (String(key), String(value))
        }
    }
}
