public import Addresses
public import Claims
public import PluginWire
import Secrets
public import SettingsFile
import Terminal

/// The contents of an installed plugin's `plugin.toml` (docs/plugin-protocol.md, MANIFEST).
public struct PluginManifest: Sendable, Equatable {
    /// The plugin's name, which is also the name of its folder.
    public let name: String
    /// The plugin's own version.
    public var version = ""
    /// The plugin's purpose, in one line.
    public var summary = ""
    /// The protocol versions that it supports, such as `v1`.
    public var protocols: [String] = []
    /// Arguments before the state machine's name.
    public var arguments: [String] = []
    /// The value of a rule's `kind` that selects it, if the authority's URL doesn't.
    public var kind: String?
    /// The flows that it supports.
    public var flows: [PluginRequest.Flow] = []
    /// The resource of scopes that don't name one; nil if they belong to the authority itself.
    public var bareScopes: String?
    /// The kinds of identity that it serves.
    public var identities: [PluginIdentity.Kind] = []
    /// The variables that may describe its identities, which it gets with the request, and the files, as `HOME/.aws/config`: below the
    /// folder that a variable names.
    public var variables: [String] = []
    /// The identities that these variables describe; the first row that fits is used.
    public var identityPatterns: [IdentityPattern] = []
    /// The variable that selects among these rows; nil for none.
    public var identitySelector: String?
    /// The authorities that it serves.
    public var authorities: [AuthorityPattern] = []
    /// The authorities of other plugins for which it gets tokens from a broker.
    public var brokered: [BrokerPattern] = []
    /// The authority of a realm that the user types alone: a URL with `{realm}` as its last segment; nil if they can't.
    public var realmAuthority: String?
    /// The domain to append to a realm of a single label; nil if such a realm isn't a short form.
    public var realmDomain: String?
    /// The names, in lower case, of the parameters that the plugin itself sets in an authorization request.
    public var reservedParameters: Set<String> = []
    /// The paths that a server's challenge may add to an authority's URL.
    public var challengePaths: [String] = []
    /// Groups of hosts, each an environment; requests go to the first host of a group.
    public var environments: [[String]] = []
    /// The names that may take a realm's place without being one.
    public var sharedRealms: [SharedRealm] = []
    /// The hosts of well-known resources, and the scopes of their tokens.
    public var resources: [PluginResource] = []
    /// The exchanges of tokens that it supports.
    public var exchanges: [PluginExchange] = []
    /// Where it looks up credentials.
    public var sources: [PluginSource] = []
    /// The names of the options that the configuration may have for it.
    public var options: [String] = []
    /// The forms of these options' values, if they have one: `url`, `seconds`, or a pattern with `*`.
    var optionForms: [String: String] = [:]
    /// The issuers that are known beforehand.
    public var issuers: [PluginIssuer] = []
    /// The clients that users can refer to by name.
    public var clients: [PluginClient] = []
    /// What it does besides what every plugin must do.
    public var supports: Set<PluginSupport> = []
    /// The redirect URI, without a port, for a rule with a port if the client's row has none.
    public var redirectURI: String?
    /// The client ID of requests for which nobody names one; nil if somebody must.
    public var clientID: String?
    /// The form of every client ID at its authorities; nil if there is no fixed one.
    public var clientIDs: ClientIDForm?
    /// Where users find or register the client ID of their organisation's application: a sentence; nil if the plugin
    /// doesn't say.
    public var clientRegistration: String?
    /// Notes about parts of the manifest that this version doesn't know.
    public var notes: [SettingsError] = []
    /// The manifest's folder, with symbolic links resolved.
    public var folder = ""
    /// The folders of other plugins of its name, which are found later, and so never used.
    var hides: [String] = []
    /// The program, with symbolic links resolved; only root and the user can have written it.
    public var executable = ""
    /// Where its tokens come from, for records: its name; nil for all plugins that ship with lanyard, which share their
    /// accounts' tokens.
    public var origin: String?
    /// The reason why it can't be used; nil if it can.
    ///
    /// Of such a plugin only the name is known, and what is its own: authorities, kinds, issuers' hosts, exchanges and
    /// kinds of identity.
    public var problem: SettingsError?
    /// The authorities of the tables that were left out of `authorities` because they hold unknown keys.
    var leftOut: [AuthorityPattern] = []
    /// The sources of such tables.
    var leftOutSources: [PluginSource] = []
    /// Whether nobody can tell all hosts and sources of these tables or, if it can't be used, of all.
    var losesHosts = false

