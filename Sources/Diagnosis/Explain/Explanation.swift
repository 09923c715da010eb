import Claims
import CommandKit
import JSON
import Keyring
import Model
import PluginHost
import Rules
import Terminal
import TokenAcquisition

/// What is known about a URL: the token that it gets, the reasons, and what `get` would do; never a secret.
struct Explanation: Sendable {
    /// What maps the URL to a token.
    enum Mapping: Sendable {
        case rule(Rule)
        /// A resource by name, and the plugin that knows its host.
        case wellKnown(String, plugin: String)
        case nothing
    }

    /// A rule that doesn't apply, and the reason.
    struct SkippedRule: Sendable {
        let rule: Rule
        let reason: String
        /// Whether it may have been meant: its host is the URL's, or one of the two is below the other.
        let isNear: Bool
        /// Whether the rule matches the URL, too.
        let isMatch: Bool
    }

    /// git's view of the URL.
    ///
    /// `missing` is the first lanyard among the helpers that git can't find; nil if there is none.
    typealias GitView = (helpers: GitHelpers, missing: GitHelpers.Missing?, sendsPath: Bool)

    /// A tool's view of the URL.
    struct ToolView: Sendable {
        let name: ToolName
        /// Whether the tool can send more of a URL than its host.
        let sendsPath: Bool
        /// Whether the tool accepts credentials with several parts.
        let takesFields: Bool
        /// Whether the tool asks for no credential at such a URL.
        let asksNothing: Bool
        /// What the tool asks for, one fact per line.
        let asks: [String]
        /// How the tool is configured; nil if lanyard doesn't configure such tools.
        let uses: ToolUse?
        /// That the installed tool is too old to ask lanyard; nil if it isn't.
        var outdated: Hint?
        /// What the tool gets, in words that follow its name and "gets".
        var gets = "no credential"
        /// lanyard's output for the tool, with masked secrets; empty if it isn't known yet.
        var reads: [String] = []
        /// Whether there is a credential that the tool can't use.
        var isUnusable = false
        /// The exit status; nil if lanyard continues, or if it isn't known yet.
        var status: Int32?
    }

    /// What `get` would do next.
    struct Next: Sendable {
        /// As programs read it (docs/diagnosis.md).
        enum Step: String {
            case askAgent = "ask-agent"
            case answer
            case exchange
            case askBroker = "ask-broker"
            case renew
            case tryRenewal = "try-renewal"
            case authenticate
            case signIn = "sign-in"
            case choose
            case unlock
            case password
            case nothing
            case fail
        }

        let step: Step
        /// The step for users, after "lanyard would".
        let text: String
        var hints: [Hint] = []
        var status: ExitStatus = .done
        /// The error if the step is a failure.
        var failure: CommandError?
    }

    let url: String
    /// The socket of the agent that is asked instead of what follows; nil if this machine answers by itself.
    var agent: String?
    var mapping = Mapping.nothing
    var skipped: [SkippedRule] = []
    var wanted: TokenRequest?
    /// What named the account or the identity; meaningless if neither is named.
    var namedBy = ""
    var decision: Decision?
    /// The other plugins that name the authority's host, and aren't asked.
    var passedOverPlugins: [String] = []
    /// The plugins that have the rule's source; the first is asked.
    var sourcePlugins: [PluginManifest] = []
    /// Whether `get` would answer with a remembered credential.
    var isRemembered = false
    /// Whether the client has no stored secret, which would allow more ways to sign in.
    var lacksSecret = false
    /// The host for which the authority's could be mistaken; nil if there is none.
    var lookAlike: String?
    /// The name of a client that gets tokens for a well-known host without an app registration; nil if there is none.
    var offeredClient: String?
    /// Whether the tool specifies a token instead of a place.
    var isByName = false
    /// Whether tokens may be sent to the URL.
    var isTokenPlace = true
    var git: GitView?
    /// The tool's view; nil unless the explanation is for one tool.
    var tool: ToolView?
    /// The answer of the URL's server; nil if it wasn't asked.
    var server: ServerAnswer?
    /// The issuer at the URL's host, or the one that its server's answer suggests; nil if there is neither.
    var issuer: PluginIssuer?
    /// Whether the URL is at a cloud's host that takes only what its plugin exchanges tokens for.
    var isExchanging = false
    var next = Next(step: .nothing, text: "print nothing")
    var now: Int
    let context: CommandContext

