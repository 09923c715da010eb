import Addresses
import Files
package import Model
package import Rules
import Secrets
import SettingsFile
package import Terminal

// URLs as users type them, perhaps without a scheme.

extension String {
    /// The URL, with `https` if it has no scheme; nil for an account, an address for ssh, and a scheme without its colon.
    fileprivate var withScheme: String? {
        if let scheme = StrictURL.scheme(of: self) {
            let isOther = String.schemesOfSSH.contains(scheme) && httpsOfSSH != nil || corrected != nil
            return isOther ? nil : self
        }
        guard !isAccount, !hasPrefix("git@") || !hasBytes(":") else { return nil }
        let host = pieces(between: "/", maxSplits: 1, omittingEmpty: false).first.map { $0.lowercased() }
        return ["http", "https"].contains(host) ? nil : withHTTPS
    }

    fileprivate static let schemesOfSSH = ["ssh", "git+ssh", "ssh+git"]

    /// The URL if its scheme is a misspelt `https`, or lacks the colon or a slash; nil for any other text.
    fileprivate var corrected: String? {
        let scheme = Substring(utf8.prefix(while: \.isAlphanumeric)).lowercased()
        let tail = Substring(utf8.dropFirst(scheme.utf8.count))
        let isWeb = ["http", "https"].contains(scheme)
        let isMisspelt = (scheme.hasPrefix("h") || scheme.hasPrefix("t")) && scheme.editDistance(to: "https") <= 2
        guard tail.hasPrefix("://") ? !isWeb && isMisspelt : isWeb && (tail.hasPrefix(":") || tail.hasPrefix("/"))
        else { return nil }
        let url = "\(isWeb ? scheme : "https")://\(Substring(tail.utf8.drop { ":/".utf8.contains($0) }))"
        return URLPattern(url) == nil ? nil : url
    }

    /// Whether it is an account's user name, and not a host with a user name.
    fileprivate var isAccount: Bool {
        isWholeAddress && !hasBytes("/") && !hasBytes(":") && !hasPrefix("git@")
    }

    /// The complete URL that the user means, with its scheme.
    package var asWholeURL: String {
        get throws(CommandError) {
            guard let whole = withScheme, (try? RequestURL(whole)) != nil else { throw CommandError(notURL: self) }
            return whole
        }
    }
}

extension CredentialRequest {
    /// Creates the request that git would send for a URL.
    package init(url: String) throws(CommandError) {
        guard let whole = url.withScheme, let parsed = try? RequestURL(whole) else { throw CommandError(notURL: url) }
        self.init(parsed)
    }

    /// Creates the request for a typed URL, which may be a rule's with a wildcard: whoever signs in for it needs no host.
    package init(url: String, ofOneOf rules: [Rule]) throws(CommandError) {
        guard let rule = rules.last(where: { $0.pattern.text == url }) else {
            try self.init(url: url)
            return
        }
        self = rule.pattern.request
    }
}

extension URLPattern {
    /// Creates the pattern for a typed URL; an error for another text shows the example.
    package init(typed url: String, example: String = Example.url) throws(CommandError) {
        guard let pattern = url.withScheme.flatMap(URLPattern.init) else {
            throw CommandError(notURL: url, example: example)
        }
        // A password would be written into files, and the pattern would match no request.
        guard !pattern.hasPassword else {
            throw CommandError(
                "the URL contains a password, which doesn't belong in the configuration",
                hints: ["leave it out, as in \(pattern.scheme)://\(pattern.host.urlText)/…"], status: .usage)
        }
        self = pattern
    }

    /// The scheme and host.
    package var place: String { "\(scheme)://\(host.urlText)" }

    /// Whether tokens may be sent to the pattern's places.
    package var isTokenPlace: Bool { request.isTokenPlace }

    /// Throws for a rule whose places may not get tokens.
    package func requireTokenPlace() throws(CommandError) {
        guard !isTokenPlace else { return }
        throw CommandError("\(text): \(CommandError.unencrypted(scheme))", hints: [.overHTTPS(text)], status: .usage)
    }

    /// Throws for a rule whose token hosts of different owners would get.
    package func requireOneOwner() throws(CommandError) {
        guard isForManyOwners else { return }
        throw CommandError(
            "\(text) is for hosts of many owners, and each of them would get your tokens",
            hints: [Hint("name the domain of one owner, such as", write: "https://*.contoso.com")], status: .usage)
    }

    /// Throws for places for which git asks no helper.
    package func requireGitPlace() throws(CommandError) {
        guard (String.schemesOfSSH + ["git", "file"]).contains(scheme) else { return }
        throw CommandError(
            "git asks no helper about \(scheme) URLs", hints: ["use the server's https URL"], status: .usage)
    }
}

extension Hint {
    /// Returns a hint with the same URL over https, for servers that support it.
    package static func overHTTPS(_ url: String) -> Hint {
        Hint("if the server has https, write", write: url.with(scheme: "https"))
    }
}

extension CommandError {
    /// Returns the reason why no token is sent to URLs with a scheme.
    package static func unencrypted(_ scheme: String) -> String {
        scheme == "http"
            ? "tokens are not sent over http, where others could read them" : "tokens are not sent over \(scheme)"
    }

