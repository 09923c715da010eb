import Addresses
public import JSON
import Model
public import Secrets
import Terminal

extension Tool {
    static let azureCLI = Tool(
        "azure-cli", aliases: ["az"],
        .standIn(
            ToolVerb(
                name: AzureCLIProtocol.program, abstract: "Print tokens as the Azure CLI does.",
                discussion: """
                    For SDKs, which run the Azure CLI for tokens; `lanyard exec --as azure-cli` makes them run lanyard instead. The options \
                    are the Azure CLI's: --resource, --scope, --tenant, --subscription, --query and --output.
                    """,
                argument: "The arguments that az would get.",
                usage: "lanyard az account get-access-token | account show | version [<options>]",
                examples: ["Get a token as an SDK does": "lanyard az account get-access-token --output json"])),
        { AzureCLIProtocol($0.arguments, environment: $0.environment, version: $0.version) },
        recipe: Hint("run programs for Azure with", run: "lanyard exec --as azure-cli -- COMMAND"))
}

/// The part of the Azure CLI that the Azure SDKs (`AzureCliCredential`) and Terraform's providers run to get a token.
///
/// They wait ten seconds. If the exit status isn't 0 and stderr contains "az login", they conclude that the user hasn't
/// signed in. Some read stderr together with the JSON.
public struct AzureCLIProtocol: ToolProtocol {
    /// The SDKs accept tokens only.
    public static var takesPasswords: Bool { false }

    /// The SDKs wait for ten seconds.
    public static var timeLimit: Int? { 8 }

    /// The name of the program that the SDKs run.
    public static let program = "az"
    /// The version of the Azure CLI that lanyard claims to be; Terraform accepts 2.30 or later, but before 3.
    private static let version = "2.91.0"

    private let arguments: [String]
    private let environment: [String: String]
    private let ownVersion: String
    private var command: AzureCLICommandLine?

    /// Creates a tool for arguments of `az`; `version` is lanyard's own.
    public init(_ arguments: [String], environment: [String: String], version: String) {
        self.arguments = arguments
        self.environment = environment
        ownVersion = version
    }

    /// Returns the invocation of SDKs, which name the resource that the token is for.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        Invocation(["account", "get-access-token", "--output", "json", "--resource", url])
    }

    /// Whether lanyard serves these arguments; all others are for the real Azure CLI.
    public static func serves(_ arguments: [String]) -> Bool { AzureCLICommandLine.action(of: arguments) != nil }

    /// Parses the arguments, and asks for the token if the command needs one.
    public mutating func begin() -> Turn {
        do throws(CommandError) {
            let command = try AzureCLICommandLine(arguments)
            self.command = command
            return switch command.action {
            case .token, .account: Turn(.ask(.get(Self.request(command))))
            case .version: print(["azure-cli": .string(Self.version), "azure-cli-core": .string(Self.version)])
            case .versionText: .answer("azure-cli \(Self.version) (lanyard \(ownVersion))")
            }
        } catch {
            return .fail(error.message, status: 2)
        }
    }

    /// Answers with the token or account.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .credential(let credential): answer(credential)
        case .refused(let refusal):
            Turn(complaint: refusal.complaint(toSDKs: "Please run 'az login' to set up an account"), .end(1))
        case .input, .nothing: .fail("there is no token for this")
        }
    }

    private static func request(_ command: AzureCLICommandLine) -> CredentialRequest {
        var request = CredentialRequest()
        request.isUnattended = true
        request.explicit.scopes = command.scopes
        request.explicit.tenant = command.tenant
        return request
    }

    private func answer(_ credential: Credential) -> Turn {
        guard let command, case .accessToken = credential.kind else {
            return .fail("there is no token for this")
        }
        let tenant = credential.realm ?? command.tenant ?? ""
        if command.action == .account { return print(account(of: credential, tenant, command)) }
        var members = Self.token(credential.secret, tenant: tenant, expiresOn: credential.end)
        if let subscription = command.subscription { members["subscription"] = .string(subscription) }
        return print(members)
    }

    /// Returns the members that az prints for a token; `expiresOn` is in local time as in az, `expires_on` in seconds
    /// since 1970.
    ///
    /// `subscription` is absent, as it is in az with `--tenant`. Both times are absent for a token without a known
    /// expiry.
    public static func token(
        _ token: Secret, type: String = "Bearer", tenant: String, expiresOn: Int?
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "accessToken": .string(token.reveal()), "tenant": .string(tenant), "tokenType": .string(type),
        ]
        if let expiresOn {
            members["expiresOn"] = .string(localTime(expiresOn))
            members["expires_on"] = .integer(Int64(expiresOn))
        }
        return members
    }

    /// Returns the account and its tenant; the subscription comes from the environment, because no sign-in lists them.
    private func account(
        of credential: Credential, _ tenant: String, _ command: AzureCLICommandLine
    ) -> [String: JSONValue] {
        let named = ["ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"].lazy.compactMap { environment[$0] }
        var members: [String: JSONValue] = [
            "environmentName": "AzureCloud", "homeTenantId": .string(tenant), "isDefault": true, "state": "Enabled",
            "tenantId": .string(tenant),
            "user": ["name": .string(credential.username ?? ""), "type": "user"],
        ]
        if let id = command.subscription ?? named.first(where: { !$0.isEmpty }) { members["id"] = .string(id) }
        return members
    }

    private func print(_ members: [String: JSONValue]) -> Turn {
        guard let command else { return Turn(.end(1)) }
        let value = command.member.map { members[$0] } ?? .object(members)
        // az prints nothing for a member that isn't there, and with `--output none`.
        guard let value, !command.isPlain || command.member != nil else { return Turn(.end(0)) }
        return command.isPlain
            ? .answer(value.text ?? "") : Turn(output: value.encoded(pretty: true) + [0x0A], .end(0))
    }

    /// The default scope of a token.
    static let defaultScope = CredentialRequest.ExplicitToken.scope(ofResource: AzureCLICommandLine.defaultResource)

    /// Formats a time as az does.
    package static func localTime(_ seconds: Int) -> String { Moment.local(seconds, "%Y-%m-%d %H:%M:%S.000000") }
}

extension Refusal {
    /// Returns a complaint with the words that SDKs look for if the user must sign in.
    ///
    /// An authority's own refusal goes without them, for with them SDKs hide it. It has what the errors of Entra ID begin
    /// with, which SDKs look for, too.
    func complaint(toSDKs words: String) -> Turn.Complaint {
        guard status == 2, !message.hasBytes("AADSTS") else { return .refusal }
        return .other(
            "\(message) (to SDKs: \(words))", remedy: remedies.isEmpty ? nil : "\(remedies.joined(separator: "; "))")
    }
}