    /// Whether a request can lead to it.
    public var servesSomething: Bool {
        !authorities.isEmpty || !brokered.isEmpty || !identities.isEmpty || !exchanges.isEmpty || !sources.isEmpty
    }

    /// What a manifest has that serves nothing.
    public static let nothing = "no [[authority]], [[source]] or [[exchange]], and no identities"

    /// Why some of its authorities or sources, or all, are nobody's; nil if all of these tables are read.
    var loss: SettingsError? {
        let note = notes.first { note in
            ["[[authority]]", "[[source]]"].contains(where: note.message.text.hasBytes)
        }
        guard note == nil, !servesSomething else { return note }
        return notes.first ?? SettingsError(file: folder + "/plugin.toml", message: "has \(Self.nothing)")
    }

    /// Returns the first parameter of a sign-in that only the plugin may set; nil if there is none.
    public func reserved(in signIn: SignInParameters) -> String? { signIn.first(of: reservedParameters) }

    /// Returns the URL of the authority that an endpoint's URL belongs to, as servers write it in challenges.
    func authority(ofEndpoint url: String) -> String {
        let path = challengePaths.filter(url.hasSuffix).max { $0.utf8.count < $1.utf8.count }
        return String(url.dropLast(path?.count ?? 0))
    }

    /// Returns what the value of an option must be, in words; nil if this one may be that.
    public func form(refusing value: String, of option: String) -> String? {
        switch optionForms[option] {
        case nil: nil
        case "url": StrictURL(https: value) == nil ? "an https URL" : nil
        case "seconds": Int(value).map((0...86_400).contains) == true ? nil : "seconds, from 0 to 86400"
        case let form?: value.matches(glob: form) ? nil : "like \(form)"
        }
    }

    /// The kinds of authority that rules can name: its own, and those of its issuers.
    public var kinds: Set<String> { Set([kind].compactMap(\.self) + issuers.map(\.kind)) }

    /// Returns the row for an authority: of the kind that its rule names, or else of its host; nil if there is none.
    func issuer(at authority: AuthorityURL, kind: String?) -> PluginIssuer? {
        let rows = issuers.filter { kind == nil || $0.kind == kind }
        return rows.best { $0.hosts.rank(of: authority.host) } ?? (kind == nil ? nil : rows.first)
    }
}

/// Authority URLs that a plugin serves: an `[[authority]]` table.
public struct AuthorityPattern: Sendable, Equatable {
    /// A segment of the path.
    public enum Segment: Sendable, Equatable {
        /// This text, ignoring case.
        case literal(String)
        /// The realm, such as a tenant or an organisation.
        case realm
        /// The user flow or custom policy; in lower case, the glob that it must match, or nil for any.
        case policy(String?)
        /// The rest of the path, which may be empty.
        case rest
    }

    /// Host patterns: a name, `*.suffix`, or `*` for any host in the configuration.
    public var hosts: [String]
    /// The segments of the path.
    public var path: [Segment]
    /// The only realms that are served, in lower case; empty for all.
    public var realms: [String] = []
    /// The realms that aren't served, in lower case.
    public var exceptRealms: [String] = []
}

/// Authorities for which a broker holds sign-ins: an `[[authority]]` table with `broker-of`.
public struct BrokerPattern: Sendable, Equatable {
    /// The kind of the plugin that serves them.
    public let kind: String
    /// Their URLs.
    public let authority: AuthorityPattern
}

