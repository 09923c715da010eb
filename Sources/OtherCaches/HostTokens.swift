import Addresses
import JSON
public import Keyring
public import Model
public import Secrets
import YAML

/// A program's tokens for code hosts, which git uses as passwords.
public struct HostTokens: Sendable, Equatable {
    /// A token, or its location.
    public struct Entry: Sendable, Equatable {
        /// The host, which may have a port.
        public var host: String
        /// The URL's scheme.
        public var scheme = "https"
        /// The user name; nil if the program doesn't know it.
        public var username: String?
        /// The token; nil if it is in the keyring, or missing.
        public var token: Secret?
        /// Whether it is the token in use at the host.
        public var isActive = true
        /// Whether it expires soon, and only the program can renew it.
        public var isProgramsOwn = false
    }

    /// All entries.
    public private(set) var entries: [Entry] = []

    /// Whether the library that reads them is installed.
    public static var isSupported: Bool { YAMLNode.isSupported }

    /// Parses gh's `hosts.yml`; nil if it is invalid.
    ///
    /// An account's own token takes precedence over the host's, which is normally the same.
    public init?(gh bytes: [UInt8]) {
        guard let hosts = Self.settings(bytes) else { return nil }
        for (host, settings) in Self.sorted(hosts) {
            let token = settings["oauth_token"]?.text.map { Secret($0) }
            let active = settings["user"]?.text
            let users = settings["users"]
            let names = users?.entries.map(\.name) ?? []
            // The active user comes last, because git without a user name gets the password that was stored last.
            for name in names.sorted().filter({ $0 != active }) + [active].compactMap(\.self) {
                let isActive = name == active
                let own = users?[name]?["oauth_token"]?.text.map { Secret($0) }
                let pair = users?[name]?.rotatingToken ?? (isActive ? settings.rotatingToken : nil)
                var entry = Entry(
                    host: host, username: name, token: pair ?? own ?? (isActive ? token : nil), isActive: isActive)
                entry.isProgramsOwn = pair != nil
                entries.append(entry)
            }
            guard names.isEmpty, active == nil else { continue }
            var entry = Entry(host: host, token: settings.rotatingToken ?? token)
            entry.isProgramsOwn = settings.rotatingToken != nil
            entries.append(entry)
        }
    }

    /// Parses glab's `config.yml`; nil if it is invalid.
    public init?(glab bytes: [UInt8]) {
        guard let settings = Self.settings(bytes) else { return nil }
        for (host, settings) in Self.sorted(settings["hosts"] ?? .map([])) {
            var entry = Entry(host: host, username: settings["user"]?.text)
            entry.token = settings["token"]?.text.map { Secret($0) }
            entry.isProgramsOwn = settings["is_oauth2"]?.text == "true"
            if settings["api_protocol"]?.text == "http" { entry.scheme = "http" }
            entries.append(entry)
        }
    }

    /// Parses settings; nil if they aren't a map.
    private static func settings(_ bytes: [UInt8]) -> YAMLNode? {
        guard let settings = YAMLNode(yaml: bytes) else { return nil }
        if case .map = settings { return settings }
        return settings == .text("") ? settings : nil
    }

    private static func sorted(_ hosts: YAMLNode) -> [(host: String, settings: YAMLNode)] {
        hosts.entries.map { ($0.name, $0.value) }.sorted { $0.0 < $1.0 }
    }
}

extension YAMLNode {
    /// gh's token that has a refresh token beside it, which works once; nil if there is none.
    fileprivate var rotatingToken: Secret? {
        self["refreshable_oauth_token"]?["access_token"]?.text.map { Secret($0) }
    }
}

/// The kinds of sign-in of the Azure Developer CLI.
public enum AzureDeveloperCLISignIn: Sendable, Equatable {
    /// A user's, in its cache.
    case user
    /// An application's, with its client ID.
    case application(String)
    /// None, or that of the Azure CLI.
    case nobody

    /// Parses `auth.json`; nil if it is invalid.
    public init?(_ bytes: [UInt8]) {
        guard let settings = JSONValue(bytes: bytes, atMost: 1 << 20), settings.members != nil else { return nil }
        let user = settings["auth"]?["account"]?["currentUser"]
        if let client = user?["clientId"]?.string {
            self = .application(client)
        } else {
            self = user?["homeAccountId"]?.string == nil ? .nobody : .user
        }
    }
}

/// A git password from another program's storage.
public struct OtherPassword: Sendable, Equatable {
    /// Where git uses it; always with a host and a scheme.
    public var request: CredentialRequest
    /// The password, with its user name and expiry.
    public var stored: StoredPassword

    /// Converts a password that git's own helper stored; nil if its host is invalid.
    public init?(_ listed: PasswordStore.Listed) {
        guard let host = RequestHost(listed.query.host), case .password = listed.password.proof else { return nil }
        request = CredentialRequest()
        (request.scheme, request.host, request.path) = (listed.query.scheme, host, listed.query.path)
        request.username = listed.password.username
        stored = listed.password
    }

    init(_ url: RequestURL, username: String, _ password: Secret) {
        request = CredentialRequest(url)
        request.username = username
        request.path = nil
        stored = StoredPassword(username: username, proof: .password(password))
    }

    /// Converts an item of Git Credential Manager, whose `service` is `git:` and a URL.
    ///
    /// Rejects a refresh token that is stored beside a password (`programsOwn`), and what isn't a git password
    /// (`malformed`).
    public init?(gcmItem attributes: [String: String], secret: Secret?, rejects: inout [OtherCache.Reject]) {
        func reject(_ reason: SkipReason) {
            rejects.append(.init(what: "password", whose: attributes["service"] ?? "", reason: reason))
        }
        guard let service = attributes["service"], service.hasPrefix("git:"), let secret,
            let account = attributes["account"], secret.isPassword, !account.isEmpty, !account.hasControlCharacter,
            let url = try? RequestURL(String(service.dropFirst(4)))
        else {
            reject(.malformed)
            return nil
        }
        self.init(url, username: account, secret)
        var path = url.path ?? ""
        while path.hasSuffix("/") { path.removeLast() }
        // Bitbucket, GitLab and the generic provider each name them differently.
        let isRefreshToken =
            path.hasSuffix("refresh_token") || url.host.name.hasPrefix("refresh_token.")
            || url.host.name.hasPrefix("oauth-refresh-token.")
        guard !isRefreshToken else {
            reject(.programsOwn)
            return nil
        }
        request.path = path.isEmpty ? nil : path
    }

    /// Converts a host's token, using `anybody` as the user name if none is known; nil if it can't be a git password.
    public init?(_ entry: HostTokens.Entry, anybody: String) {
        guard let url = try? RequestURL("\(entry.scheme)://\(entry.host)"), url.path?.isEmpty ?? true,
            url.username == nil, let token = entry.token, token.isPassword
        else { return nil }
        let username = entry.username ?? anybody
        guard !username.isEmpty, !username.hasControlCharacter else { return nil }
        self.init(url, username: username, token)
    }
}

extension Secret {
    /// Whether it fits on a line of git's protocol.
    var isPassword: Bool {
        let text = reveal()
        return !text.isEmpty && text.utf8.count < AttributeParser.longestLine
            && !text.utf8.contains { $0 == 0 || $0 == 0x0A }
    }
}
