import Addresses
import AuthorityFixture
import Foundation
import HTTP
import JSON
import PluginOAuth
import PluginWire
import Secrets
import Synchronization
import X509

@testable import MicrosoftIdentity
@testable import OAuth

/// A scripted authority that records its requests, and a user who follows its pages.
///
/// The transcript contains whole requests, with `>` before each line, and the questions to the user, with `!`. Random
/// and run-specific values are replaced with placeholders.
final class RecordedAuthority: Sendable {
    /// The failures of the next token requests, before one succeeds.
    enum PlannedFailure: Sendable {
        case pending
        case unavailable
    }

    private struct State {
        var transcript = ""
        var end = ""
        var nonce = ""
        var failures: [PlannedFailure] = []
        var refusals: [String] = []
    }

    static let tenant = "c0a70500-0000-4000-8000-00000c0a7050"
    static let account = "a11ce000-0000-4000-8000-00000000c0a7.\(tenant)"
    private static let caller = "a11ce000-0000-4000-8000-00000000c0a7"

    private let state = Mutex(State())

    /// Runs the body with an authority; returns the transcript.
    static func record(
        _ body: (RecordedAuthority, TLSServer) async throws -> Void
    ) async throws -> String {
        let authority = RecordedAuthority()
        try await TLSServer.run(.init(.dnsName("localhost")), { authority.behaviour($0) }) { server in
            try await body(authority, server)
        }
        return authority.state.withLock { $0.transcript + $0.end }
    }

    /// Plans the failures of the first token requests.
    func plan(_ failures: PlannedFailure...) { state.withLock { $0.failures = failures } }

    /// Plans an error for the next page, in place of a code.
    func refuse(_ description: String) { state.withLock { $0.refusals.append(description) } }

    /// Adds a line to the transcript for anything but requests and questions.
    func note(_ text: String) { state.withLock { $0.transcript += "\(text)\n" } }

    private func noteLast(_ text: String) { state.withLock { $0.end += "\(text)\n" } }

    // MARK: - The user

    /// Returns a user with a browser here, or with one elsewhere whose final URL is pasted.
    func user() -> ScriptedPerson {
        ScriptedPerson { event in
            switch event {
            case .openURL(let url, let redirectURI):
                self.note("! open-url " + Self.normalized(url) + (redirectURI == nil ? "" : " and come back"))
                return await self.browse(url)
            case .showCode(let code, let page, _, _, let expiresIn):
                // Polling has already begun while the code is shown, so the order of the two varies.
                self.noteLast("! show-code \(code) at \(Self.normalized(page)) for \(expiresIn)")
                return .done
            case .openWindow, .prompt, .progress: return .unsupported
            }
        }
    }

    private func browse(_ url: String) async -> PluginReply {
        let fields = FormEncoding.decode(url.split(separator: "?", maxSplits: 1).last ?? "")
        guard let target = fields["redirect_uri"], let state = fields["state"] else { return .done }
        let refusal = self.state.withLock {
            $0.nonce = fields["nonce"] ?? ""
            return $0.refusals.isEmpty ? nil : $0.refusals.removeFirst()
        }
        let answer: [FormEncoding.Field] =
            refusal.map { [("error", "access_denied"), ("error_description", $0)] }
            ?? [("code", "the-code"), ("client_info", Self.clientInfo)]
        let form = FormEncoding.encode(answer + [("state", state)])
        guard fields["response_mode"] == "form_post" else { return .redirected(Secret("\(target)?\(form)")) }
        let request = HTTPRequest(
            "POST", target, headers: [("content-type", Secret("application/x-www-form-urlencoded"))],
            body: Array(form.utf8))
        _ = try? await HTTPClient(userAgent: "tests", .anyone).send(request, within: .seconds(10))
        return .done
    }

    // MARK: - The authority

    private func behaviour(_ request: String) -> TLSServer.Behaviour {
        let parts = request.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let head = parts[0].split(separator: "\r\n").map(String.init)
        let lines = head.map { $0 == "Content-Length: \(parts[1].utf8.count)" ? "Content-Length: LENGTH" : $0 }
        note(
            (lines + (parts[1].isEmpty ? [] : [String(parts[1])])).map { "> " + Self.normalized($0) }.joined(
                separator: "\n"))
        let host = head.first { $0.lowercased().hasPrefix("host: ") }?.dropFirst("host: ".count) ?? ""
        let path = head[0].split(separator: " ")[1]
        return answer(path: String(path), host: String(host), form: FormEncoding.decode(parts[1]))
    }

    private func answer(path: String, host: String, form: [String: String]) -> TLSServer.Behaviour {
        if let end = path.range(of: "/v2.0/.well-known/openid-configuration") {
            return Self.json(Self.configuration("https://\(host)\(path[..<end.lowerBound])"))
        }
        if path.hasSuffix("/devicecode") {
            return Self.json([
                "device_code": "the-device-code", "user_code": "ABC-DEF", "interval": 1, "expires_in": 900,
                "verification_uri": .string("https://\(host)/device"),
            ])
        }
        let setback = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        return switch setback {
        case .pending: Self.json(["error": "authorization_pending"], status: 400)
        case .unavailable: Self.json([:], status: 503)
        case nil: Self.json(tokens(for: form["client_id"] ?? "", at: host))
        }
    }

    private static func configuration(_ base: String) -> JSONValue {
        [
            "issuer": .string("https://\(base.split(separator: "/")[1])/\(tenant)/v2.0"),
            "authorization_endpoint": .string("\(base)/oauth2/v2.0/authorize"),
            "token_endpoint": .string("\(base)/oauth2/v2.0/token"),
            "device_authorization_endpoint": .string("\(base)/oauth2/v2.0/devicecode"),
            "end_session_endpoint": .string("\(base)/oauth2/v2.0/logout"),
        ]
    }

    private func tokens(for client: String, at host: String) -> JSONValue {
        let claims: JSONValue = [
            "iss": .string("https://\(host)/\(Self.tenant)/v2.0"), "aud": .string(client), "exp": 4_000_000_000,
            "iat": 1_000_000_000, "nonce": .string(state.withLock { $0.nonce }), "sub": "subject",
            "tid": .string(Self.tenant), "preferred_username": "alice@contoso.example", "login_hint": "the-hint",
        ]
        return [
            "token_type": "Bearer", "access_token": "the-access-token", "refresh_token": "the-next-refresh-token",
            "expires_in": 3_600, "scope": "api://git/.default", "foci": "1", "client_info": .string(Self.clientInfo),
            "id_token": .string("e30.\(Base64URL.encode(claims.encoded())).c2ln"),
        ]
    }

    private static let clientInfo = Base64URL.encode(Data(#"{"uid":"\#(caller)","utid":"\#(tenant)"}"#.utf8))

    private static func json(_ value: JSONValue, status: Int = 200) -> TLSServer.Behaviour {
        let body = value.encodedText
        return .answer(
            "HTTP/1.1 \(status) X\r\ncontent-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    // MARK: - The transcript

    /// Returns the text with placeholders for the values that differ every time.
    private static func normalized(_ text: String) -> String {
        var text = text.replacing("/\(Version.current)", with: "/VERSION")
        text.replace("x-client-ver: \(Version.current)", with: "x-client-ver: VERSION")
        text.replace(/\b(state|nonce|code_challenge|code_verifier)=[A-Za-z0-9_-]{43,64}/) { "\($0.output.1)=RANDOM" }
        text.replace(/(localhost|127\.0\.0\.1)(:|%3A)[0-9]+/) { "\($0.output.1)\($0.output.2)PORT" }
        return text
    }
}