/// A name in a realm's place that stands for the accounts of many realms: a `[[shared-realm]]` table.
///
/// Tokens from such an authority are for the account's home.
public struct SharedRealm: Sendable, Equatable {
    /// The name, in lower case.
    public let name: String
    /// The only homes whose accounts are accepted, in lower case; empty for all.
    public var homes: [String] = []
    /// The homes whose accounts aren't accepted, in lower case.
    public var exceptHomes: [String] = []
    /// Whether a server may name a realm in its place: only if it doesn't say whose accounts it is for.
    public var narrows: Bool { homes.isEmpty }

    /// Creates a shared realm that accepts every account.
    public init(name: String) { self.name = name }

    /// Whether accounts with this home realm, in lower case, are accepted; nil stands for an unknown home.
    public func takes(home: String?) -> Bool {
        guard let home else { return homes.isEmpty }
        return homes.isEmpty ? !exceptHomes.contains(home) : homes.contains(home)
    }
}

/// The forms of a realm.
public enum RealmForm: String, Sendable, CaseIterable {
    /// A UUID, except the nil UUID (RFC 9562, 5.9).
    case uuid
    /// A domain name with several labels.
    case domain

    /// Whether a realm, in lower case, has this form.
    public func accepts(_ realm: String) -> Bool {
        switch self {
        case .uuid: realm.isUUID && realm.utf8.contains { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: "-") }
        case .domain: realm.isDomain
        }
    }
}

extension String {
    /// Whether this is a domain name with several labels, in lower case.
    fileprivate var isDomain: Bool {
        let labels = pieces(between: ".", omittingEmpty: false)
        guard labels.count > 1, utf8.count <= 253 else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy(\.isLowerCaseNameByte)
        }
    }
}

/// A well-known resource, which accepts tokens: a `[[resource]]` table.
public struct PluginResource: Sendable, Equatable {
    /// The display name.
    public let name: String
    /// Host patterns: a name or `*.suffix`.
    public let hosts: [String]
    /// The scopes to request for its tokens.
    public let scopes: [String]
    /// The hosts among these that serve git, with the owner of a repository in the path.
    public var gitHosts: [String] = []
    /// The names of clients that can get its tokens in every realm; the first is offered first.
    public var clients: [String] = []
    /// Whether the paths of its URLs mean the same in upper and lower case.
    public var ignoresPathCase = false
}

/// An exchange of tokens: an `[[exchange]]` table.
public struct PluginExchange: Sendable, Equatable {
    /// The name that requests use for it.
    public let name: String
    /// Patterns of the hosts that accept the result: a name or `*.suffix`.
    public let hosts: [String]
    /// The scopes of the token to exchange.
    public let scopes: [String]
    /// Whether the result is for a single path of a host, which requests must then name.
    public var isPerPath = false
    /// The names of the parameters that rules may have for it.
    public var parameters: [String] = []
}

/// Where a plugin looks up credentials: a `[[source]]` table.
public struct PluginSource: Sendable, Equatable {
    /// The name that rules have.
    public let name: String
    /// The rest, which only the plugin understands.
    public let row: PluginSourceRow
    /// The kinds of code host whose sign-ins it has.
    public var kinds: [String] = []
    /// For how many seconds an answer that names no time itself may be remembered; nil for not at all.
    public var keepFor: Int?

    /// Whether a rule must say what to look up there.
    public var needsReference: Bool {
        (row.program + [row.asks ?? ""]).contains { ["{reference}", "{first}", "{rest}"].contains(where: $0.hasBytes) }
    }
}

/// The forms of a client ID.
public enum ClientIDForm: String, Sendable, CaseIterable {
    /// A UUID.
    case uuid

    /// Whether an ID has this form.
    public func accepts(_ id: String) -> Bool { id.isUUID }
}

