import Addresses
import Forwarding
import Glibc
import PluginHost
import Rules

/// Removes names of people and of where they work from a text.
struct Redaction: Sendable {
    private let replacements: [(text: String, by: String)]
    private let knownHosts: Set<String>

    init(_ examination: Examination) {
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
        knownHosts = known
        // A name that is part of another comes after it.
        replacements = names.sorted { $0.0.count > $1.0.count }
    }

    /// Returns the text without the names of people, machines and organisations.
    func redacted(_ text: String) -> String {
        var text = text
        for (name, other) in replacements { text = text.replacingWhole(name, by: other) }
        text = text.withoutHomes
        return text.pieces(between: " ", omittingEmpty: false).map { withoutPlaces(String($0)) }
            .joined(separator: " ")
    }

    /// Returns a word without a URL's user, path and unknown host, or without an email address.
    private func withoutPlaces(_ word: String) -> String {
        guard let separator = word.utf8.firstRange(of: "://".utf8) else {
            return word.hasBytes("@") ? "USER@DOMAIN" : word
        }
        let rest = word[separator.upperBound...]
        let (authority, path) = rest.cut(at: "/") ?? (rest, "")
        let host = authority.pieces(between: "@").last.map(String.init) ?? ""
        let name = Substring(host.utf8.prefix { !":,".utf8.contains($0) }).lowercased()
        let shown = knownHosts.contains(name) ? host : "HOST"
        return "\(word[..<separator.upperBound])\(shown)\(path.isEmpty ? "" : "/…")"
    }

    /// Returns the hosts that errors may name, those of the configuration and the proxy; a name without a domain could
    /// be any word.
    private static func hosts(_ examination: Examination) -> [String] {
        let configuration = examination.configuration
        let named = configuration.configuredHosts + configuration.rules.map(\.pattern.host.name)
        let proxy = [ProxyVariable(examination.context)?.url?.name].compactMap(\.self)
        return (named + proxy).map { host in
            let name = host.utf8.prefix { $0 != UInt8(ascii: ":") }.drop { "*.".utf8.contains($0) }
            return Substring(name).lowercased()
        }.filter { $0.hasBytes(".") }
    }

    /// Returns a user's name and home folder; nil if there is no such user.
    private static func entry(_ entry: UnsafeMutablePointer<passwd>?) -> (name: String, home: String)? {
        guard let entry, let name = entry.pointee.pw_name, let home = entry.pointee.pw_dir else { return nil }
        return (String(cString: name), String(cString: home))
    }

    private static var hostName: String? {
        HostName.here.flatMap { ["", "localhost"].contains($0) ? nil : $0 }
    }
}

extension String {
    /// Returns the text with a word replaced wherever it isn't part of a longer one.
    fileprivate func replacingWhole(_ word: String, by other: String) -> String {
        var result = ""
        var rest = self[...]
        while let found = rest.firstRange(of: word) {
            let before = found.lowerBound == rest.startIndex ? result.last : rest[rest.index(before: found.lowerBound)]
            let after = found.upperBound == rest.endIndex ? nil : rest[found.upperBound]
            let isPart = before?.isLetterOrDigit == true || after?.isLetterOrDigit == true
            result += rest[..<found.lowerBound] + (isPart ? word : other)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    /// The text without the names of other people's home folders below `/home`.
    fileprivate var withoutHomes: String {
        let parts = split(separator: "/home/", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            guard index > 0 else { return String(part) }
            let rest = part.utf8.drop { !"/ :,".utf8.contains($0) }
            return (rest.count == part.utf8.count ? "" : "USER") + Substring(rest)
        }.joined(separator: "/home/")
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}
