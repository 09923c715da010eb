import Addresses
package import Claims
package import JSON
package import Model
import Secrets
package import Terminal

extension Identity {
    /// What proves the identity, for users; follows "by".
    package var displayedProof: Message {
        switch source {
        case .application(let application): application.proof.displayed
        case .machine("system", let plugin): plugin.foundThere
        case .machine(let id, let plugin): "\(plugin.foundThere), as \(id, limit: 300)"
        case .environment: "what the variables describe"
        }
    }

    /// Whether the keyring contains, or is to contain, the identity's secret or password.
    package var isKeptInKeyring: Bool {
        switch application?.proof {
        case .secret(.keyring), .certificate(_, password: .keyring), .subject(_, secret: .keyring): true
        default: false
        }
    }

    /// The identity as JSON, documented in lanyard-identity(1).
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "kind": .string(kind), "file": file.isEmpty ? .null : .string(file),
            "line": JSONValue(line),
        ]
        if let application {
            members["authority"] = .string(application.authority)
            members["clientId"] = .string(application.clientID)
            if let audience = application.audience { members["audience"] = .string(audience) }
            members.merge(application.proof.json) { $1 }
        }
        if case .machine(let id, let plugin) = source {
            members["managed"] = .string(id)
            members["plugin"] = .string(plugin)
        }
        return .object(members)
    }

    private var kind: String {
        switch source {
        case .application: "application"
        case .machine: "machine"
        case .environment: "environment"
        }
    }
}

extension MachineIdentity {
    /// The words for a plugin that isn't there, or that finds no identities on machines.
    package static func lack(ofPlugin name: String) -> Message {
        name.isSame(as: plugin)
            ? "no plugin supports managed identities"
            : "there is no plugin \(name) that finds identities on this machine"
    }
}

extension String {
    /// Where the plugin of this name finds identities, for users.
    package var foundThere: Message {
        isSame(as: MachineIdentity.plugin)
            ? "the platform that this machine runs on"
            : "what the plugin \(self, limit: 64) finds on this machine"
    }
}

extension Identity.Proof {
    fileprivate var displayed: Message {
        switch self {
        case .secret(.keyring): "a client secret in the keyring"
        case .secret(.variable(let name)): "the client secret in \(name)"
        case .certificate(let path, nil): "the certificate \(path, limit: 300)"
        case .certificate(let path, .keyring):
            "the certificate \(path, limit: 300), whose password is in the keyring"
        case .certificate(let path, .variable(let name)):
            "the certificate \(path, limit: 300), whose password is in \(name)"
        case .assertion(let source): "an assertion from \(source, limit: 300)"
        case .subject(let source, nil): "a token from \(source, limit: 300)"
        case .subject(let source, let keeper?):
            "a token from \(source, limit: 300) and \(Identity.Proof.secret(keeper).displayed)"
        }
    }

    fileprivate var json: [String: JSONValue] {
        switch self {
        case .secret(let keeper): ["proof": "secret", "secretVariable": keeper.json]
        case .certificate(let path, let password):
            ["proof": "certificate", "certificate": .string(path), "passwordVariable": password?.json ?? .null]
        case .assertion(let source): ["proof": "assertion", "assertion": .string(source)]
        case .subject(let source, let keeper):
            ["proof": "subject-token", "subjectToken": .string(source), "secretVariable": keeper?.json ?? .null]
        }
    }
}

extension Identity.Keeper {
    fileprivate var json: JSONValue {
        if case .variable(let name) = self { .string(name) } else { .null }
    }
}