    /// The explanation as JSON, documented in docs/diagnosis.md.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "url": .string(url), "agent": JSONValue(agent), "mapping": mappingJSON,
            "passedOver": .array(
                skipped.map {
                    [
                        "url": .string($0.rule.pattern.text), "file": .string($0.rule.file),
                        "line": JSONValue($0.rule.line), "reason": .string($0.reason),
                    ]
                }),
            "next": [
                "step": .string(next.step.rawValue), "text": .string(next.text),
                "status": .integer(Int64(next.status.rawValue)),
            ],
            "hints": JSONValue(strings: hints.map(\.line)),
        ]
        if let wanted {
            members["authority"] = .string(wanted.authority)
            members["clientId"] = .string(wanted.clientID)
            members["clientName"] = JSONValue(decision?.match?.client(wanted.clientID)?.name)
            members["scopes"] = JSONValue(strings: wanted.scopes)
            members["token"] = JSONValue(wanted.source == nil ? wanted.token.rawValue : nil)
            members["resourceIndicators"] = JSONValue(strings: wanted.resourceIndicators)
            members["source"] = JSONValue(wanted.source)
            members["exchange"] = JSONValue(wanted.exchange?.name)
            members["exchangeParameters"] = .object((wanted.exchange?.parameters ?? [:]).mapValues(JSONValue.string))
            members["claims"] = JSONValue(wanted.claims)
        }
        if let identity = wanted?.identity {
            members["identity"] = [
                "name": .string(identity.name), "namedBy": .string(namedBy),
                "proof": .string(identity.displayedProof.text), "variables": JSONValue(strings: identity.variables),
            ]
        }
        if let decision { members.merge(decisionJSON(decision)) { $1 } }
        if let tool { members["for"] = tool.json }
        if let server { members["server"] = server.json }
        if let git {
            members["git"] = [
                "helpers": JSONValue(strings: git.helpers.all.map(\.name)), "sendsPath": .bool(git.sendsPath),
            ]
        }
        return .object(members)
    }

    private var mappingJSON: JSONValue {
        switch mapping {
        case .rule(let rule):
            [
                "kind": "rule", "url": .string(rule.pattern.text), "file": .string(rule.file),
                "line": JSONValue(rule.line),
            ]
        case .wellKnown(let name, let plugin):
            ["kind": "well-known", "name": .string(name), "plugin": .string(plugin)]
        case .nothing: ["kind": "none"]
        }
    }

    private func decisionJSON(_ decision: Decision) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "accounts": JSONValue(strings: decision.accounts.map(\.username)), "remembered": .bool(isRemembered),
            "stored": [
                "accessTokenExpiresOn": JSONValue(decision.accessToken?.expiresOn),
                "refreshToken": .bool(decision.canRenew), "broker": .bool(decision.isBrokered),
                "exchangedExpiresOn": JSONValue(decision.exchanged?.expiresOn),
            ],
        ]
        members["broker"] =
            decision.broker.map { ["name": .string($0.name), "isFirst": .bool(decision.asksBrokerFirst)] } ?? .null
        if let plugin = decision.match?.plugin {
            members["plugin"] = [
                "name": .string(plugin.name), "version": .string(plugin.version),
                "before": JSONValue(strings: passedOverPlugins),
            ]
        }
        if let account = decision.account {
            members["account"] = [
                "username": .string(account.username), "homeAccountId": .string(account.homeAccountID),
                "chosen": .string(decision.reason?.rawValue ?? ""),
            ]
        }
        return members
    }
}

extension Explanation.Next {
    /// Creates the step for a failure, with text before and after its message.
    init(_ failure: CommandError, _ before: String = "give no answer: ", after: String = "") {
        self.init(
            step: .fail, text: before + failure.message.text + after, hints: failure.hints, status: failure.status,
            failure: failure)
    }
}

extension Explanation.ToolView {
    fileprivate var json: JSONValue {
        [
            "tool": .string(name.text), "asks": JSONValue(strings: asks),
            "configured": JSONValue(uses?.text()), "gets": .string(gets),
            "reads": JSONValue(strings: reads), "status": status.map { .integer(Int64($0)) } ?? .null,
        ]
    }
}

extension ServerAnswer {
    fileprivate var json: JSONValue {
        let problem: String? =
            switch self {
            case .none(let words), .unreachable(let words): words
            case .challenges, .open: nil
            }
        return [
            "challenges": .array(challenges.map(\.json)),
            "resourceMetadata": JSONValue(resourceMetadata),
            "problem": JSONValue(problem),
        ]
    }
}

extension AuthenticateChallenge {
    fileprivate var json: JSONValue {
        ["scheme": .string(scheme), "realm": JSONValue(parameters["realm"])]
    }
}
