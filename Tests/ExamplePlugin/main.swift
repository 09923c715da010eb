import Glibc
import PluginKit
import PluginWire
import Secrets

/// Signs people in at Acme with the code their key fob shows.
struct Acme: AuthorityPlugin {
    let description = PluginDescription(name: "acme", version: "1.0.0", protocols: ["v1"], flows: [])

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
