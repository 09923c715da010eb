import Addresses
import Model
import Terminal

/// A command line of the Azure CLI, as the SDKs run it.
struct AzureCLICommandLine: Sendable {
    /// The commands that SDKs run.
    enum Action: Sendable, Equatable {
        case token, account, version
        /// The version as text for users.
        case versionText
    }

    let action: Action
    /// The scopes of the token; empty for `version`.
    private(set) var scopes: [String] = []
    /// The tenant; nil for the configured authority's.
    private(set) var tenant: String?
    /// The subscription; it doesn't affect the token.
    private(set) var subscription: String?
    /// The only member to print; nil for all.
    private(set) var member: String?
    /// Whether to print it as plain text, and not as JSON.
    private(set) var isPlain = false

    /// The default resource of a token (az, `cloud.py`: the public cloud).
    static let defaultResource = "https://management.core.windows.net/"

    /// The resources that `--resource-type` stands for (same file).
    private static let resources = [
        "aad-graph": "https://graph.windows.net/", "arm": defaultResource,
        "batch": "https://batch.core.windows.net/", "data-lake": "https://datalake.azure.net/",
        "media": "https://rest.media.azure.net", "ms-graph": "https://graph.microsoft.com/",
        "oss-rdbms": "https://ossrdbms-aad.database.windows.net",
    ]

    private static let names = [
        "-o": "--output", "-t": "--tenant", "-s": "--subscription", "-n": "--subscription", "--name": "--subscription",
    ]
    private static let flags = ["--debug", "--verbose", "--only-show-errors"]
    private static let options = [
        Action.token: [
            "--output", "--query", "--tenant", "--subscription", "--name", "--resource", "--resource-type", "--scope",
        ],
        .account: ["--output", "--query", "--subscription", "--name"], .version: ["--output", "--query"],
    ]

    /// Returns the command at the start of the arguments; nil if SDKs don't run it, or if it is asked for help.
    static func action(of arguments: [String]) -> (action: Action, rest: ArraySlice<String>)? {
        guard !arguments.contains("--help"), !arguments.contains("-h") else { return nil }
        return switch (arguments.first, arguments.dropFirst().first) {
        case ("account", "get-access-token"): (.token, arguments.dropFirst(2))
        case ("account", "show"): (.account, arguments.dropFirst(2))
        case ("version", _): (.version, arguments.dropFirst())
        case ("--version", nil): (.versionText, [])
        default: nil
        }
    }

    /// Parses the arguments of `az`.
    init(_ arguments: [String]) throws(CommandError) {
        guard let (action, rest) = Self.action(of: arguments) else {
            throw CommandError(
                "lanyard answers for az only `account get-access-token`, `account show` and `version`")
        }
        self.action = action
        try read(try Self.values(in: rest, of: action))
        if scopes.isEmpty, action == .token || action == .account { scopes = [AzureCLIProtocol.defaultScope] }
    }

    /// Returns the values of the options by their long names, as Python's argparse does: of an option that is repeated, the last counts.
    private static func values(
        in arguments: ArraySlice<String>, of action: Action
    ) throws(CommandError) -> [String: [String]] {
        var values: [String: [String]] = [:]
        var rest = arguments
        while let word = rest.popFirst() {
            let (written, inline) = cut(word)
            let option = try option(written, of: action)
            if flags.contains(option), inline == nil { continue }
            guard !flags.contains(option), let name = names[option] ?? (option.hasPrefix("--") ? option : nil) else {
                throw CommandError("az: unrecognized arguments: \(word)")
            }
            let found = inline.map { [$0] } ?? Self.following(name, &rest)
            guard !found.isEmpty else { throw CommandError("az: argument \(name): expected one argument") }
            values[name] = found
        }
        return values
    }

    /// Returns an option and the value in the same word, as in `--output=tsv`, `-o=tsv` and `-otsv`.
    private static func cut(_ word: String) -> (option: String, value: String?) {
        guard isOption(word) else { return (word, nil) }
        if let (option, value) = word.cut(at: "="), option.hasPrefix("--") || option.utf8.count == 2 {
            return (String(option), String(value))
        }
        guard !word.hasPrefix("--"), word.utf8.count > 2 else { return (word, nil) }
        return (String(word.prefix(2)), String(word.dropFirst(2)))
    }

    /// Returns the option that a word, which may be an abbreviation, stands for.
    private static func option(_ word: String, of action: Action) throws(CommandError) -> String {
        let all = (options[action] ?? []) + flags + ["--help"]
        let short = names.keys.filter { names[$0].map(all.contains) ?? false }
        if all.contains(word) || short.contains(word) { return word }
        let found = word.hasPrefix("--") && word != "--" ? all.filter { $0.hasPrefix(word) } : []
        guard found.count < 2 else {
            throw CommandError(
                "az: ambiguous option: \(word) could match \(found.sorted().joined(separator: ", "))")
        }
        guard let option = found.first else { throw CommandError("az: unrecognized arguments: \(word)") }
        return option
    }

    private static func isOption(_ word: String) -> Bool {
        word.hasPrefix("-") && word != "-" && !word.utf8.contains(UInt8(ascii: " "))
    }

    /// Returns the values after an option: any number for `--scope`, else one.
    private static func following(_ name: String, _ rest: inout ArraySlice<String>) -> [String] {
        let all = rest.prefix { !isOption($0) }
        let values = name == "--scope" ? all : all.prefix(1)
        rest = rest.dropFirst(values.count)
        return Array(values)
    }

    private mutating func read(_ values: [String: [String]]) throws(CommandError) {
        subscription = values["--subscription"]?.last
        (member, isPlain) = try Self.form(values["--output"]?.last?.lowercased() ?? "json", values["--query"]?.last)
        tenant = values["--tenant"]?.last
        if let tenant, !CredentialRequest.ExplicitToken.isTenant(tenant) {
            throw CommandError("az: argument --tenant: it is neither an id nor a domain")
        }
        scopes = values["--scope"] ?? []
        if let resource = values["--resource"]?.last {
            scopes.append(CredentialRequest.ExplicitToken.scope(ofResource: resource))
        }
        if let type = values["--resource-type"]?.last {
            guard let resource = Self.resources[type] else {
                throw CommandError("az: there is no such resource type")
            }
            scopes.append(CredentialRequest.ExplicitToken.scope(ofResource: resource))
        }
        guard values.keys.filter({ ["--scope", "--resource", "--resource-type"].contains($0) }).count <= 1 else {
            throw CommandError("az: give one of --scope, --resource and --resource-type")
        }
    }

    /// Returns the member that a query selects, or nil for all, and whether it is printed as plain text.
    private static func form(_ format: String, _ query: String?) throws(CommandError) -> (
        member: String?, isPlain: Bool
    ) {
        let isMember = query?.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") } ?? true
        switch format {
        case "json" where isMember, "jsonc" where isMember: return (query, false)
        case "tsv" where isMember && query != nil: return (query, true)
        case "none": return (nil, true)
        default:
            throw CommandError(
                "lanyard writes az's answers with `--output json`, or `--query MEMBER --output tsv`")
        }
    }
}
