import Addresses
public import PluginWire
import Secrets
import SettingsFile

/// What an installed plugin's `plugin.toml` says (docs/plugin-protocol.md, MANIFEST).
public struct PluginManifest: Sendable, Equatable {
    /// The plugin's name, which is also its folder's.
    public let name: String
    /// The plugin's own version.
    public var version = ""
    /// One line on what it is for.
    public var summary = ""
    /// The protocol versions it speaks, such as `v1`.
    public var protocols: [String] = []
    /// Arguments before the state machine's name.
    public var arguments: [String] = []
    /// What of the person's session it can't do without.
    public var needs: [PluginNeed] = []
    /// What a rule's `kind` picks, if the authority's URL does not tell.
    public var kind: String?
    /// The flows it can use.
    public var flows: [PluginRequest.Flow] = []
    /// The resource that scopes without one belong to; nil if they are the authority's own.
    public var bareScopes: String?
    /// The kinds of identity it serves.
    public var identities: [PluginIdentity.Kind] = []
    /// The variables that it finds identities by; it gets them with the request.
    public var variables: [String] = []
    /// The identities that those variables describe, the first that fits first.
    public var identityPatterns: [IdentityPattern] = []
    /// The variable that says which of those rows count; nil for none.
    public var identitySelector: String?
    /// What that variable may say to leave out all rows, lower case.
    public var otherSelectors: [String] = []
    /// The authorities it serves.
    public var authorities: [AuthorityPattern] = []
    /// The authorities of other plugins that it gets tokens of, from the sign-ins that another program holds.
    public var brokered: [BrokerPattern] = []
    /// The authority of a realm that people type by itself: a URL with `{realm}` for its last segment; nil if they can't.
    public var realmAuthority: String?
    /// The domain below which a realm of one label is; nil if such a realm is no short form.
    public var realmDomain: String?
    /// Hosts that are one environment each; the first is where requests go.
    public var environments: [[String]] = []
    /// What stands in a realm's place and is none.
    public var sharedRealms: [SharedRealm] = []
    /// Well-known consumers' hosts and the scopes of their tokens.
    public var resources: [PluginResource] = []
    /// What it can turn tokens into.
    public var exchanges: [PluginExchange] = []
    /// The issuers whose endpoints it need not find.
    public var issuers: [PluginIssuer] = []
    /// Clients that people can call by name.
    public var clients: [PluginClient] = []
    /// Whether it registers applications at authorities.
    public var registers = false
    /// Whether it has authorities take refresh tokens back.
    public var revokes = false
    /// Where sign-ins come back to if a rule names the port and its client's row no address; without a port.
    public var redirectURI: String?
    /// Whether its clients may have secrets, so that it gets those that are stored.
    public var takesClientSecrets = false
    /// What every client ID at its authorities looks like; nil if that is not settled.
    public var clientIDs: ClientIDForm?
    /// Where people find the client ID of an app of their organisation's, or register one: a sentence; nil if the plugin doesn't
    /// say.
    public var clientRegistration: String?
    /// What of the manifest was left out because this version doesn't know it.
    public var notes: [PluginProblem] = []
    /// The folder the manifest is in, symbolic links resolved.
    public var folder = ""
    /// The program, symbolic links resolved; nobody but root and the user can have written it.
    public var executable = ""

    init(name: String) {
        self.name = name
    }

    /// The kinds of authority that rules can name: its own and its issuers'.
    public var kinds: Set<String> { Set([kind].compactMap(\.self) + issuers.map(\.kind)) }
}

/// Something that plugins don't get unless their manifest asks for it.
public enum PluginNeed: String, Sendable, CaseIterable {
    /// The address of the person's session bus, in `DBUS_SESSION_BUS_ADDRESS`.
    case sessionBus = "session-bus"
}

/// Authority URLs that a plugin serves: an `[[authority]]` table.
public struct AuthorityPattern: Sendable, Equatable {
    /// A segment of the path.
    public enum Segment: Sendable, Equatable {
        /// This text, whatever its case.
        case literal(String)
        /// The realm: a tenant, an organisation.
        case realm
        /// The user flow or custom policy.
        case policy
        /// All that is left of the path, and be it nothing.
        case rest
    }

    /// Host patterns: a name, `*.suffix`, or `*` for any host that the configuration names.
    public var hosts: [String]
    /// The path, segment by segment.
    public var path: [Segment]
    /// The only realms served, lower case; empty for all.
    public var realms: [String] = []
    /// Realms not served, lower case.
    public var exceptRealms: [String] = []
    /// Globs that the policy must match, lower case; empty for all.
    public var policies: [String] = []
}

