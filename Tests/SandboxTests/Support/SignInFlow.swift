import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import Testing

/// A client's sign-in in the browser, with the scripted browser as the user.
struct SignInFlow: Sendable {
    static let verifier = String(repeating: "v", count: 43)
    static let git = "api://sandbox-git/.default openid profile offline_access"

    let sandbox: RunningSandbox
    var realm = "/common"
    var scope = git
    var user = "alice@contoso.example"
    var clientID: String?
    var mode = "form_post"
    var parameters: [String: String] = [:]
    var browser: [String] = []

    struct Redirect: Sendable {
        var fields: [String: String]
        var method: String?
        var redirectURI: String
        var browser: Program.Outcome
    }

    /// Returns the URL of the request, before the test's changes.
    func url(redirectURI: String) -> String {
        var query = [
            "client_id": clientID ?? sandbox.clientID, "response_type": "code",
            "redirect_uri": redirectURI, "scope": scope, "state": "the state", "nonce": "the nonce",
            "code_challenge": Self.challenge, "code_challenge_method": "S256", "client_info": "1",
            "response_mode": mode,
        ]
        query.merge(parameters) { $1 }
        let text = query.filter { !$0.value.isEmpty }.map { "\($0.key)=\(percentEncoded($0.value))" }
        return "\(sandbox.authority)\(realm)/oauth2/v2.0/authorize?" + text.joined(separator: "&")
    }

    static var challenge: String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
            .replacing("/", with: "_").replacing("=", with: "")
    }

    /// Signs in and returns the request that arrived at the loopback address.
    func run() async throws -> Redirect {
        try await Self.redirect(in: sandbox, browser: ["--as", user] + browser) { port in
            let redirectURI = "http://localhost:\(port)"
            return (redirectURI, url(redirectURI: redirectURI))
        }
    }

    /// Opens a page for a loopback port in the scripted browser, and returns the request that arrived at that port.
    static func redirect(
        in sandbox: RunningSandbox, browser: [String], _ page: (Int) -> (redirectURI: String, url: String)
    ) async throws -> Redirect {
        let received = Mutex<(String, String)?>(nil)
        let port = AsyncStream.makeStream(of: Int.self)
        let loopback = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                var request = request
                let body = String(buffer: try await request.collectBody(upTo: 65536))
                let answer = request.method == .post ? body : request.uri.query ?? ""
                received.withLock { $0 = (request.method.rawValue, answer) }
                return Response(status: .ok)
            },
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.continuation.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "loopback") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await loopback.run() }
            let number = try #require(await port.stream.first { _ in true })
            let (redirectURI, url) = page(number)
            let outcome = try await Program.sandbox(["sign-in"] + browser + [url], in: sandbox)
            group.cancelAll()
            let got = received.withLock { $0 }
            return Redirect(
                fields: fields(of: got?.1 ?? ""), method: got?.0, redirectURI: redirectURI, browser: outcome)
        }
    }

    /// Redeems a code, with the test's changes.
    func redeem(
        _ redirect: Redirect, changing changes: [String: String] = [:]
    ) async throws -> RunningSandbox.Answer {
        var form = [
            "grant_type": "authorization_code", "client_id": clientID ?? sandbox.clientID,
            "code": redirect.fields["code"] ?? "", "redirect_uri": redirect.redirectURI,
            "code_verifier": Self.verifier, "client_info": "1",
        ]
        form.merge(changes) { $1 }
        return try await sandbox.post("\(sandbox.authority)\(realm)/oauth2/v2.0/token", form)
    }

    /// Signs in and redeems the code.
    func tokens() async throws -> RunningSandbox.Answer {
        let redirect = try await run()
        try #require(redirect.fields["code"] != nil, "\(redirect.browser.error) \(redirect.fields)")
        return try await redeem(redirect)
    }
}

/// Returns the fields of a query or form body.
func fields(of text: String) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in text.split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
        fields[parts[0]] = parts.count > 1 ? parts[1].replacing("+", with: " ").removingPercentEncoding : ""
    }
    return fields
}

func percentEncoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
}

func parse(_ text: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
}

/// Returns the unverified claims of a token.
func claims(of token: String) -> [String: Any] {
    let parts = token.split(separator: ".")
    guard parts.count > 1 else { return [:] }
    var base64 = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
    return Data(base64Encoded: String(base64)).map { parse(String(decoding: $0, as: UTF8.self)) } ?? [:]
}
