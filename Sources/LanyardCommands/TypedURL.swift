import Addresses
import Files
import Rules
import Secrets
import Terminal

// URLs as users type them, perhaps without a scheme.

extension String {
    /// The URL, with `https` if it has no scheme; nil for an account, an address for ssh, and a scheme without its colon.
    fileprivate var withScheme: String? {
        if let scheme = StrictURL.scheme(of: self) {
            return String.schemesOfSSH.contains(scheme) && Hint.httpsRemote(self) != nil ? nil : self
        }
        guard !isAccount, !hasPrefix("git@") || !hasBytes(":") else { return nil }
        let host = pieces(between: "/", maxSplits: 1, omittingEmpty: false).first.map { $0.lowercased() }
        return ["http", "https"].contains(host) ? nil : withHTTPS
    }

    fileprivate static let schemesOfSSH = ["ssh", "git+ssh", "ssh+git"]

    /// Whether it is an account's user name, and not a host with a user name.
    fileprivate var isAccount: Bool {
        isWholeAddress && !hasBytes("/") && !hasBytes(":") && !hasPrefix("git@")
    }

    /// The complete URL that the user means, with its scheme.
    var asWholeURL: String {
        get throws(Failure) {
            guard let whole = withScheme, (try? RequestURL(whole)) != nil else { throw Failure(notURL: self) }
            return whole
        }
    }
}

extension CredentialRequest {
    /// Creates the request that git would send for a URL.
    init(url: String) throws(Failure) {
        guard let whole = url.withScheme, let parsed = try? RequestURL(whole) else { throw Failure(notURL: url) }
        self.init(parsed)
    }
}

extension URLPattern {
    /// Creates the pattern for a typed URL.
    init(typed url: String) throws(Failure) {
        guard let pattern = url.withScheme.flatMap(URLPattern.init) else { throw Failure(notURL: url) }
        // A password would be written into files, and the pattern would match no request.
        guard !pattern.hasPassword else {
            throw Failure(
                "the URL contains a password, which doesn't belong in the configuration",
                hints: ["leave it out, as in \(pattern.scheme)://\(pattern.host.urlText)/…"], status: .usage)
        }
        self = pattern
    }

    /// The scheme and host.
    var place: String { "\(scheme)://\(host.urlText)" }

    /// Whether tokens may be sent to the pattern's places.
    var isTokenPlace: Bool { request.isTokenPlace }

    /// Throws for a rule whose places may not get tokens.
    func requireTokenPlace() throws(Failure) {
        guard !isTokenPlace else { return }
        let shown = text.displayable(limit: 200)
        throw Failure("\(shown): \(Failure.unencrypted(scheme))", hints: [.overHTTPS(text)], status: .usage)
    }

    /// Throws for a rule whose token hosts of different owners would get.
    func requireOneOwner() throws(Failure) {
        guard isForManyOwners else { return }
        let shown = text.displayable(limit: 200)
        throw Failure(
            "\(shown) is for hosts of many owners, and each of them would get your tokens",
            hints: [Hint("name the domain of one owner, such as", write: "https://*.contoso.com")], status: .usage)
    }

    /// Throws for places for which git asks no helper.
    func requireGitPlace() throws(Failure) {
        guard (String.schemesOfSSH + ["git", "file"]).contains(scheme) else { return }
        throw Failure(
            "git asks no helper about \(scheme) URLs", hints: ["use the server's https URL"], status: .usage)
    }
}

extension Hint {
    /// Returns a hint with the same URL over https, for servers that support it.
    static func overHTTPS(_ url: String) -> Hint {
        Hint("if the server has https, write", write: url.with(scheme: "https"))
    }
}

extension Failure {
    /// Returns the reason why no token is sent to URLs with a scheme.
    static func unencrypted(_ scheme: String) -> String {
        scheme == "http"
            ? "tokens are not sent over http, where others could read them" : "tokens are not sent over \(scheme)"
    }

    /// Creates the error for a URL that no rule maps.
    init(noRuleMaps request: CredentialRequest) {
        guard request.isTokenPlace else {
            self.init(
                "no rule maps \(request.url), and \(Self.unencrypted(request.scheme ?? ""))",
                hints: [.overHTTPS(request.url)])
            return
        }
        self.init(
            "no rule maps \(request.url)",
            hints: Hint.namingHome.map { [$0] } ?? Hint.addingRule(for: request.url))
    }

    /// Creates the error for a text that isn't a URL.
    fileprivate init(notURL text: String) {
        let shown = text.displayable(limit: 200)
        if text.isAccount {
            let login: ShellCommand = "lanyard login\(option: "--account", text, limit: 200) URL"
            self.init("\(shown) is an account, and not a URL", hints: [Hint("sign it in", run: login)], status: .usage)
        } else if let remote = Hint.httpsRemote(text) {
            self.init(
                "\(shown) is an address for ssh, and git asks no helper about those", hints: [remote], status: .usage)
        } else {
            self.init("\(shown) is not a URL", hints: ["write it like \(Example.url)"], status: .usage)
        }
    }
}

extension Hint {
    /// The first step towards tokens for a URL.
    static func addingRule(for url: String) -> [Hint] {
        [
            Hint("add one for git", run: "lanyard configure git\(last: url)"),
            Hint("or for other tools", run: "lanyard rule add\(last: url)"),
        ]
    }

    /// How to have git reach a repository over https that it reaches by ssh; nil for any other text.
    ///
    /// `git@github.com:foo/bar.git` and `ssh://git@github.com/foo/bar.git` are the same (git-clone(1), GIT URLS).
    static func httpsRemote(_ text: String) -> Hint? {
        guard let (head, tail) = text.cut(at: ":") else { return nil }
        let isURL = tail.hasPrefix("//")
        guard !isURL || String.schemesOfSSH.contains(head.lowercased()),
            let (place, path) = isURL ? tail.dropFirst(2).cut(at: "/") : (head, tail), !path.isEmpty,
            let host = RequestHost(String(place.cut(atLast: "@")?.1 ?? place)), host.name.hasBytes(".")
        else { return nil }
        let user = place.cut(atLast: "@")?.0
        let url = "https://\(httpsPlace(of: host.name, user: user, path.pieces(between: "/")))"
        guard URLPattern(url) != nil else { return nil }
        return Hint("use the server's https URL", run: "git remote set-url origin\(last: url)")
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

    /// How to have the user's rules found if no variable names a folder for them, as in a job with an empty environment;
    /// nil if one does.
    static var namingHome: Hint? {
        let names = ["LANYARD_CONFIG", "XDG_CONFIG_HOME", "HOME"]
        let named = names.lazy.compactMap(processVariable).first { $0.hasPrefix("/") }
        if let named, named != processVariable("HOME") || FileStatus(of: named)?.isFolder == true { return nil }
        return Hint(
            "HOME names no folder, so your own rules aren't read; set it",
            run: "export HOME=$(getent passwd $(id -u) | cut -d: -f6)")
    }
}
