import Addresses
import AuthorityFixture
import Crypto
import Foundation
import HTTP
import JSON
import PluginKit
import PluginWire
import Secrets
import Synchronization
import X509

@testable import OAuth
@testable import OpenIDConnect

/// An issuer that follows the standards unless its script says otherwise, and a user who signs in there.
final class ScriptedIssuer: Sendable {
    /// The deviations from the standards.
    struct Script: Sendable {
        /// The path of its authority.
        var path = "/realms/acme"
        /// Members to change in its metadata; null removes one.
        var document: [String: JSONValue] = [:]
        /// Members to change in its answers with device codes; null removes one.
        var device: [String: JSONValue] = [:]
        /// Claims to change in its ID tokens; null removes one.
        var claims: [String: JSONValue] = [:]
        /// The client's secret, and whether it must be sent in a header.
        var secret: (text: String, isInHeader: Bool)?
        /// Whether it signs with an unpublished key.
        var signsWithAnotherKey = false
        /// Whether its token responses include an ID token.
        var givesIDTokens = true
        /// Whether its answers are forms.
        var answersForms = false
        /// Additional fields of the authorization response.
        var response: [FormEncoding.Field] = []
        /// The error for the user in place of a code.
        var refusal: String?
        /// Whether it registers applications.
        var registers = false
        /// Whether public clients may revoke tokens.
        var revokesForAll = true
    }

    private struct Page {
        var challenge: String
        var redirectURI: String
        var nonce: String?
    }

    private struct State {
        var pages: [String: Page] = [:]
        var pending = 1
        var refreshTokens: Set<String> = ["the-first"]
        var given = 0
        var asked: [String] = []
    }

    static let subject = "248289761001"
    private let script: Script
    private let key = P256.Signing.PrivateKey()
    private let state = Mutex(State())

    private init(_ script: Script) {
        self.script = script
    }

    /// Runs the body with an issuer.
    static func run(
        _ script: Script = Script(), _ body: (ScriptedIssuer, TLSServer) async throws -> Void
    ) async throws {
        let issuer = ScriptedIssuer(script)
        try await TLSServer.run(.init(.dnsName("localhost")), { issuer.answer($0) }) { try await body(issuer, $0) }
    }

    /// The requested paths, in order.
    var asked: [String] { state.withLock { $0.asked } }

    /// Returns a request to the issuer.
    func request(_ operation: PluginRequest.Operation, at server: TLSServer) -> PluginRequest {
        var request = PluginRequest(operation)
        request.authority = "https://localhost:\(server.port)\(script.path)"
        request.clientID = "the-client"
        request.scopes = ["repo"]
        request.flows = [.browser]
        request.network.caFiles = [server.caFile]
        return request
    }

    // MARK: - The user

    /// Returns a user whose browser is here, or who pastes the final URL.
    func user(pastes: Bool = false) -> Visitor {
        Visitor { event in
            switch event {
            case .openURL(let url, let redirectURI?):
                let end = "\(redirectURI)?\(FormEncoding.encode(self.visit(url)))"
                if pastes { return .redirected(Secret(end)) }
                _ = try? await HTTPClient(userAgent: "tests", .anyone).send(
                    HTTPRequest("GET", end), within: .seconds(10))
                return .done
            case .showCode(let code, _, _, _, _): return code == "WDJB-MJHT" ? .done : .cancelled
            default: return .unsupported
            }
        }
    }

    private func visit(_ url: String) -> [FormEncoding.Field] {
        let fields = FormEncoding.decode(url.split(separator: "?", maxSplits: 1).last ?? "")
        let code = "code-\(UUID().uuidString)"
        state.withLock {
            $0.pages[code] = Page(
                challenge: fields["code_challenge"] ?? "", redirectURI: fields["redirect_uri"] ?? "",
                nonce: fields["nonce"])
        }
        let answer = script.refusal.map { ("error", $0) } ?? ("code", code)
        return [answer, ("state", fields["state"] ?? "")] + script.response
    }

    // MARK: - The issuer

