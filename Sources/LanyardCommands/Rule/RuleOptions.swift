import ArgumentParser
import Rules

/// The options for a new rule.
struct RuleOptions: ParsableArguments {
    @Option(
        name: [.customLong("authority"), .customLong("issuer")],
        help: ArgumentHelp("The authority, such as \(Example.authority), or a tenant's domain.", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("The client ID of your app registration, or a client's name.", valueName: "id"))
    var clientId: String?

    @Option(
        help: ArgumentHelp("A scope; may be repeated. Well-known hosts need none.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "A resource instead of scopes: its identifier, or a name such as \"Azure DevOps\".", valueName: "resource"))
    var resource: String?

    @Option(help: ArgumentHelp("The account: a user name or an identifier.", valueName: "account"))
    var account: String?

    /// The kinds of all plugins that come with lanyard; kinds of other plugins aren't known when options are parsed.
    static let kinds = [
        "aad", "adfs", "b2c", "bitbucket", "bitbucket-dc", "ciam", "forgejo", "gitea", "github", "gitlab",
        "googlesource", "huggingface", "oidc",
    ]

    @Option(
        help: ArgumentHelp(
            "The kind of authority, if its URL doesn't show it: \(kinds.joined(separator: ", ")).", valueName: "kind"))
    var kind: String?

    /// The exchanges of all plugins that come with lanyard.
    static let exchanges = ["acr", "aws-sts"]

    @Option(
        help: ArgumentHelp(
            "How the token is exchanged for what the host accepts: \(exchanges.joined(separator: ", ")). Known hosts need none.",
            valueName: "name"))
    var exchange: String?

    @Flag(help: "Accept an authority at a host that no plugin knows.")
    var trustAuthority = false

    mutating func validate() throws {
        kind = kind?.lowercased()
        if resource != nil, !scope.isEmpty { throw ValidationError("give --scope or --resource, not both") }
    }

    var isEmpty: Bool {
        authority == nil && clientId == nil && scope.isEmpty && resource == nil && account == nil && kind == nil
            && exchange == nil
    }
}
