import Addresses
import CommandKit
import Forwarding
import Glibc
import Model
import PluginHost
import Rules
import SettingsFile

/// Removes names of people and of where they work from a text.
struct Redaction: Sendable {
    private let replacements: [(text: String, by: String)]
    private let knownHosts: Set<String>

    init(_ examination: Examination) async {
        let context = examination.context
        var names: [(String, String)] = []
        // Under sudo, paths also name the user who called it.
        let entries = [
            Self.entry(getpwuid(geteuid())), context.variable("SUDO_USER").flatMap { Self.entry(getpwnam($0)) },
        ]
        for home in [context.variable("HOME")] + entries.map(\.?.home) {
            if let home, home.count > 1 { names.append((home, "~")) }
        }
        let variables = ["USER", "LOGNAME", "SUDO_USER"].map(context.variable)
        for name in variables + entries.map(\.?.name) {
            if let name, name != "root" { names.append((name, "USER")) }
        }
        if let host = Self.hostName { names.append((host, "MACHINE")) }
        let registry = examination.registry
        let known = Set(registry.plugins.flatMap(\.environments).joined()).union(
            registry.plugins.flatMap(\.resources).flatMap(\.hosts)
        ).union(["localhost"])
        for host in Self.hosts(examination) where !known.contains(host) { names.append((host, "HOST")) }
        let words = Self.words.union(known).union(registry.plugins.flatMap(\.kinds)).union(
            registry.plugins.flatMap(\.clients).map(\.name)
        ).union(registry.plugins.flatMap(\.sharedRealms).map(\.name))
        let settings = await Self.settings(examination)
        for name in Set(settings) where !words.contains(name.lowercased()) {
            names.append((name, "NAME"))
        }
        knownHosts = known
        // A name that is part of another comes after it.
        replacements = names.sorted { $0.0.count > $1.0.count }
    }

    /// Returns the text without the names of people, machines and organisations.
    func redacted(_ text: String) -> String {
        var text = text
        for (name, other) in replacements { text = text.replacingWhole(name, by: other) }
        text = text.withoutHomes.withoutPrivatePaths
        return text.pieces(between: " ", omittingEmpty: false).map { withoutPlaces(String($0)) }
            .joined(separator: " ")
    }

    /// Returns a word without a URL's user, path and unknown host, or without an email address.
    private func withoutPlaces(_ word: String) -> String {
        guard let (scheme, rest) = word.cut(atText: "://") else { return word.hasBytes("@") ? "USER@DOMAIN" : word }
        let (authority, path) = rest.cut(at: "/") ?? (rest, "")
        let host = authority.pieces(between: "@").last.map(String.init) ?? ""
        let name = Substring(host.utf8.prefix { !":,".utf8.contains($0) }).lowercased()
        let shown = knownHosts.contains(name) ? host : "HOST"
        return "\(scheme)://\(shown)\(path.isEmpty ? "" : "/…")"
    }

    /// Returns the hosts that errors may name, those of the configuration and the proxy; a name without a domain could
    /// be any word.
    private static func hosts(_ examination: Examination) -> [String] {
        let configuration = examination.configuration
        let named = configuration.configuredHosts + configuration.rules.map(\.pattern.host.name)
        let proxy = [(try? ProxySettings(environment: examination.context.environment))?.proxy?.name].compactMap(\.self)
        return (named + proxy).map { host in
            let name = host.utf8.prefix { $0 != UInt8(ascii: ":") }.drop { "*.".utf8.contains($0) }
            return Substring(name).lowercased()
        }.filter { $0.hasBytes(".") }
    }

    /// lanyard's own words, which are values of settings, and parts of many.
    private static let words: Set<String> = [
        "https", "http", "command", "file", "env", "default", ".default", "auto", "browser", "device-code", "broker",
        "personal", "shared", "dev.lanyard", "lanyard", "environment", "managed", "azure-cli", "usr", "bin", "lib",
        "etc", "home", "tmp", "var", "run", "user", "dev", "config", "git",
        "store", "cache", "libsecret", "manager", "manager-core", "oauth", "osxkeychain", "wincred", "netrc", "gh",
        "glab",
        "gcloud.sh", "auth", "git-credential", "a shell command", "shell", "--timeout", "true", "false", "acr",
        "aws-codeartifact", "aws-ecr", "aws-ecr-public", "aws-sso", "aws-sts", "system", "lanyard.toml", "config.toml",
    ]

