import Glibc
import PluginKit
import PluginWire
import Secrets

/// Signs people in at Acme with the code their key fob shows.
struct Acme: AuthorityPlugin {
    var description: PluginDescription {
        PluginDescription(
            name: "acme", version: "1.0.0", protocols: ["v1"], flows: [], identities: [.client], exchanges: ["door"])
    }

    func authorize(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) -> PluginResult {
        switch await user.ask(.prompt(kind: .secret, message: "code shown by your Acme fob")) {
        case .answer(let code):
            // A real plugin asks its service here.
            var account = PluginAccount(homeAccountID: "fob.acme", username: "fob@acme.example")
            account.homeRealms = ["acme"]
            return result("acme-" + code.reveal(), for: request, account)
        case .unsupported: throw PluginError(.interactionRequired, "acme needs the code of your fob")
        default: throw PluginError(.cancelled, "no code was given")
        }
    }

    func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.interactionRequired, "acme's tokens cannot be renewed")
    }

    func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {}

    func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        guard request.identity?.kind == .client, request.clientSecret != nil else {
            throw PluginError(.unsupported, "acme knows applications by their secret only")
        }
        return result("acme-application", for: request, nil)  // a real plugin sends its service the secret
    }

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

    private func result(_ token: String, for request: PluginRequest, _ account: PluginAccount?) -> PluginResult {
        var result = PluginResult(
            accessToken: Secret(token), expiresIn: 3600, scopes: request.scopes, environment: "id.acme.example",
            realm: "acme", account: account)
        result.memo = PluginMemo(version(request.memo), expiresIn: 86_400)
        return result
    }

    /// The version of Acme's service, as it was found out within a day.
    private func version(_ memo: String?) -> String {
        // Whoever writes the user's files can write a memo.
        if let memo, ["1", "2"].contains(memo) { return memo }
        return "2"  // a real plugin asks its service here
    }
}

exit(await PluginMain.run(Acme()))
