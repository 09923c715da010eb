import Claims
import HTTP
import PluginOAuth
import PluginWire
import Testing

@testable import MicrosoftIdentity
@testable import OAuth

/// The browser's last page after a sign-in at a Microsoft authority.
struct PageTests {
    private static let trace = "7e0a3c1e-0d5b-4f0f-9c2e-2d7f5a6b1c00"
    private static let correlation = "0d6f2f6e-7a3c-4c3d-9d57-0b8f3f6a3a11"

    private static func refusal(_ error: String, _ words: String, _ more: [String: String] = [:]) -> OAuthError {
        let description = "\(words) Trace ID: \(trace) Correlation ID: \(correlation) Timestamp: 2026-01-31 12:34:56Z"
        let fields = more.merging(["error": error, "error_description": description]) { $1 }
        return OAuthError(ErrorResponse(response: fields) ?? ErrorResponse(error: "?"), at: .authorization)
    }

    /// Runs the body with a session at the sandbox, for a repository and a client with a name.
    private static func withSession(
        at path: String = "/common", _ body: @escaping @Sendable (AuthoritySession, Sandbox) async throws -> Void
    ) async throws {
        try await Sandbox.run { sandbox in
            var request = sandbox.request(.authorize, at: path)
            request.purpose = "https://git.example/<app>"
            request.clientName = "tools"
            request.signIn.loginHint = "bob@contoso.example"
            var settings = Transport.Settings(userAgent: "tests", environment: [:])
            settings.network.caFiles = [sandbox.caFile]
            let transport = try Transport(settings)
            let profile = path.contains("tfp") ? MicrosoftPlugin.aadB2C.profile : MicrosoftPlugin.aadCommon.profile
            try await body(try await .open(request, profile: profile, over: transport), sandbox)
        }
    }

    private static func texts(_ facts: [LoopbackPage.Fact]) -> [String] { facts.map { "\($0.name): \($0.value)" } }

    private static let facts = [
        "For: https://git.example/<app>", "Application: tools (5a4d1b0c-7a0e-4c5b-9d2e-6c616e796172)",
    ]

    @Test func `after a sign-in it names account, purpose, application and authority`() async throws {
        try await Self.withSession { session, sandbox in
            let result = try await session.signIn([.browser], sandbox.user("alice@contoso.example"))
            let page = session.page(with: result)
            #expect(page.title == "You are signed in" && page.quote == nil && page.report.isEmpty)
            #expect(
                Self.texts(page.facts)
                    == ["Account: alice@contoso.example"] + Self.facts + ["Authority: \(sandbox.authority)/common"])
        }
    }

    @Test func `after a refusal it has what an administrator asks for`() async throws {
        try await Self.withSession { session, sandbox in
            let page = session.page(
                after: Self.refusal(
                    "access_denied", "AADSTS53003: Access has been blocked by <b>Conditional Access</b>."))
            #expect(page.title == "Your organisation blocked this sign-in")
            #expect(page.quote == "AADSTS53003: Access has been blocked by <b>Conditional Access</b>")
            #expect(page.text.contains("ask the administrator") && !page.text.contains("browser"))
            #expect(
                Self.texts(page.report) == [
                    "Error code: AADSTS53003", "Correlation ID: \(Self.correlation)", "Trace ID: \(Self.trace)",
                    "Time: 2026-01-31 12:34:56Z",
                ])
            #expect(
                Self.texts(page.facts)
                    == ["Account: bob@contoso.example"] + Self.facts + ["Authority: \(sandbox.authority)/common"])
        }
    }

    private static let titles: [(String, String, [String: String], String)] = [
        ("access_denied", "AADSTS65004: User declined to consent.", [:], "You declined what the application asks for"),
        ("access_denied", "The user has denied access.", [:], "You cancelled the sign-in"),
        ("access_denied", "AADSTS50126: Cancelled.", ["error_subcode": "cancel"], "You cancelled the sign-in"),
        ("access_denied", "AADSTS500121: Authentication failed.", [:], "Sign-in failed"),
        ("invalid_grant", "AADSTS70008: The code has expired.", [:], "Sign-in timed out"),
        (
            "access_denied", "AADSTS90094: Admin consent is needed.", [:],
            "An administrator must approve this application"
        ),
        ("interaction_required", "AADSTS53000: Not compliant.", [:], "Your organisation blocked this sign-in"),
        ("server_error", "AADSTS90033: A transient error.", [:], "Sign-in failed"),
    ]

    @Test func `each end has a title of its own`() async throws {
        try await Self.withSession { session, _ in
            for (error, words, more, title) in Self.titles {
                let page = session.page(after: Self.refusal(error, words, more))
                #expect(page.title == title, "\(words)")
                #expect(page.report.isEmpty == title.hasPrefix("You "), "\(words)")
            }
            #expect(
                session.page(after: OAuthError(.cancelled, "the sign-in was ended")).title
                    == "You cancelled the sign-in")
            let broken = session.page(after: OAuthError(.broken, "the ID token is for another application"))
            #expect(broken.title == "Sign-in failed" && broken.quote == "The ID token is for another application.")
        }
    }

    private static let texts: [(String, String, String)] = [
        ("invalid_grant", "AADSTS70000: Not valid.", "Nothing was stored. Start again to sign in. "),
        ("invalid_grant", "AADSTS70008: The code has expired.", "Start again: the session has expired. "),
        ("invalid_grant", "AADSTS50076: Proof is needed.", "Start again and pass multi-factor "),
        ("access_denied", "AADSTS65004: User declined to consent.", "start again and accept. "),
        ("access_denied", "The user has denied access.", "Start again to sign in. "),
    ]

    @Test func `it tells whoever is in the browser where a new sign-in begins`() async throws {
        try await Self.withSession { session, _ in
            for (error, words, text) in Self.texts {
                let page = session.page(after: Self.refusal(error, words))
                #expect(page.text.contains(text) && page.text.hasSuffix(". You can close this page."), "\(page.text)")
            }
        }
    }

    @Test func `B2C's no is the user's too`() async throws {
        try await Self.withSession(at: "/tfp/contosob2c.onmicrosoft.example/B2C_1_susi") { session, _ in
            let cancelled = session.page(after: Self.refusal("access_denied", "AADB2C90091: The user has cancelled."))
            #expect(cancelled.title == "You cancelled the sign-in")
            let unknown = session.page(after: Self.refusal("access_denied", "AADB2C90068: The application is unknown."))
            #expect(unknown.title == "Sign-in failed" && Self.texts(unknown.report)[0] == "Error code: AADB2C90068")
        }
    }

    @Test(arguments: [
        (OAuthError.Stage.device, true), (.authorization, false), (.redemption, false), (.refresh, false),
    ])
    func `a browser is advised only if it wasn't used`(_ stage: OAuthError.Stage, _ isAdvised: Bool) {
        for number in [53000, 53001, 53003, 50097] {
            let refusal = EntraRefusal(ErrorResponse(error: "invalid_grant", description: "AADSTS\(number)"))
            #expect(refusal.pluginError(stage).hint?.contains("sign in with a browser") == isAdvised, "\(number)")
        }
    }

    @Test(arguments: [("authorization_declined", "you cancelled"), ("expired_token", "the code expired")])
    func `what becomes of a device code is said plainly`(_ error: String, _ words: String) {
        let told = EntraRefusal(ErrorResponse(error: error)).pluginError(.device)
        #expect(told.code == .cancelled && told.message.hasPrefix(words), "\(told.message)")
    }
}
