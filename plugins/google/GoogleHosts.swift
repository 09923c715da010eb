import Addresses
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The hosts of Google's services.
///
/// Files name the URLs that secrets are sent to, and whoever writes one could name others. So only Google's own are accepted, or those of
/// the universe, as Google calls a cloud of its own for somebody, that the configuration names.
struct GoogleHosts: Sendable {
    /// Google's own cloud.
    static let usual = "googleapis.com"

    /// The domain of the services.
    let universe: String
    /// The server that stands in for all services; nil for Google's own.
    let endpoint: String?

    /// Creates the hosts that the plugin's options name.
    init(_ request: PluginRequest) throws(PluginError) {
        let domain = request.options["universe-domain"]?.lowercased() ?? Self.usual
        guard domain.hasBytes("."), let host = RequestHost(domain), host.port == nil else {
            throw PluginError(.invalidRequest, "the option `universe-domain` of [plugin.google] is no domain")
        }
        let standIn = request.options["endpoint"].map(\.withoutTrailingSlashes)
        guard standIn.map({ StrictURL(https: $0) != nil }) ?? true else {
            throw PluginError(.invalidRequest, "the option `endpoint` of [plugin.google] is no https URL")
        }
        (universe, endpoint) = (domain, standIn)
    }

    /// Returns a service's URL, without a slash at the end.
    func url(_ service: String) -> String { endpoint ?? "https://\(service).\(universe)" }

    /// Refuses credentials of another universe.
    func require(universe named: String?, in place: String) throws(PluginError) {
        let named = named.flatMap { $0.isEmpty ? nil : $0.lowercased() } ?? Self.usual
        guard named.isSame(as: universe) else {
            throw PluginError(
                .invalidRequest,
                "\(place) is for the universe \(named.displayable(limit: 100)), and not for \(universe)",
                hint:
                    "if it is yours: lanyard config set plugin.google.universe-domain \(named.displayable(limit: 100))")
        }
    }

    /// Returns a URL in a file if it is at one of these services.
    ///
    /// - Throws: `invalid-request` for any other URL: a secret would be sent there.
    func checked(_ text: String, _ services: [String], _ member: String, in place: String) throws(PluginError) -> String
    {
        guard let url = StrictURL(https: text), !url.hasFragment, text.utf8.count <= 2048, isOwn(url.hostText, services)
        else {
            throw PluginError(
                .invalidRequest, "the \(member) in \(place) is not at a host of Google's, so nothing is sent there",
                hint: "if it is that of a universe of your own, write universe-domain below [plugin.google]")
        }
        return text
    }

    private func isOwn(_ host: String, _ services: [String]) -> Bool {
        if let endpoint { return StrictURL(https: endpoint)?.hostText == host }
        return services.contains { service in
            if host == "\(service).\(universe)" { return true }
            // `sts.europe-west4.rep.googleapis.com`.
            guard let (first, rest) = host.cut(at: "."), first.utf8.elementsEqual(service.utf8),
                let (region, end) = rest.cut(at: ".")
            else {
                return false
            }
            return end.utf8.elementsEqual("rep.\(universe)".utf8) && !region.isEmpty
                && region.utf8.allSatisfy(\.isLabelByte)
        } || services.contains("oauth2") && universe == Self.usual && host == "accounts.google.com"
    }
}

/// Requests to Google's services, and what their answers mean.
struct GoogleServices: Sendable {
    let hosts: GoogleHosts
    let transport: Transport

    /// The scope of requests to the service that impersonates.
    static let impersonation = "https://www.googleapis.com/auth/iam"

    /// Posts a form to a token endpoint, which does no harm if repeated, and returns the answer's document.
    func post(
        _ url: String, _ form: [FormEncoding.Field], basic client: (id: String, secret: Secret)? = nil, for what: String
    ) async throws(PluginError) -> (said: JSONValue, answer: HTTPAnswer) {
        let headers = client.map { client in
            let pair = Data("\(client.id):\(client.secret.reveal())".utf8).base64EncodedString()
            return [("authorization", "Basic \(pair)")]
        }
        let answer: HTTPAnswer
        do throws(OAuthError) {
            answer = try await transport.post(url, form, headers: headers ?? [], .harmless)
        } catch {
            throw error.plain
        }
        guard answer.status == 200, let said = answer.json else { throw refusal(answer, at: url, of: what) }
        return (said, answer)
    }