    /// Returns everything that settings name: values in lanyard's files, whether or not these are right, and of variables
    /// that name something; whole and in parts, as errors name both.
    private static func settings(_ examination: Examination) async -> [String] {
        let context = examination.context
        let texts = [context.userFile, Configuration.systemFile].compactMap { (try? SettingsText(reading: $0))?.text }
        let variables = context.environment.filter { name, _ in
            name == "BROWSER" || ["LANYARD_", "AZURE_", "SSL_", "CURL_"].contains(where: name.hasPrefix)
        }
        let git = (try? await GitConfiguration(context).everything()) ?? []
        let helpers = git.filter { $0.place(of: "helper") != nil }.map {
            GitHelpers.Helper(value: $0.value, file: $0.file)
        }
        let ofGit = git.filter { entry in ["credential.", "http.", "url."].contains(where: entry.key.hasPrefix) }
            .flatMap { [$0.value, String($0.key.cut(at: ".")?.1.cut(atLast: ".")?.0 ?? "")] }
        return (texts.flatMap(values) + variables.values + ofGit + helpers.map(\.name)).flatMap { value in
            (value.hasPrefix("/") || value.hasBytes("://") ? [] : [value])
                + value.utf8.split { "/:=,@?&; \t\"'()[]".utf8.contains($0) }.map { String(Substring($0)) }
        }.filter { $0.utf8.count > 2 && !$0.utf8.allSatisfy(\.isDigit) }
    }

    /// Returns the values in a text that may be no TOML: what is in quotes, and what comes after `=` without them.
    private static func values(_ text: String) -> [String] {
        text.pieces(between: "\n").flatMap { line -> [String] in
            let line = line.trimmed(of: " \t\r,")
            let quoted = ["\"", "'"].flatMap { (quote: Unicode.Scalar) in
                line.pieces(between: quote, omittingEmpty: false).enumerated().filter { $0.offset % 2 == 1 }.map(
                    \.element)
            }
            let bare =
                line.cut(at: "=").map { [$0.1.trimmed(), $0.0.trimmed()].filter { $0.utf8.first != 0x5B } } ?? []
            return (quoted.isEmpty ? bare.prefix(1) + [] : quoted).map(String.init)
        }
    }

    /// Returns a user's name and home folder; nil if there is no such user.
    private static func entry(_ entry: UnsafeMutablePointer<passwd>?) -> (name: String, home: String)? {
        guard let entry, let name = entry.pointee.pw_name, let home = entry.pointee.pw_dir else { return nil }
        return (String(cString: name), String(cString: home))
    }

    private static var hostName: String? {
        ownHostName.flatMap { ["", "localhost"].contains($0) ? nil : $0 }
    }
}

extension String {
    /// Returns the text with a word replaced wherever it isn't part of a longer one.
    fileprivate func replacingWhole(_ word: String, by other: String) -> String {
        var result = ""
        var rest = self[...]
        while let (before, after) = rest.cut(atText: word) {
            let isPart =
                (before.last ?? result.last)?.isLetterOrDigit == true || after.first?.isLetterOrDigit == true
            result += before + (isPart ? word : other)
            rest = after
        }
        return result + rest
    }

    /// The text without absolute paths outside the folders that systems have.
    fileprivate var withoutPrivatePaths: String {
        pieces(between: " ", omittingEmpty: false).map { word in
            let opening = word.utf8.prefix { "\"'(<[{=,:".utf8.contains($0) }
            let path = Substring(word.utf8.dropFirst(opening.count))
            if path.hasPrefix("~/") {
                let isShown = path.hasPrefix("~/.") || path.hasPrefix("~/lanyard.toml")
                return isShown ? String(word) : "\(Substring(opening))~/…"
            }
            guard path.hasPrefix("/"), path.utf8.count > 1 else { return String(word) }
            let first = path.pieces(between: "/").first ?? ""
            return Self.systemFolders.contains(first) ? String(word) : "\(Substring(opening))/…"
        }.joined(separator: " ")
    }

    private static let systemFolders: Set<Substring> = [
        "bin", "dev", "etc", "home", "lib", "lib64", "proc", "run", "sbin", "sys", "usr", "var",
    ]

    /// The text without the names of other people's home folders below `/home`.
    fileprivate var withoutHomes: String {
        var result = ""
        var rest = self[...]
        while let (before, after) = rest.cut(atText: "/home/") {
            rest = Substring(after.utf8.drop { !"/ :,".utf8.contains($0) })
            result += "\(before)/home/\(rest.utf8.count == after.utf8.count ? "" : "USER")"
        }
        return result + rest
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}
