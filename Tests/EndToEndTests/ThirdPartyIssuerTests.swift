import Foundation
import TestSupport
import Testing

/// What tests with issuers of others rely on: that these start, and that somebody can sign in by a script.
@Suite(.enabled(if: ThirdPartyIssuer.programs != nil, "there are none: script/issuers says why"))
struct ThirdPartyIssuerTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test(arguments: ThirdPartyIssuer.Kind.allCases)
    func `an issuer of others is discovered and signs in by a script`(kind: ThirdPartyIssuer.Kind) async throws {
        try await ScratchDirectory.with { scratch in
            try await ThirdPartyIssuer.with(kind, in: scratch) { issuer in
                let document = try await curl(issuer, issuer.issuer + "/.well-known/openid-configuration")
                #expect(document["issuer"] as? String == issuer.issuer)
                let code = try await code(issuer, at: document["authorization_endpoint"] as? String ?? "")
                let form = [
                    "grant_type=authorization_code", "client_id=\(issuer.clientID)", "code=\(code)",
                    "redirect_uri=\(issuer.redirectURI(port: 4711))", "code_verifier=\(Self.verifier)",
                ]
                let tokens = try await curl(
                    issuer, document["token_endpoint"] as? String ?? "", form.flatMap { ["--data-urlencode", $0] })
                #expect(tokens["access_token"] is String, "\(tokens)")
                #expect(tokens["refresh_token"] is String)
                #expect(tokens["id_token"] is String)
            }
        }
    }

    @Test(arguments: [ThirdPartyIssuer.Kind.glewlwyd, .nanoidp])
    func `a device code is approved by a script`(kind: ThirdPartyIssuer.Kind) async throws {
        try await ScratchDirectory.with { scratch in
            try await ThirdPartyIssuer.with(kind, in: scratch) { issuer in
                let document = try await curl(issuer, issuer.issuer + "/.well-known/openid-configuration")
                let device = try await curl(
                    issuer, document["device_authorization_endpoint"] as? String ?? "",
                    ["--data", "client_id=\(issuer.clientID)", "--data", "scope=openid"])
                let grant = [
                    "grant_type=urn:ietf:params:oauth:grant-type:device_code", "client_id=\(issuer.clientID)",
                    "device_code=\(device["device_code"] as? String ?? "")",
                ].flatMap { ["--data-urlencode", $0] }
                let endpoint = document["token_endpoint"] as? String ?? ""
                let pending = try await curl(issuer, endpoint, grant)
                #expect(pending["error"] as? String == "authorization_pending")
                let page = try #require(device["verification_uri_complete"] as? String)
                let words = issuer.browser.split(separator: " ").map(String.init)
                let approved = try await run(
                    words[0], words.dropFirst() + ["--device", page], environment: ["PATH": "/usr/bin:/bin"])
                #expect(approved.status == 0, "\(approved)")
                // Polling faster than the interval would be refused.
                try await Task.sleep(for: .milliseconds(1500))
                let tokens = try await curl(issuer, endpoint, grant)
                #expect(tokens["access_token"] is String, "\(tokens)")
            }
        }
    }

    /// Signs in by the script, which stands for a browser on another computer.
    private func code(_ issuer: ThirdPartyIssuer, at endpoint: String) async throws -> String {
        var page = try #require(URLComponents(string: endpoint))
        page.queryItems = [
            "response_type": "code", "client_id": issuer.clientID, "redirect_uri": issuer.redirectURI(port: 4711),
            "scope": "openid profile email offline_access", "state": "the-state", "nonce": "the-nonce",
            "code_challenge": Self.challenge, "code_challenge_method": "S256",
        ].map { URLQueryItem(name: $0, value: $1) }
        let words = issuer.browser.split(separator: " ").map(String.init)
        let ended = try await run(
            words[0], words.dropFirst() + ["--elsewhere", page.string ?? ""], environment: ["PATH": "/usr/bin:/bin"])
        let answer = try #require(URLComponents(string: ended.lines.last ?? ""), "\(ended)")
        let fields = Dictionary((answer.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        #expect(fields["state"] == "the-state")
        #expect(fields["iss"] == issuer.issuer)
        return try #require(fields["code"], "\(ended)")
    }

    private func curl(
        _ issuer: ThirdPartyIssuer, _ url: String, _ options: [String] = []
    ) async throws -> [String: Any] {
        let ended = try await run(
            "curl", ["--silent", "--show-error", "--max-time", "60", "--cacert", issuer.caFile, url] + options,
            environment: ["PATH": "/usr/bin:/bin"])
        let json = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        return try #require(json, "\(ended)")
    }
}
