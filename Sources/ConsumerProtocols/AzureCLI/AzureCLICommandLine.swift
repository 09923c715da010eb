import Addresses
import Rules

/// A command line of the Azure CLI, as the SDKs run it.
struct AzureCLICommandLine: Sendable {
    /// The commands that SDKs run.
    enum Action: Sendable, Equatable {
        case token, account, version
        /// The version as text for people.
        case versionText
    }

    let action: Action
    /// The scopes of the token; empty for `version`.
    private(set) var scopes: [String] = []
    /// The tenant; nil for the configured authority's.
    private(set) var tenant: String?
    /// The subscription; it doesn't affect the token.
    private(set) var subscription: String?
    /// The only member to print, as plain text; nil for JSON.
    private(set) var member: String?

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
    private static let flags: Set = ["--debug", "--verbose", "--only-show-errors"]
    private static let options: Set = [
        "--output", "--tenant", "--subscription", "--resource", "--resource-type", "--scope", "--query",
    ]

    /// Returns the command at the start of the arguments; nil if SDKs don't run it.
    static func action(of arguments: [String]) -> (action: Action, rest: ArraySlice<String>)? {
        switch (arguments.first, arguments.dropFirst().first) {
        case ("account", "get-access-token"): (.token, arguments.dropFirst(2))
        case ("account", "show"): (.account, arguments.dropFirst(2))
        case ("version", _): (.version, arguments.dropFirst())
        case ("--version", nil): (.versionText, [])
        default: nil
        }
    }

    /// Parses the arguments of `az`.
    init(_ arguments: [String]) throws(Mistake) {
        guard let (action, rest) = Self.action(of: arguments) else {
            throw Mistake(
                message: "lanyard answers for az only `account get-access-token`, `account show` and `version`")
        }
        self.action = action
        try take(try Self.values(in: rest))
        if scopes.isEmpty, action == .token || action == .account { scopes = [AzureCLIConsumer.defaultScope] }
    }

    /// Returns the values of the options by their long names.
    private static func values(in arguments: ArraySlice<String>) throws(Mistake) -> [String: [String]] {
        var values: [String: [String]] = [:]
        var rest = arguments
        while let word = rest.popFirst() {
            let (written, inline) = word.hasPrefix("-") ? word.cut(at: "=") ?? (word[...], nil) : (word[...], nil)
            let name = names[String(written)] ?? String(written)
            if flags.contains(name), inline == nil { continue }
            guard options.contains(name) else { throw Mistake(message: "az: unrecognized arguments: \(word)") }
            let found = inline.map { [String($0)] } ?? Self.following(name, &rest)
            guard !found.isEmpty else { throw Mistake(message: "az: argument \(name): expected one argument") }
            values[name, default: []] += found
        }
        return values
    }

    /// Returns the values after an option: any number for `--scope`, else one.
    private static func following(_ name: String, _ rest: inout ArraySlice<String>) -> [String] {
        let all = rest.prefix { !$0.hasPrefix("-") }
        let taken = name == "--scope" ? all : all.prefix(1)
        rest = rest.dropFirst(taken.count)
        return Array(taken)
    }

    private mutating func take(_ values: [String: [String]]) throws(Mistake) {
        subscription = values["--subscription"]?.last
        member = try Self.member(format: values["--output"]?.last ?? "json", query: values["--query"]?.last)
        tenant = values["--tenant"]?.last
        if let tenant, !CredentialRequest.TokenWish.isTenant(tenant) {
            throw Mistake(message: "az: argument --tenant: it is neither an id nor a domain")
        }
        scopes = values["--scope"] ?? []
        if let resource = values["--resource"]?.last {
            scopes.append(CredentialRequest.TokenWish.scope(ofResource: resource))
        }
        if let type = values["--resource-type"]?.last {
            guard let resource = Self.resources[type] else {
                throw Mistake(message: "az: there is no such resource type")
            }
            scopes.append(CredentialRequest.TokenWish.scope(ofResource: resource))
        }
        guard values.keys.filter({ ["--scope", "--resource", "--resource-type"].contains($0) }).count <= 1 else {
            throw Mistake(message: "az: give one of --scope, --resource and --resource-type")
        }
    }

    /// Returns the member that a query selects; nil for all members, as JSON.
    private static func member(format: String, query: String?) throws(Mistake) -> String? {
        switch (format, query) {
        case ("json", nil), ("jsonc", nil): nil
        case ("tsv", let query?) where query.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }: query
        default:
            throw Mistake(message: "lanyard writes az's answers with `--output json`, or `--query MEMBER --output tsv`")
        }
    }
}
