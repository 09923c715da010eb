import Claims
import JSON
import PluginHost
import Rules
import Terminal
import TokenAcquisition
import TokenStore

extension Explanation {
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
            members["resourceIndicators"] = JSONValue(strings: wanted.resourceIndicators)
            members["exchange"] = JSONValue(wanted.exchange?.name)
            members["claims"] = JSONValue(wanted.claims)
        }
        if let identity = wanted?.identity {
            members["identity"] = [
                "name": .string(identity.name), "namedBy": .string(namedBy),
                "proof": .string(identity.proofForPeople), "variables": JSONValue(strings: identity.variables),
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
            members["plugin"] = ["name": .string(plugin.name), "version": .string(plugin.version)]
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