/// A client that users can refer to by name: a `[[client]]` table.
public struct PluginClient: Sendable, Equatable {
    /// The name that users write instead of the client ID.
    public let name: String
    /// The client ID.
    public let id: String
    /// The owner of the client, for users; empty if the name says enough.
    public var summary = ""
    /// The kinds of authority that know it; empty for all.
    public var kinds: [String] = []
    /// The redirect URI that it is registered with; nil for the plugin's own choice.
    public var redirectURI: String?
    /// The flows that it may use; empty for all.
    public var flows: [PluginRequest.Flow] = []
}

/// Issuers that are known beforehand: an `[[issuer]]` table.
public struct PluginIssuer: Sendable, Equatable {
    /// The kind of authority.
    public let kind: String
    /// Patterns of their hosts: a name or `*.suffix`; empty if only a rule can name the kind.
    public let hosts: [String]
    /// The scopes that git and similar tools need there, empty if no scope means all; nil if only rules can name them.
    public var scopes: [String]?
    /// The scopes of an application's tokens, each of which is for the one repository that is asked for; nil if it gets
    /// tokens as at any issuer.
    public var repositoryScopes: [String]?
    /// The flows that work there, best first.
    public var flows: [PluginRequest.Flow] = []
    /// The flows that need a client secret.
    public var secretFlows: [PluginRequest.Flow] = []
    /// The user name that servers require if a token is sent as a password; nil if any will do.
    public var username: String?
    /// User names in URLs that stand for no account, besides `username`; nil if no user name in a URL need be an
    /// account.
    public var placeholderUsernames: [String]?
    /// Whether servers also accept a bearer token (RFC 6750).
    public var takesBearer = true
    /// Whether there may be ID tokens, which not every OAuth server has.
    public var givesIDTokens = true
    /// Whether a renewal revokes the token that it replaces.
    public var revokesOnRenewal = false
    /// The display name of the kind; empty if there is none.
    public var name = ""
    /// Patterns of git servers on other hosts that accept tokens of the first of `hosts`.
    public var gitHosts: [String] = []
    /// Patterns of further hosts of the first of `hosts`, such as its registries, which are no git servers.
    public var otherHosts: [String] = []
    /// The scopes that tokens need there besides.
    var otherScopes: [String] = []
    /// The `realm` of their git servers' HTTP Basic challenges; their users sign in at the git server's own URL.
    public var realms: [String] = []
    /// How to register an application there.
    public var registration = IssuerRegistration()

    /// User names that programs send to any code host, whoever the account is.
    static let anybodysUsernames = [
        "git", "token", "oauth2", "x-access-token", "x-oauth-basic", "x-token-auth", "Personal Access Token",
        "PersonalAccessToken",
    ]

    /// Whether a user name in a URL is an account there, rather than a placeholder that programs write.
    public func hasAccounts(named name: String) -> Bool {
        guard let placeholderUsernames, !name.isEmpty else { return false }
        let nobodys = Self.anybodysUsernames + placeholderUsernames + [username].compactMap(\.self)
        return !nobodys.contains { $0.lowercased() == name.lowercased() }
    }

    /// Returns the page of an authority where applications are registered; nil if the manifest doesn't name one.
    public func registrationPage(at authority: AuthorityURL) -> String? {
        registration.page.map(authority.resolving)
    }

    /// Returns the flows that work there, with or without the client's secret; all if the manifest doesn't say.
    public func usable(_ wanted: [PluginRequest.Flow], hasSecret: Bool) -> [PluginRequest.Flow] {
        wanted.filter { (flows.isEmpty || flows.contains($0)) && (hasSecret || !secretFlows.contains($0)) }
    }

    /// Whether signing in there always requires the client's secret.
    public var needsSecret: Bool { !flows.isEmpty && flows.allSatisfy(secretFlows.contains) }
}

/// Information for a user who registers an application at an issuer.
public struct IssuerRegistration: Sendable, Equatable {
    /// The page for registering: an https URL, or a path below the authority's URL.
    public var page: String?
    /// The steps to take there: a sentence without a full stop.
    public var advice: String?
    /// The redirect URI to enter there, which requests use if a rule has no port of its own.
    public var redirectURI: String?
}
