/// A valid request to a host's authorization endpoint, which may be answered with a redirect, or that of a device.
struct HostRequest: ClientRequest {
    let client: HostClient
    var target: ReturnAddress?
    let scopes: [String]
    /// The resources of the tokens (RFC 8707); empty for the whole host.
    let resources: [String]
    var prompts: Set<String> = []
    var challenge: String?
    var nonce: String?
    var loginHint: String?

    var clientID: String { client.id }
}

extension HostSite {
    /// The scopes that a host supports, and their names on its pages.
    var knownScopes: KeyValuePairs<String, String> {
        switch style {
        case .issuer:
            [
                "openid": "Sign you in", "profile": "Read your name", "email": "Read your email address",
                "offline_access": "Keep this access while you are away", "read_repository": "Read your repositories",
                "write_repository": "Change your repositories",
            ]
        case .gitea: ["openid": "Sign you in", "profile": "Read your name", "email": "Read your email address"]
        case .forge:
            [
                "repo": "Full control of private repositories", "gist": "Create gists",
                "workflow": "Update GitHub Actions workflows", "read:org": "Read your organizations",
                "user": "Update all your user data",
            ]
        }
    }

    func read(_ parameters: Form) throws(SignInRefusal<HostFailure>) -> HostRequest {
        guard let client = parameters["client_id"].flatMap(host.client) else {
            throw SignInRefusal(failure: .badClient)
        }
        let target = try target(of: parameters, for: client)
        do throws(HostFailure) {
            if style != .forge { try checkForm(of: parameters) }
            let challenge = try challenge(of: parameters)
            return HostRequest(
                client: client, target: target, scopes: try scopes(parameters["scope"]),
                resources: try resources(of: parameters), prompts: try prompts(of: parameters), challenge: challenge,
                nonce: parameters["nonce"], loginHint: parameters["login_hint"] ?? parameters["login"])
        } catch {
            throw SignInRefusal(failure: error, target: target)
        }
    }

    private func target(of parameters: Form, for client: HostClient) throws(SignInRefusal<HostFailure>) -> ReturnAddress
    {
        // GitHub redirects to the registered URI if the request names none.
        let registered = style == .forge ? client.redirectURIs.first : nil
        guard let redirect = parameters["redirect_uri"] ?? registered,
            client.accepts(redirect: redirect, at: style)
        else { throw SignInRefusal(failure: .badRedirect) }
        let mode = ReturnAddress.ResponseMode(rawValue: parameters["response_mode"] ?? "query")
        return ReturnAddress(uri: redirect, mode: mode ?? .query, state: parameters["state"])
    }

    private func checkForm(of parameters: Form) throws(HostFailure) {
        let names = parameters.fields.map(\.name).filter { $0 != "resource" }
        guard names.count == Set(names).count else { throw .badRequest("A parameter came twice.") }
        guard let type = parameters["response_type"] else { throw .missing("response_type") }
        guard type == "code" else {
            throw HostFailure("unsupported_response_type", "The response_type \(type) is not known here.")
        }
        guard parameters["code_challenge"] != nil else { throw .missing("code_challenge") }
        if let mode = parameters["response_mode"], ReturnAddress.ResponseMode(rawValue: mode) == nil {
            throw .badRequest("The response_mode \(mode) is not known here.")
        }
    }

    private func challenge(of parameters: Form) throws(HostFailure) -> String? {
        guard let challenge = parameters["code_challenge"] else { return nil }
        guard parameters["code_challenge_method"] == "S256", challenge.utf8.count == 43 else {
            throw .badRequest("The code_challenge must be an S256 digest, which is 43 characters long.")
        }
        return challenge
    }

    /// Parses a `scope` parameter.
    ///
    /// GitHub and Gitea drop unknown scopes; GitHub also accepts commas between scopes.
    func scopes(_ text: String?) throws(HostFailure) -> [String] {
        let known = knownScopes.map(\.key)
        guard let text else { return style == .issuer ? ["read_repository"] : [] }
        let asked = text.split { $0 == " " || style == .forge && $0 == "," }.map(String.init)
        if style == .issuer, let odd = asked.first(where: { !known.contains($0) }) { throw .badScope(odd) }
        return known.filter(asked.contains)
    }

    /// Returns the resources of a request (RFC 8707): this host as a whole, or paths of it.
    func resources(of parameters: Form) throws(HostFailure) -> [String] {
        let asked = parameters.fields.filter { $0.name == "resource" && !$0.value.isEmpty }.map(\.value)
        guard style == .issuer else { return [] }
        let areOwn = asked.allSatisfy { ($0 == host.url || $0.hasPrefix(host.url + "/")) && !$0.contains("#") }
        guard areOwn else { throw .badTarget }
        return asked
    }

    private func prompts(of parameters: Form) throws(HostFailure) -> Set<String> {
        let prompts = Set((parameters["prompt"] ?? "").split(separator: " ").map(String.init))
        if prompts.contains("none"), prompts.count > 1 {
            throw .badRequest("The prompt none can't be combined with others.")
        }
        return prompts
    }
}