    /// Returns the access token of an answer.
    func token(
        _ said: JSONValue, _ answer: HTTPAnswer, from url: String, member: String = "access_token"
    ) throws(PluginError) -> GoogleToken {
        guard let text = said[member]?.string, WireForm.secret.accepts(text) else {
            throw PluginError(.internal, "\(Self.host(url)) gave no token that can be used")
        }
        let told = said["expires_in"]?.text.flatMap(Int.init).map { min(max(0, $0), HTTPAnswer.longestLifetime) }
        let ends = Secret(text).unverifiedClaims?["exp"]?.boundedNumber.map { answer.lifetime(until: Double($0)) }
        return GoogleToken(secret: Secret(text), expiresIn: told ?? ends ?? Self.assumedLifetime)
    }

    /// Seconds that a token is taken to live if nothing says it.
    private static let assumedLifetime = 3000

    /// Has iamcredentials impersonate a service account.
    ///
    /// - Parameters:
    ///   - url: The URL that ends with `:generateAccessToken`.
    ///   - demand: What the token is for.
    ///   - delegates: The accounts in between, in order.
    ///   - lifetime: Seconds.
    ///   - source: The token of the account that may do this.
    /// - Returns: The service account's token.
    /// - Throws: The reason why there is none.
    func impersonate(
        _ url: String, for demand: GoogleDemand, delegates: [String], lifetime: Int, by source: Secret
    ) async throws(PluginError) -> GoogleToken {
        var body: [String: JSONValue] = delegates.isEmpty ? [:] : ["delegates": JSONValue(strings: delegates)]
        var place = url
        switch demand {
        case .access(let scopes):
            body["scope"] = JSONValue(strings: scopes)
            body["lifetime"] = .string("\(lifetime)s")
        case .id(let audience):
            place = url.replacing(bytes: ":generateAccessToken", with: ":generateIdToken")
            body["audience"] = .string(audience)
            body["includeEmail"] = .bool(true)
        }
        let answer: HTTPAnswer
        do throws(OAuthError) {
            answer = try await transport.post(
                place, json: JSONValue.object(body).encodedText,
                headers: [("authorization", "Bearer \(source.reveal())")], .harmless)
        } catch {
            throw error.plain
        }
        guard answer.status == 200, let said = answer.json else {
            throw refusal(answer, at: place, of: "the impersonation")
        }
        guard case .access = demand else { return try token(said, answer, from: place, member: "token") }
        guard let end = said["expireTime"]?.string.flatMap({ try? Date($0, strategy: .iso8601) }) else {
            throw PluginError(.internal, "\(Self.host(place)) didn't say until when its token lives")
        }
        let token = try token(said, answer, from: place, member: "accessToken")
        return GoogleToken(
            secret: token.secret, expiresIn: answer.lifetime(until: end.timeIntervalSince1970))
    }

    static func host(_ url: String) -> String { StrictURL(https: url)?.hostText ?? "Google" }

    /// Returns what a refusal means; Google's words are shown, and no answer's other text.
    private func refusal(_ answer: HTTPAnswer, at url: String, of what: String) -> PluginError {
        let said = answer.json
        let host = Self.host(url)
        let code = said?["error"]?.string ?? said?["error"]?["status"]?.string ?? "HTTP \(answer.status)"
        let words = (said?["error_description"] ?? said?["error"]?["message"])?.string ?? code
        let shown = words.displayable(limit: 300)
        let subtype = said?["error_subtype"]?.string
        var error = PluginError(.invalidRequest, "\(host) refuses \(what): \(shown)")
        switch (code, subtype) {
        case ("invalid_grant", "invalid_rapt"?), ("invalid_grant", "rapt_required"?):
            error = PluginError(
                .interactionRequired,
                "Google wants a new sign-in after some hours, as the organisation decided: \(shown)",
                hint: "gcloud auth application-default login")
        case ("invalid_grant", _) where words.hasBytes("JWT"):
            error.hint = "check this computer's clock, and that the key still exists"
        case ("invalid_grant", _):
            error.hint = "sign in again with gcloud auth application-default login, or get a new key or configuration"
        case ("PERMISSION_DENIED", _):
            error.hint = "the account needs the role Service Account Token Creator at the account that it impersonates"
        case ("NOT_FOUND", _), ("HTTP 404", _):
            error.hint = "check the name of the service account in service_account_impersonation_url of the file"
        case ("UNAUTHENTICATED", _): error.hint = "check that the account that impersonates still exists"
        case ("invalid_client", _):
            error.hint = "the file's client is gone: sign in again with gcloud auth application-default login"
        case ("invalid_scope", _): error.hint = "check the scopes of the rule, and what was agreed to at the sign-in"
        case ("invalid_target", _): error.hint = "check the audience in the file: the workload identity pool's provider"
        case ("internal_failure", _), ("server_error", _), ("temporarily_unavailable", _):
            error = PluginError(.unavailable, "\(host) is not working at the moment: \(shown)")
        default: break
        }
        error.error = code.plain(limit: 100)
        error.suberror = subtype?.plain(limit: 100)
        return error
    }
}
