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
    /// What a rule's `kind` picks, where the authority's URL does not tell.
    public var kind: String?
    /// The flows it can use.
    public var flows: [PluginRequest.Flow] = []
    /// The authorities it serves.
    public var authorities: [AuthorityPattern] = []
    /// Hosts that are one environment each; the first is where requests go.
    public var environments: [[String]] = []
    /// Well-known consumers' hosts and the scopes of their tokens.
    public var resources: [PluginResource] = []
    /// The folder the manifest is in, symbolic links resolved.
    public var folder = ""
    /// The program, symbolic links resolved; nobody but root and the user can have written it.
    public var executable = ""

    init(name: String) {
        self.name = name
    }
}

/// Authority URLs that a plugin serves: an `[[authority]]` table.
public struct AuthorityPattern: Sendable, Equatable {
    /// A segment of the path.
    public enum Segment: Sendable, Equatable {
        /// This text, whatever its case.
        case literal(String)
        /// The tenant.
        case realm
        /// The user flow or custom policy.
        case policy
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

/// A well-known consumer of tokens: a `[[resource]]` table.
public struct PluginResource: Sendable, Equatable {
    /// What people call it.
    public let name: String
    /// Host patterns: a name or `*.suffix`.
    public let hosts: [String]
    /// The scopes that a token for it is asked with.
    public let scopes: [String]
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

    init(_ error: SettingsError) {
        self.init(file: error.file, line: error.line, error.message, hint: error.hint)
    }
}

extension PluginProblem: CustomStringConvertible {
    /// `FILE:LINE: MESSAGE`.
    public var description: String {
        "\(file.displayable())\(line.map { ":\($0)" } ?? ""): \(message)"
    }
}
