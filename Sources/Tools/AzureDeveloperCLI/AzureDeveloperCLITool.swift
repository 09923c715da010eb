import Addresses
import Claims
import JSON
import Model
import Secrets
import Terminal

extension Tool {
    static let azd = Tool(
        "azd",
        .standIn(
            ToolVerb(
                name: AzureDeveloperCLIProtocol.program, abstract: "Print tokens as the Azure Developer CLI does.",
                discussion: """
                    For SDKs, which run the Azure Developer CLI for tokens; `lanyard exec --as azd` makes them run lanyard instead. The \
                    options are the Azure Developer CLI's: --scope, --tenant-id, --claims and --output.
                    """,
                argument: "The arguments that azd would get.", usage: "lanyard azd auth token [<options>]",
                examples: ["Get a token as an SDK does": "lanyard azd auth token --output json --no-prompt"])),
        { AzureDeveloperCLIProtocol($0.arguments) },
        recipe: Hint("run programs for Azure with", run: "lanyard exec --as azd -- COMMAND"))
}

/// The part of the Azure Developer CLI that the Azure SDKs (`AzureDeveloperCliCredential`) run to get a token.
///
/// They wait ten seconds. If a complaint contains "azd auth login", they conclude that the user hasn't signed in. Some
/// read stderr together with the JSON.
public struct AzureDeveloperCLIProtocol: ToolProtocol {
    /// The SDKs accept tokens only.
    public static var takesPasswords: Bool { false }

    /// The SDKs wait for ten seconds.
    public static var timeLimit: Int? { 8 }

    /// The name of the program that the SDKs run.
    public static let program = "azd"

    /// The options without a value; those with one are in `options`.
    private static let flags: Set = ["--no-prompt", "--debug"]
    private static let options: Set = ["--output", "--scope", "--tenant-id", "--claims"]
    private static let names = ["-o": "--output"]
    private static let longestClaims = 32 << 10

    private let arguments: [String]

    /// Creates a tool for arguments of `azd`.
    public init(_ arguments: [String]) { self.arguments = arguments }

    /// Returns the invocation of SDKs, which name the scope that the token is for.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let scope = CredentialRequest.ExplicitToken.scope(ofResource: url)
        return Invocation(["auth", "token", "--output", "json", "--no-prompt", "--scope", scope])
    }

    /// Whether lanyard serves these arguments; all others are for the real Azure Developer CLI.
    public static func serves(_ arguments: [String]) -> Bool { arguments.starts(with: ["auth", "token"]) }

    /// Parses the arguments and asks for the token.
    public mutating func begin() -> Turn {
        do throws(CommandError) { return Turn(.ask(.get(try request()))) } catch {
            return .fail("azd: \(error.message)", status: 2)
        }
    }

    /// Answers with the token.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .credential(let credential): Self.answer(credential)
        case .refused(let refusal):
            Turn(complaint: refusal.complaint(toSDKs: "not logged in, run `azd auth login` to login"), .end(1))
        case .input, .nothing: Self.nothing
        }
    }

    private static let nothing = Turn.fail("there is no token for this")

    /// Answers with the members that azd prints for a token; the expiry is in UTC, as in azd.
    ///
    /// A token without a known expiry has none here either, which no SDK accepts.
    private static func answer(_ credential: Credential) -> Turn {
        guard case .accessToken = credential.kind else { return nothing }
        var members: [String: JSONValue] = ["token": .string(credential.secret.reveal())]
        members["expiresOn"] = credential.expiry.map(JSONValue.string)
        return .answer(.object(members))
    }

    private func request() throws(CommandError) -> CredentialRequest {
        guard Self.serves(arguments) else { throw CommandError("lanyard answers only `azd auth token`") }
        let values = try values()
        var request = CredentialRequest()
        request.isUnattended = true
        guard values["--output"]?.last ?? "json" == "json" else {
            throw CommandError("lanyard writes azd's answers with `--output json`")
        }
        request.explicit.scopes = values["--scope"] ?? []
        if request.explicit.scopes.isEmpty { request.explicit.scopes = [AzureCLIProtocol.defaultScope] }
        request.explicit.tenant = values["--tenant-id"]?.last
        if let tenant = request.explicit.tenant, !CredentialRequest.ExplicitToken.isTenant(tenant) {
            throw CommandError("--tenant-id is neither an id nor a domain")
        }
        request.explicit.claims = try values["--claims"]?.last.map(Self.claims)
        return request
    }

    private func values() throws(CommandError) -> [String: [String]] {
        var values: [String: [String]] = [:]
        var rest = arguments.dropFirst(2)
        while let word = rest.popFirst() {
            let (written, inline) = word.hasPrefix("-") ? word.cut(at: "=") ?? (word[...], nil) : (word[...], nil)
            let name = Self.names[String(written)] ?? String(written)
            if Self.flags.contains(name) { continue }
            guard Self.options.contains(name) else { throw CommandError("unknown flag: \(word)") }
            guard let value = inline.map(String.init) ?? rest.popFirst(), !value.isEmpty else {
                throw CommandError("flag needs an argument: \(name)")
            }
            values[name, default: []].append(value)
        }
        return values
    }

    /// Decodes a claims request from base64.
    private static func claims(_ text: String) throws(CommandError) -> String {
        guard text.utf8.count <= longestClaims, let bytes = Base64URL.decode(text),
            let json = String(validating: bytes, as: UTF8.self), let request = try? ClaimsRequest(json)
        else { throw CommandError("--claims must be a claims request in base64") }
        return request.encoded
    }
}
