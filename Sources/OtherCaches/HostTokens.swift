import Addresses
import JSON
import Rules
public import Secrets

/// The tokens of a program for code hosts, which git takes as passwords.
public struct HostTokens: Sendable, Equatable {
    /// A token, or where it is.
    public struct Entry: Sendable, Equatable {
        /// The host, perhaps with a port.
        public var host: String
        /// The URL's scheme.
        public var scheme = "https"
        /// The user's name; nil if the program doesn't know it.
        public var username: String?
        /// The token; nil if it is in the keyring, or nowhere.
        public var token: Secret?
        /// Whether it is the one that is used at the host.
        public var isActive = true
        /// Whether it ends soon, and only the program can get another.
        public var isProgramsOwn = false
    }

    /// All of them.
    public private(set) var entries: [Entry] = []

    /// Reads gh's `hosts.yml`; nil if it is none.
    ///
    /// An account's own token counts for more than that of the host, which is the same unless something went wrong.
    public init?(gh bytes: [UInt8]) {
        guard let hosts = PlainYAML.read(bytes) else { return nil }
        for (host, settings) in hosts.members.sorted(by: { $0.key < $1.key }) {
            let token = settings["oauth_token"]?.text.map { Secret($0) }
            let active = settings["user"]?.text
            let users = settings["users"]?.members ?? [:]
            // Whose password is stored last is whose git gets if it names nobody.
            for name in users.keys.sorted().filter({ $0 != active }) + [active].compactMap(\.self) {
                let isActive = name == active
                let own = users[name]?["oauth_token"]?.text.map { Secret($0) }
                entries.append(
                    Entry(host: host, username: name, token: own ?? (isActive ? token : nil), isActive: isActive))
            }
            if users.isEmpty, active == nil { entries.append(Entry(host: host, token: token)) }
        }
    }

    /// Reads glab's `config.yml`; nil if it is none.
    public init?(glab bytes: [UInt8]) {
        guard let settings = PlainYAML.read(bytes) else { return nil }
        for (host, settings) in (settings["hosts"]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
            var entry = Entry(host: host, username: settings["user"]?.text)
            entry.token = settings["token"]?.text.map { Secret($0) }
            entry.isProgramsOwn = settings["is_oauth2"]?.text == "true"
            if settings["api_protocol"]?.text == "http" { entry.scheme = "http" }
            entries.append(entry)
        }
    }
}

extension OtherPassword {
    /// Takes a host's token, for any user's name if none is known; nil if it can't be a password of git's.
    public init?(_ entry: HostTokens.Entry, anybody: String) {
        guard let url = try? RequestURL("\(entry.scheme)://\(entry.host)"), url.path?.isEmpty ?? true,
            url.username == nil, let token = entry.token, token.isPassword
        else { return nil }
        let username = entry.username ?? anybody
        guard !username.isEmpty, !username.hasControlCharacter else { return nil }
        self.init(url, username: username, token)
    }
}

/// What the Azure Developer CLI says about its sign-in.
public enum AzureDeveloperCLISignIn: Sendable, Equatable {
    /// A person's, in its cache.
    case person
    /// An application's, by its client id.
    case application(String)
    /// Nobody's, or that of the Azure CLI.
    case nobody

    /// Reads `auth.json`; nil if it is none.
    public init?(_ bytes: [UInt8]) {
        guard let settings = JSONValue(bytes: bytes, atMost: 1 << 20), settings.members != nil else { return nil }
        let user = settings["auth"]?["account"]?["currentUser"]
        if let client = user?["clientId"]?.string {
            self = .application(client)
        } else {
            self = user?["homeAccountId"]?.string == nil ? .nobody : .person
        }
    }
}
