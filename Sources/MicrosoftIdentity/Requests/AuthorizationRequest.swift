import Addresses
import Claims
import Crypto
import FoundationEssentials
import PluginWire
import Secrets

/// One authorization request (RFC 6749, 4.1.1; RFC 7636; OpenID Connect Core 1.0, 3.1.2.1), with its fresh secrets.
struct AuthorizationRequest: Sendable {
    /// How the answer comes back.
    enum ResponseMode: String, Sendable {
        /// Posted by the browser: it stays out of addresses, histories and logs.
        case formPost = "form_post"
        /// In the address, for a person to paste.
        case query
    }

    let redirectURI: String
    let responseMode: ResponseMode
    let proofKey = ProofKey()
    /// Ties the answer to this request.
    let state = RandomText.urlSafe()
    /// Ties the id token to this request: the digest of a secret that is never sent.
    let nonce = AuthorizationRequest.digest(RandomText.urlSafe())

    /// The page to open.
    ///
    /// - Throws: `invalid-request` where `prompt` is not one of OpenID Connect's or an extra parameter is a reserved one.
    func url(
        at endpoint: String, for request: PluginRequest, claims: String?
    ) throws(PluginError) -> String {
        var fields: [FormEncoding.Field] = [
            ("client_id", request.clientID), ("response_type", "code"), ("redirect_uri", redirectURI),
            ("scope", Scopes.requested(request.scopes)), ("state", state), ("code_challenge", proofKey.challenge),
            ("code_challenge_method", ProofKey.method), ("nonce", nonce), ("client_info", "1"),
            ("response_mode", responseMode.rawValue),
        ]
        if let prompt = request.prompt {
            guard AuthorizationParameters.prompts.contains(prompt) else {
                throw PluginError(
                    .invalidRequest, "prompt \"\(prompt.displayable(limit: 40))\" is not known",
                    hint: "use one of \(AuthorizationParameters.prompts.joined(separator: ", "))")
            }
            fields.append(("prompt", prompt))
        }
        if let hint = request.loginHint { fields += [("login_hint", hint), ("X-AnchorMailbox", "UPN:\(hint)")] }
        if let hint = request.domainHint { fields.append(("domain_hint", hint)) }
        if let claims { fields.append(("claims", claims)) }
        fields += try Self.extra(request.extraQuery)
        return FormEncoding.append(fields, to: endpoint)
    }

    private static func extra(_ parameters: [String]) throws(PluginError) -> [FormEncoding.Field] {
        var fields: [FormEncoding.Field] = []
        for parameter in parameters {
            let halves = parameter.pieces(between: "=", maxSplits: 1, omittingEmpty: false)
            guard halves.count == 2, !halves[0].isEmpty else {
                throw PluginError(.invalidRequest, "an extra parameter has no name", hint: "write it as NAME=VALUE")
            }
            guard !AuthorizationParameters.reserved.contains(halves[0].lowercased()) else {
                throw PluginError(
                    .invalidRequest, "the parameter \(halves[0]) is set by lanyard itself",
                    hint: "take it out of the extra parameters")
            }
            fields.append((String(halves[0]), String(halves[1])))
        }
        return fields
    }

    private static func digest(_ secret: String) -> String {
        let hex: [UInt8] = Array("0123456789abcdef".utf8)
        let digits = SHA256.hash(data: Data(secret.utf8)).flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// What came back to the redirect URI (RFC 6749, 4.1.2).
struct AuthorizationResponse: Sendable {
    private let fields: [String: String]

    /// Reads a form body or a query.
    init(form: Substring) {
        fields = FormEncoding.decode(form)
    }

    /// Reads what a person pasted: the address where the browser ended up, or its part after `?` or `#`.
    init(pasted: Secret) {
        let text = pasted.reveal().trimmed(of: " \t\r\n\"'")
        guard text.utf8.count <= 65_536, let mark = text.utf8.firstIndex(where: { "?#".utf8.contains($0) }) else {
            self.init(form: text.utf8.count <= 65_536 ? text : "")
            return
        }
        let query = text[text.utf8.index(after: mark)...]
        self.init(form: query.replacing(bytes: "#", with: "&")[...])
    }

    /// Whether it answers an authorization request at all.
    var isResponse: Bool { fields["code"] != nil || fields["error"] != nil }
    /// Whether it carries a code.
    var hasCode: Bool { fields["code"] != nil }
    /// Whether it answers the request with this state.
    func answers(state: String) -> Bool { fields["state"] == state }
    /// The refusal, where it is one.
    var failure: OAuthFailure? { OAuthFailure(response: fields) }
    /// The authorization code.
    var code: Secret? { fields["code"].flatMap { $0.isEmpty ? nil : Secret($0) } }
    /// The header by which Entra finds the account's data centre, of the response's `client_info`.
    var anchorMailbox: String? {
        guard let info = fields["client_info"].flatMap({ try? ClientInfo($0) }), let uid = info.uid,
            let utid = info.utid
        else { return nil }
        return Anchor.header(uid: uid, utid: utid)
    }
}

/// `X-AnchorMailbox`, which routes a request to the data centre that knows the account.
enum Anchor {
    static let name = "x-anchormailbox"

    static func header(uid: String, utid: String) -> String? {
        WebAddress.isName(uid) && WebAddress.isName(utid) ? "Oid:\(uid)@\(utid)" : nil
    }

    /// Of a home account id.
    static func header(account: String?) -> String? {
        guard let halves = account?.pieces(between: "."), halves.count == 2 else { return nil }
        return header(uid: String(halves[0]), utid: String(halves[1]))
    }
}