/// Authorities that a program of the machine holds sign-ins for: a `[[broker]]` table.
public struct BrokerPattern: Sendable, Equatable {
    /// The kind of the plugin that serves them.
    public let kind: String
    /// Their URLs.
    public let authority: AuthorityPattern
}

/// A name in a realm's place that stands for the accounts of many: a `[[shared-realm]]` table.
///
/// What such an authority issues is for the account's home.
public struct SharedRealm: Sendable, Equatable {
    /// The name, lower case.
    public let name: String
    /// The only homes whose accounts it takes, lower case; empty for all.
    public var homes: [String] = []
    /// The homes whose accounts it doesn't take, lower case.
    public var exceptHomes: [String] = []
    /// What a realm must look like that a server may name in its place; empty if none may.
    public var narrowsTo: [RealmForm] = []

    /// Makes one that takes every account.
    public init(name: String) { self.name = name }

    /// Whether it takes the accounts that are at home in a realm, lower case; nil stands for a home that isn't known.
    public func takes(home: String?) -> Bool {
        guard let home else { return homes.isEmpty }
        return homes.isEmpty ? !exceptHomes.contains(home) : homes.contains(home)
    }
}

/// What a realm may look like.
public enum RealmForm: String, Sendable, CaseIterable {
    /// A UUID other than that of zeros, which stands for none (RFC 9562, 5.9).
    case uuid
    /// A domain's name of several labels.
    case domain

    /// Whether a realm looks so, in lower case.
    public func accepts(_ realm: String) -> Bool {
        switch self {
        case .uuid: realm.isUUID && realm.utf8.contains { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: "-") }
        case .domain: realm.isDomain
        }
    }
}

extension String {
    /// Whether this is a domain's name of several labels, lower case.
    fileprivate var isDomain: Bool {
        let labels = pieces(between: ".", omittingEmpty: false)
        guard labels.count > 1, utf8.count <= 253 else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
                }
        }
    }
}

/// A well-known consumer of tokens: a `[[resource]]` table.
public struct PluginResource: Sendable, Equatable {
    /// What people call it.
    public let name: String
    /// Host patterns: a name or `*.suffix`.
    public let hosts: [String]
    /// The scopes that a token for it is asked with.
    public let scopes: [String]
    /// Hosts of these that serve git, and whose paths name whose repositories they are.
    public var gitHosts: [String] = []
    /// Names of the clients that can get its tokens in every realm, the one that people are offered first.
    public var clients: [String] = []
}

/// What a token can be turned into: an `[[exchange]]` table.
public struct PluginExchange: Sendable, Equatable {
    /// The name that requests call it by.
    public let name: String
    /// Patterns of the hosts that take the result: a name or `*.suffix`.
    public let hosts: [String]
    /// The scopes of the token that is turned.
    public let scopes: [String]
    /// Whether what comes is for one path of a host only, which requests name then.
    public var isPerPath = false
}

/// What a client ID may look like.
public enum ClientIDForm: String, Sendable, CaseIterable {
    /// A UUID.
    case uuid

    /// Whether a text looks so.
    public func accepts(_ id: String) -> Bool { id.isUUID }
}

/// A client that people can call by name: a `[[client]]` table.
public struct PluginClient: Sendable, Equatable {
    /// What people write instead of the client ID.
    public let name: String
    /// The client ID.
    public let id: String
    /// Whose client it is, for people; empty if the name says all.
    public var summary = ""
    /// Patterns of the authorities' hosts that know it; empty for all that the plugin serves.
    public var hosts: [String] = []
    /// The redirect URI that it is registered with; nil if the plugin's own choice will do.
    public var redirectURI: String?
    /// The flows that it may use; empty for all.
    public var flows: [PluginRequest.Flow] = []
}

/// Something wrong with an installed plugin; the others work on.
public struct PluginProblem: Error, Sendable, Equatable {
    /// The file or folder it is about.
    public let file: String
    /// The line in the file, counted from 1.
    public let line: Int?
    /// One sentence for a person: lower case, no full stop.
    public let message: String
    /// What to do about it.
    public let hint: String?

    init(file: String, line: Int? = nil, _ message: String, hint: String? = nil) {
        self.file = file
        self.line = line
        self.message = message
        self.hint = hint
    }

    /// Takes what a file's reader says, in its words or in others.
    init(_ error: SettingsError, _ message: String? = nil) {
        self.init(file: error.file, line: error.line, message ?? error.message, hint: error.hint)
    }
}

extension PluginProblem: CustomStringConvertible {
    /// `FILE:LINE: MESSAGE`.
    public var description: String {
        "\(file.displayable())\(line.map { ":\($0)" } ?? ""): \(message)"
    }
}