    /// Creates the error for a URL that no rule maps; git isn't mentioned where its configuration wouldn't help.
    package init(noRuleMaps request: CredentialRequest, isForGit: Bool = true) {
        guard request.isTokenPlace else {
            self.init(
                "no rule maps \(request.url), and \(Self.unencrypted(request.scheme ?? ""))",
                hints: [.overHTTPS(request.url)])
            return
        }
        self.init(
            "no rule maps \(request.url)",
            hints: Hint.namingHome.map { [$0] } ?? Hint.addingRule(for: request.url, isForGit: isForGit))
    }

    /// Creates the error for a text that isn't a URL.
    fileprivate init(notURL text: String, example: String = Example.url) {
        if text.isAccount {
            let login: ShellCommand = "lanyard login\(option: "--account", text, limit: 200) URL"
            self.init("\(text) is an account, and not a URL", hints: [Hint("sign it in", run: login)], status: .usage)
        } else if let url = text.httpsOfSSH {
            self.init(
                "\(text) is an address for ssh, and git asks no helper about those",
                hints: [.again("use the server's https URL", with: url, for: text)], status: .usage)
        } else {
            let hint = text.corrected.map { Hint.again("did you mean", with: $0, for: text) }
            self.init("\(text) is not a URL", hints: [hint ?? Hint("write it like", write: example)], status: .usage)
        }
    }
}

extension Hint {
    /// The first step towards tokens for a URL.
    package static func addingRule(for url: String, isForGit: Bool) -> [Hint] {
        let rule: ShellCommand = "lanyard rule add\(last: url)"
        guard isForGit else { return [Hint("add one", run: rule)] }
        return [.addingRule(forGitAt: url), Hint("or for other tools", run: rule)]
    }

    /// The first step, whatever says that a rule is missing.
    package static func addingRule(forGitAt url: String = "URL", after text: String = "") -> Hint {
        Hint("\(text)add one for git", run: "lanyard configure git\(last: url)")
    }

    /// How to run this process's command again with a URL for a word of it; the URL alone if it has no such word.
    fileprivate static func again(_ text: Message, with url: String, for word: String) -> Hint {
        let words = CommandLine.arguments.dropFirst()
        guard words.contains(word) else { return Hint(text, write: url) }
        return Hint(text, run: ShellCommand(words: ["lanyard"] + words.map { $0 == word ? url : $0 }))
    }

    /// How to have the user's rules found if no variable names a folder for them, as in a job with an empty environment;
    /// nil if one does.
    package static var namingHome: Hint? {
        let names = ["LANYARD_CONFIG", "XDG_CONFIG_HOME", "HOME"]
        let named = names.lazy.compactMap(processVariable).first { $0.hasPrefix("/") }
        if let named, named != processVariable("HOME") || FileStatus(of: named)?.isFolder == true { return nil }
        return Hint(
            "HOME names no folder, so your own rules aren't read; set it",
            run: "export HOME=$(getent passwd $(id -u) | cut -d: -f6)")
    }
}

extension String {
    /// The https URL of a repository from its address for ssh; nil for any other text.
    ///
    /// `git@github.com:foo/bar.git` and `ssh://git@github.com/foo/bar.git` are the same (git-clone(1), GIT URLS).
    var httpsOfSSH: String? {
        guard let (head, tail) = cut(at: ":") else { return nil }
        let isURL = tail.hasPrefix("//")
        guard !isURL || String.schemesOfSSH.contains(head.lowercased()),
            let (place, path) = isURL ? tail.dropFirst(2).cut(at: "/") : (head, tail), !path.isEmpty,
            let host = RequestHost(String(place.cut(atLast: "@")?.1 ?? place)), host.name.hasBytes(".")
        else { return nil }
        let user = place.cut(atLast: "@")?.0
        let url = "https://\(Self.httpsPlace(of: host.name, user: user, path.pieces(between: "/")))"
        return URLPattern(url) == nil ? nil : url
    }

    /// Returns the host and path over https of a repository that has them over ssh.
    private static func httpsPlace(of host: String, user: Substring?, _ path: [Substring]) -> String {
        // Hosts that have another name for ssh.
        let hosts = [
            "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
            "ssh.gitlab.gnome.org": "gitlab.gnome.org", "ssh.dev.azure.com": "dev.azure.com",
            "vs-ssh.visualstudio.com": "dev.azure.com",
        ]
        guard let other = hosts[host] else { return ([host[...]] + path).joined(separator: "/") }
        var path = path
        if ["22", "443"].contains(path.first) { path.removeFirst() }
        guard other == "dev.azure.com" else { return ([other[...]] + path).joined(separator: "/") }
        // v3/ORGANISATION/PROJECT/REPOSITORY, or as it was until 2019: [PROJECT/]_ssh/REPOSITORY with the organisation as the user.
        if path.first == "v3" {
            path.removeFirst()
            if (2...3).contains(path.count) { path.insert("_git", at: path.count - 1) }
        } else if let user {
            path = [user.cut(at: ":")?.0 ?? user] + path.map { $0 == "_ssh" ? "_git" : $0 }
        }
        return ([other[...]] + path).joined(separator: "/")
    }
}
