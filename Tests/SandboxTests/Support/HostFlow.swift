import Foundation
import TestSupport
import Testing

/// A client's sign-in at one of the sandbox's own hosts.
struct HostFlow: Sendable {
    static let scope = "openid profile email offline_access read_repository write_repository"

    let sandbox: RunningSandbox
    var isForge = false
    var isGitea = false
    var user = "alice_contoso"
    var clientID: String?
    var parameters: [String: String] = [:]
    var browser: [String] = []
    /// The path of the redirect URI, after the loopback address.
    var path = "/"

    var host: SandboxDescription.Host {
        let description = sandbox.description
        return isForge ? description.forge : isGitea ? description.gitea : description.issuer
    }
    var client: String { clientID ?? host.clientID }
    var tokenEndpoint: String { host.url + (isForge || isGitea ? "/login/oauth/access_token" : "/oauth/token") }
    var deviceEndpoint: String { host.url + (isForge ? "/login/device/code" : "/oauth/authorize_device") }

    func url(redirectURI: String) -> String {
        var query = [
            "client_id": client, "response_type": "code", "redirect_uri": redirectURI, "state": "the state",
            "scope": isForge ? "repo" : Self.scope, "code_challenge": SignInFlow.challenge,
            "code_challenge_method": "S256", "nonce": "the nonce",
        ]
        query.merge(parameters) { $1 }
        let text = query.filter { !$0.value.isEmpty }.map { "\($0.key)=\(percentEncoded($0.value))" }
        return host.url + (isForge || isGitea ? "/login" : "") + "/oauth/authorize?" + text.joined(separator: "&")
    }

    func run() async throws -> SignInFlow.Redirect {
        try await SignInFlow.redirect(in: sandbox, browser: ["--as", user] + browser) { port in
            let redirectURI = "http://127.0.0.1:\(port)\(path)"
            return (redirectURI, url(redirectURI: redirectURI))
        }
    }

    /// Sends the form that redeems a code, with the test's changes; empty values are omitted.
    func redeem(
        _ redirect: SignInFlow.Redirect, changing changes: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> RunningSandbox.Answer {
        var form = [
            "grant_type": "authorization_code", "client_id": client, "code": redirect.fields["code"] ?? "",
            "redirect_uri": redirect.redirectURI, "code_verifier": SignInFlow.verifier,
        ]
        if isForge { form["client_secret"] = host.clientSecret }
        form.merge(changes) { $1 }
        let json = isForge ? ["Accept": "application/json"] : [:]
        return try await sandbox.post(
            tokenEndpoint, form.filter { !$0.value.isEmpty }, headers: json.merging(headers) { $1 })
    }

    /// Signs in and redeems the code.
    func tokens() async throws -> RunningSandbox.Answer {
        let redirect = try await run()
        try #require(redirect.fields["code"] != nil, "\(redirect.browser.error) \(redirect.fields)")
        return try await redeem(redirect)
    }

    /// Redeems a refresh token; the answer is JSON.
    func renew(_ refreshToken: String, _ further: [String: String] = [:]) async throws -> RunningSandbox.Answer {
        let form = ["grant_type": "refresh_token", "client_id": client, "refresh_token": refreshToken]
        let json = isForge ? ["Accept": "application/json"] : [:]
        return try await sandbox.post(tokenEndpoint, form.merging(further) { $1 }, headers: json)
    }

    /// Requests a device code; the answer is JSON.
    func deviceCode() async throws -> RunningSandbox.Answer {
        try await sandbox.post(
            deviceEndpoint, ["client_id": client, "scope": isForge ? "repo" : Self.scope],
            headers: ["Accept": "application/json"])
    }

    /// Polls once.
    func poll(_ deviceCode: String) async throws -> RunningSandbox.Answer {
        try await sandbox.post(
            tokenEndpoint,
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": client,
                "device_code": deviceCode,
            ], headers: ["Accept": "application/json"])
    }

    /// Returns a repository's status for this `Authorization`.
    func status(_ authorization: String, owner: String = "contoso", service: String = "git-upload-pack") async throws
        -> Int
    {
        try await sandbox.get(
            "\(host.url)/\(owner)/hello.git/info/refs?service=\(service)", headers: ["Authorization": authorization]
        ).status
    }
}

/// Returns the contents of an `Authorization` header.
func basic(_ name: String, _ password: String) -> String {
    "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
}
