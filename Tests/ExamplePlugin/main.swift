import Glibc
import PluginKit
import PluginWire
import Secrets

/// Signs people in at Acme with the code their key fob shows.
struct Acme: AuthorityPlugin {
    var description: PluginDescription {
        var description = PluginDescription(name: "acme", version: "1.0.0", protocols: ["v1"], flows: [])
        description.exchanges = ["door"]
        return description
    }

    func authorize(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) -> PluginResult {
        switch await person.ask(.prompt(kind: .secret, message: "code shown by your Acme fob")) {
        case .answer(let code): return tokens(code, for: request)  // a real plugin asks its service here
        case .unsupported: throw PluginError(.interactionRequired, "acme needs the code of your fob")
        default: throw PluginError(.cancelled, "no code was given")
        }
    }

    func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.interactionRequired, "acme's tokens cannot be renewed")
    }

    func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {}

    func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        guard request.exchange == "door", let token = request.accessToken else {
            throw PluginError(.unsupported, "acme doesn't know this exchange")
        }
        // A real plugin asks the host that the result is for: request.audience.
        return PluginCredential(username: Secret("fob"), secret: Secret("door-" + token.reveal()), expiresIn: 600)
    }

    func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        PluginProbe([.authority])  // a real plugin asks its service here, too
    }

    private func tokens(_ code: Secret, for request: PluginRequest) -> PluginResult {
        var account = PluginAccount(homeAccountID: "fob.acme", username: "fob@acme.example")
        account.homeRealms = ["acme"]
        return PluginResult(
            accessToken: Secret("acme-" + code.reveal()), expiresIn: 3600, scopes: request.scopes,
            environment: "id.acme.example", realm: "acme", account: account)
    }
}

exit(await PluginMain.run(Acme()))