    private func answer(_ request: String) -> TLSServer.Behaviour {
        let lines = request.components(separatedBy: "\r\n")
        let path = lines[0].split(separator: " ")[1].dropFirst(script.path.count)
        let header = { (name: String) in
            lines.first { $0.lowercased().hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        state.withLock { $0.asked.append(String(path)) }
        let base = "https://\(header("host") ?? "")\(script.path)"
        let form = Issuing.form(request)
        switch path {
        case "/.well-known/openid-configuration": return json(document(base))
        case "/keys": return json(keys)
        case "/userinfo", "/api/v3/user":
            return json(["sub": .string(Self.subject), "preferred_username": "alice", "id": 42])
        case "/rest/api/1.0/application-properties":
            return Issuing.behaviour(["json": [:]], headers: ["X-AUSERID: 4711", "X-AUSERNAME: alice%40contoso"])
        case "/device":
            let answer: [String: JSONValue] = [
                "device_code": "dc", "user_code": "WDJB-MJHT", "interval": 1, "expires_in": 60,
                "verification_uri": .string("\(base)/device"),
            ]
            return json(.object(answer.merging(script.device) { $1 }.filter { $0.value != .null }))
        case "/register": return json(["client_id": "the-client"], status: 201)
        case "/token", "/login/oauth/access_token", "/rest/oauth2/latest/token", "/revoke":
            guard isProven(form, header("authorization")) else { return json(["error": "invalid_client"], status: 401) }
            return path == "/revoke" ? revoke(form) : token(form, base)
        default: return TLSServer.nothingHere
        }
    }

    private func isProven(_ form: [String: String], _ header: String?) -> Bool {
        guard let (secret, isInHeader) = script.secret else {
            return form["client_id"] == "the-client" && header == nil
        }
        let basic = "Basic \(Data("the-client:\(secret)".utf8).base64EncodedString())"
        return isInHeader
            ? header == basic && form["client_secret"] == nil
            : header == nil && form["client_secret"] == secret && form["client_id"] == "the-client"
    }

    private func revoke(_ form: [String: String]) -> TLSServer.Behaviour {
        guard script.revokesForAll || script.secret != nil else {
            return json(["error": "invalid_client"], status: 401)
        }
        state.withLock { _ = $0.refreshTokens.remove(form["token"] ?? "") }
        return json([:])
    }

    private func token(_ form: [String: String], _ base: String) -> TLSServer.Behaviour {
        switch form["grant_type"] {
        case "authorization_code":
            let page = state.withLock { $0.pages.removeValue(forKey: form["code"] ?? "") }
            guard let page, page.redirectURI == form["redirect_uri"],
                ProofKey(verifier: form["code_verifier"] ?? "").challenge == page.challenge
            else { return json(["error": "invalid_grant"], status: 400) }
            return tokens(base, nonce: page.nonce)
        case "refresh_token":
            // Each is single-use.
            guard state.withLock({ $0.refreshTokens.remove(form["refresh_token"] ?? "") }) != nil else {
                return json(["error": "invalid_grant"], status: 400)
            }
            return tokens(base, nonce: nil)
        default:
            let isDone = state.withLock { state in
                state.pending -= 1
                return state.pending < 0
            }
            return isDone ? tokens(base, nonce: nil) : json(["error": "authorization_pending"], status: 400)
        }
    }

    private func tokens(_ base: String, nonce: String?) -> TLSServer.Behaviour {
        let number = state.withLock {
            $0.given += 1
            $0.refreshTokens.insert("refresh-\($0.given)")
            return $0.given
        }
        var answer: [String: JSONValue] = [
            "access_token": .string("at-\(number)"), "token_type": "bearer", "scope": "repo",
            "refresh_token": .string("refresh-\(number)"),
        ]
        if script.givesIDTokens { answer["id_token"] = .string(idToken(base, nonce: nonce)) }
        if script.answersForms { return self.form(answer) }
        answer["expires_in"] = 3_600
        return json(.object(answer))
    }

    private func idToken(_ base: String, nonce: String?) -> String {
        let now = Int64(Date.now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(base), "sub": .string(Self.subject), "aud": "the-client", "iat": .integer(now),
            "exp": .integer(now + 300), "preferred_username": "alice", "name": "Alice",
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        claims.merge(script.claims) { $1 }
        let parts: [JSONValue] = [["alg": "ES256", "kid": "k1"], .object(claims.filter { $0.value != .null })]
        let signed = parts.map { Base64URL.encode($0.encoded()) }.joined(separator: ".")
        let key = script.signsWithAnotherKey ? P256.Signing.PrivateKey() : key
        let signature = (try? key.signature(for: Data(signed.utf8)).rawRepresentation) ?? Data()
        return "\(signed).\(Base64URL.encode(signature))"
    }

    private var keys: JSONValue {
        let point = key.publicKey.rawRepresentation
        let other: JSONValue = ["kty": "a-new-kind", "kid": "k0"]
        return [
            "keys": [
                other,
                [
                    "kty": "EC", "crv": "P-256", "kid": "k1", "alg": "ES256", "use": "sig",
                    "x": .string(Base64URL.encode(point.prefix(32))), "y": .string(Base64URL.encode(point.suffix(32))),
                ],
            ]
        ]
    }

    private func document(_ base: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "issuer": .string(base), "scopes_supported": ["openid", "profile", "offline_access"],
            "jwks_uri": .string("\(base)/keys"),
        ]
        let endpoints = [
            "authorization": "authorize", "token": "token", "device_authorization": "device", "userinfo": "userinfo",
            "revocation": "revoke", "end_session": "logout?x=1",
        ]
        for (name, path) in endpoints { members["\(name)_endpoint"] = .string("\(base)/\(path)") }
        if script.registers { members["registration_endpoint"] = .string("\(base)/register") }
        members.merge(script.document) { $1 }
        return .object(members.filter { $0.value != .null })
    }

    private func json(_ value: JSONValue, status: Int = 200) -> TLSServer.Behaviour {
        Issuing.behaviour(["json": value, "status": .integer(Int64(status))])
    }

    private func form(_ members: [String: JSONValue]) -> TLSServer.Behaviour {
        let fields = members.map { ($0.key, $0.value.text ?? "") }
        return Issuing.behaviour([
            "body": .string(FormEncoding.encode(fields)),
            "content_type": "application/x-www-form-urlencoded; charset=utf-8",
        ])
    }
}

/// A user who follows a closure.
final class Visitor: Conversation {
    private let script: @Sendable (PluginEvent) async -> PluginReply

    init(_ script: @escaping @Sendable (PluginEvent) async -> PluginReply) {
        self.script = script
    }

    func ask(_ event: PluginEvent) async -> PluginReply { await script(event) }
    func progress(_ message: String) async {}
}
