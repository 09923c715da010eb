import ArgumentParser
import Claims
import CommandKit
import CredentialEngine
import JSON
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

struct IdentityCheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Get a token as an identity, and say what it is.",
        discussion: """
            Asks for a new token, whatever is stored, and exchanges it if the URL's host wants that. Prints which application or machine it belongs to, when it expires, \
            and which roles it has; the exit status is 1 if there is none. Without a URL, scope or resource, the token is for an API that the authority itself \
            offers, such as Microsoft Graph; a GitHub App, whose tokens are for a repository each, is only asked for its name. \
            Never asks anyone to sign in.
            """)

    static let examples: KeyValuePairs = [
        "Check what the pipeline's variables describe": "lanyard identity check environment",
        "Check that an identity gets a token for a URL":
            "lanyard identity check \(IdentityCommand.example) \(Example.url)",
    ]

    @Argument(help: .identityName) var name: String
    @Argument(help: .tokenURL) var url: String?

    @Option(help: ArgumentHelp("A scope; may be repeated.", valueName: "scope"))
    var scope: [String] = []

    @Option(help: ArgumentHelp("Short for the scope RESOURCE/.default.", valueName: "resource"))
    var resource: String?

    @Flag(help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        if resource != nil, !scope.isEmpty { throw ValidationError("give --scope or --resource, not both") }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isInteractive: false))
        let token: AcquiredToken?
        let exchanged: AcquiredToken?
        let identity: Identity
        let found: String?
        let hasURL = url != nil || resource != nil || !scope.isEmpty
        let host = hasURL ? nil : session.configuration.authorityPerRepository(of: name, in: session.registry)
        do throws(CommandError) {
            let request = try request(session)
            identity = request.identity ?? .environment
            (token, exchanged) = host == nil ? try await session.tokenAnew(for: request, url: url) : (nil, nil)
            found = try await session.found(for: request, isNeeded: host != nil)
        } catch {
            // Nobody can sign in with an identity, whatever the authority says.
            throw error.status == .usage ? error : error.with(.failed)
        }
        let report = IdentityReport(
            identity: identity, name: name, token: token, exchanged: exchanged, found: found, now: context.now)
        let console = session.context.console
        guard !json else { return console.print(json: report.json) }
        for line in report.lines(columns: Console.columns) { console.print(line) }
        guard let host else { return }
        let example = "\(host.authority)/OWNER/REPOSITORY"
        console.note(
            Hint("each of its tokens is for a repository; to get one", run: "lanyard identity check \(name) \(example)")
        )
    }

    private func request(_ session: Session) throws(CommandError) -> TokenRequest {
        var asked = try url.map { url throws(CommandError) in try CredentialRequest(url: url) } ?? CredentialRequest()
        asked.explicit.identity = name
        asked.explicit.scopes = resource.map { [CredentialRequest.ExplicitToken.scope(ofResource: $0)] } ?? scope
        if url == nil, asked.explicit.scopes.isEmpty {
            asked.explicit.scopes = try session.ownScopes(of: name)
        }
        guard let request = try session.resolve(asked) else { throw CommandError(noRuleMaps: asked) }
        return request
    }
}

extension Session {
    /// Returns what a plugin found on this machine, or which application an authority knows, in the plugin's words; nil if it says
    /// nothing.
    ///
    /// - Throws: the plugin's error if it must say something.
    fileprivate func found(for request: TokenRequest, isNeeded: Bool) async throws(CommandError) -> String? {
        var isFinder = false
        if case .machine(_, let plugin)? = request.identity?.source { isFinder = plugin != MachineIdentity.plugin }
        guard isNeeded || isFinder else { return nil }
        defer { context.console.endProgress() }
        do throws(AcquisitionError) { return try await acquirer.probe(request).summary } catch {
            guard isNeeded else { return nil }
            throw CommandError(error, request: request, url: nil, in: context)
        }
    }

    /// Gets a new token for an identity, whatever is stored, and what it is exchanged for; nil if it isn't.
    fileprivate func tokenAnew(
        for request: TokenRequest, url: String?
    ) async throws(CommandError) -> (AcquiredToken?, AcquiredToken?) {
        defer { context.console.endProgress() }
        do throws(AcquisitionError) {
            let token = try await acquirer.authenticatedAnew(request)
            guard request.exchange != nil else { return (token, nil) }
            try acquirer.reject(.current, for: [request])
            return (token, try await acquirer.token(for: request, mayAsk: false) { nil })
        } catch {
            throw CommandError(error, request: request, url: url, in: context)
        }
    }
}

/// What a token says about its identity.
private struct IdentityReport {
    let identity: Identity
    let name: String
    /// The token; nil if none was asked for.
    let token: AcquiredToken?
    /// What it was exchanged for; nil if it wasn't.
    let exchanged: AcquiredToken?
    /// What a plugin found on this machine, or the application's name; nil if it doesn't say.
    let found: String?
    let now: Int

    private var decoded: DecodedToken? { token.flatMap { try? DecodedToken($0.accessToken, now: now) } }

    private func text(_ claim: String) -> String? {
        decoded?[claim]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the first of these claims that the token has.
    private func text(anyOf claims: [String]) -> String? { claims.lazy.compactMap(text).first }

    // The names of Entra, whose tokens have the standard ones (RFC 9068, 2.2; OpenID Connect Core 1.0, 2) with other meanings, come
    // first.
    private var clientID: String? { text(anyOf: ["appid", "azp", "client_id"]) }
    private var objectID: String? { text(anyOf: ["oid", "sub"]) }
    private var displayName: String? { text("app_displayname") }
    private var tenant: String? { text("tid") }

    private var roles: [String] { decoded?["roles"]?.elements.compactMap(\.string) ?? [] }

    func lines(columns: Int?) -> [String] {
        var rows = [["identity", identity.name], ["proof", identity.displayedProof.text]]
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { rows.append([name, value]) }
        }
        add("found", found?.displayable(limit: 500))
        add("variables", identity.variables.joined(separator: " "))
        add("name", displayName)
        add("client ID", clientID)
        add("object ID", objectID)
        add("resource", text("xms_mirid"))
        add("tenant", tenant)
        add("for", text("aud"))
        add("roles", decoded == nil ? nil : roles.isEmpty ? "none" : roles.joined(separator: " "))
        add("until", token?.expiresOn.map(shown))
        add("exchange", exchanged.map { $0.expiresOn.map { "works, until \(shown($0))" } ?? "works" })
        return Table(rows, atLeast: [9]).wrapped(columns: columns, indent: 0)
    }

    private func shown(_ end: Int) -> String { "\(Moment.local(end)), \(Moment.remaining(until: end, now: now))" }

    var json: JSONValue {
        [
            "identity": .string(name), "variables": JSONValue(strings: identity.variables), "found": JSONValue(found),
            "clientId": JSONValue(clientID), "displayName": JSONValue(displayName),
            "objectId": JSONValue(objectID), "tenant": JSONValue(tenant),
            "audience": JSONValue(text("aud")), "roles": JSONValue(strings: roles),
            "expiresOn": JSONValue(token?.expiresOn), "isExchanged": .bool(exchanged != nil),
            "exchangeExpiresOn": JSONValue(exchanged?.expiresOn),
        ]
    }
}
