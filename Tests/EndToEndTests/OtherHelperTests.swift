import Foundation
import TestSupport
import Testing

private let program = Clients.newer("git-credential-oauth")

/// What lanyard and git-credential-oauth ask of the same hosts to sign in the same user with the same app.
///
/// docs/comparison.md has the differences that these tests expect, with the reasons.
@Suite(
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: program), "there is none: script/get newer-tools says why"))
struct OtherHelperTests {

    /// A host, and where the helpers differ.
    struct Trial: CustomTestStringConvertible, Sendable {
        let host: GitHost
        let authorize: String
        let token: String
        /// What the other helper is told to ask for, as it does by itself at the public hosts.
        let scopes: String
        /// The scopes that only lanyard asks for.
        let furtherScopes: Set<String>
        /// The parameters of the page that only lanyard sends.
        let furtherParameters: Set<String>
        /// Where only lanyard asks who signed in; nil if the ID token says so.
        let profile: String?
        var testDescription: String { host.name }
    }

    static let trials = [
        Trial(
            host: .gitLab, authorize: "/oauth/authorize", token: "/oauth/token",
            scopes: "read_repository write_repository", furtherScopes: ["openid", "profile"],
            furtherParameters: ["nonce"], profile: nil),
        Trial(
            host: .gitea, authorize: "/login/oauth/authorize", token: "/login/oauth/access_token", scopes: "",
            furtherScopes: [], furtherParameters: [], profile: "/login/oauth/userinfo"),
        Trial(
            host: .forgejo, authorize: "/login/oauth/authorize", token: "/login/oauth/access_token", scopes: "",
            furtherScopes: [], furtherParameters: [], profile: "/login/oauth/userinfo"),
        Trial(
            host: .gitHub, authorize: "/login/oauth/authorize", token: "/login/oauth/access_token",
            scopes: "repo gist workflow", furtherScopes: ["offline_access"], furtherParameters: [],
            profile: "/api/v3/user"),
    ]

    @Test(arguments: trials)
    func `the same sign-in but for what is explained`(trial: Trial) async throws {
        try await World.with { world in
            let host = trial.host.place(in: world.sandbox)
            let repository = trial.host.repository(in: world.sandbox)
            let added = try await world.lanyard([
                "rule", "add", host.url, "--authority", host.url, "--kind", trial.host.kind, "--client-id",
                host.clientID,
            ])
            #expect(added.status == 0, "\(added)")
            let hasSecret = trial.host.logged == "forge"
            if hasSecret {
                let stored = try await world.lanyard(["rule", "secret", host.clientID], input: host.clientSecret)
                #expect(stored.status == 0, "\(stored)")
            }
            let browser = world.browser(as: "alice@contoso.example")
            let own = try await Self.requests(trial, world) {
                try await world.git(["clone", "--quiet", repository, "own"], browser)
            }
            let opener = "\(world.folder)/bin/xdg-open"
            // As the real one, it is gone before the page is: the helper answers the page only then.
            try "#!/bin/sh\n\(browser["BROWSER"] ?? "") \"$1\" >/dev/null 2>&1 &\n".write(
                toFile: opener, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener)
            var settings = ["credential.helper=", "credential.helper=\(program)"]
            settings += [
                ("oauthClientId", host.clientID), ("oauthAuthURL", trial.authorize), ("oauthTokenURL", trial.token),
                ("helper", ""), ("helper", program),
            ].map { "credential.\(host.url).\($0)=\($1)" }
            if !trial.scopes.isEmpty { settings.append("credential.\(host.url).oauthScopes=\(trial.scopes)") }
            if hasSecret { settings.append("credential.\(host.url).oauthClientSecret=\(host.clientSecret)") }
            let others = try await Self.requests(trial, world) {
                try await world.git(
                    settings.flatMap { ["-c", $0] } + ["clone", "--quiet", repository, "others"],
                    ["SSL_CERT_FILE": world.sandbox.caFile])
            }

            let (page, otherPage) = (try #require(own.page), try #require(others.page))
            let names = Set(page.keys)
            #expect(names.subtracting(otherPage.keys) == trial.furtherParameters, "\(page) \(otherPage)")
            #expect(Set(otherPage.keys).isSubset(of: names), "\(page) \(otherPage)")
            for name in ["client_id", "response_type", "code_challenge_method"] {
                #expect(page[name] == otherPage[name] && page[name] != nil, "\(name): \(page) \(otherPage)")
            }
            for (one, program) in [(page, "lanyard"), (otherPage, "git-credential-oauth")] {
                #expect(one["state"].map { $0.count >= 22 } == true, "\(program): \(one)")
                #expect(one["code_challenge"]?.count == 43, "\(program): \(one)")
                #expect(one["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true, "\(program): \(one)")
            }
            let scopes = Set((page["scope"] ?? "").split(separator: " ").map(String.init))
            let otherScopes = Set((otherPage["scope"] ?? "").split(separator: " ").map(String.init))
            #expect(scopes.subtracting(otherScopes) == trial.furtherScopes && otherScopes.isSubset(of: scopes))

            #expect(Set(own.redeemed.keys) == Set(others.redeemed.keys), "\(own.redeemed) \(others.redeemed)")
            #expect(own.further.map(\.path) == (trial.profile.map { [$0] } ?? []), "\(own.further)")
            #expect(own.failed.isEmpty, "\(own.failed)")
            #expect(others.further.isEmpty, "\(others.further)")
            // It names the client in the header first, which none of them takes.
            #expect(others.failed.map(\.authorization) == ["Basic"], "\(others.failed)")
        }
    }

    /// What a sign-in asked of the host besides git's own requests.
    private struct Asked {
        /// The parameters of the page.
        var page: [String: String]?
        /// The form that was answered with tokens.
        var redeemed: [String: String] = [:]
        /// Requests for tokens that were refused.
        var failed: [Sandbox.Request] = []
        var further: [Sandbox.Request] = []
    }

    private static func requests(
        _ trial: Trial, _ world: World, _ clone: () async throws -> Ended
    ) async throws -> Asked {
        try await world.sandbox.clearLog()
        let cloned = try await clone()
        #expect(cloned.status == 0, "\(cloned)")
        let all = try await trial.host.requests(world).authority
        var asked = Asked()
        asked.page = all.first { $0.path == trial.authorize && $0.query?["client_id"] != nil }?.query
        asked.further = all.filter { ![trial.authorize, trial.token].contains($0.path) }
        // GitHub's refusals have status 200, too; whoever got tokens asks for no more.
        let redeeming = all.filter { $0.path == trial.token }
        asked.redeemed = redeeming.last?.form ?? [:]
        asked.failed = redeeming.dropLast()
        return asked
    }
}
