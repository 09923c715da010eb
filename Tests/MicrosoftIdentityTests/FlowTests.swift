import Claims
import Foundation
import PluginKit
import PluginWire
import Secrets
import Synchronization
import Testing

@testable import MicrosoftIdentity
@testable import OAuth

/// The plugins with a real authority.
@Suite(.serialized)
struct FlowTests {
    @Test func `a browser signs in to common and the tokens are the home tenant's`() async throws {
        try await Sandbox.run { sandbox in
            var request = sandbox.request(.authorize, at: "/common")
            request.signIn.loginHint = "alice@contoso.example"
            let plugin = MicrosoftPlugin.aadCommon
            let result = try await plugin.authorize(request, sandbox.user("alice@contoso.example"))
            #expect(result.account?.homeAccountID == Sandbox.alice)
            #expect(result.environment == sandbox.environment)
            #expect(result.realm == Sandbox.contoso)
            #expect(result.account?.username == "alice@contoso.example")
            #expect(result.account?.name == "Alice Archer")
            #expect(result.account?.homeRealms == [Sandbox.contoso, "contoso.example"])
            #expect(result.account?.kind == "work or school" && result.account?.authorityType == "MSSTS")
            #expect(result.scopes.contains("api://sandbox-git/.default"))
            #expect(result.declinedScopes.isEmpty)
            #expect(try #require(result.expiresIn) > 3_000)
            #expect(result.refreshToken != nil)

            let authorize = try #require(try await sandbox.log().first { $0.path.hasSuffix("/authorize") })
            let query = authorize.query ?? [:]
            #expect(query["response_mode"] == "form_post")
            #expect(query["code_challenge_method"] == "S256")
            #expect(query["X-AnchorMailbox"] == "UPN:alice@contoso.example")
            #expect(query["nonce"]?.count == 64)
        }
    }

    @Test func `a probe finds out what it can without anybody`() async throws {
        try await Sandbox.run { sandbox in
            var request = sandbox.request(.probe, at: "/contoso.example")
            let found = try await MicrosoftPlugin.aadTenant.probe(request)
            #expect(found.checks == [.authority, .client] && found.proxy == nil)
            let now = Int(Date.now.timeIntervalSince1970)
            #expect(abs(try #require(found.time) - now) < 60)
            // A policy that forbids device codes says nothing about the client, which works in the browser.
            request.clientID = Sandbox.withoutDeviceCode
            #expect(try await MicrosoftPlugin.aadTenant.probe(request).checks == [.authority])
            request.clientID = "99999999-2222-3333-4444-555555555555"
            let error = await #expect(throws: PluginError.self) { try await MicrosoftPlugin.aadTenant.probe(request) }
            #expect(error?.errorCodes == ["AADSTS700016"])
            // No user was involved, and no token was acquired.
            #expect(try await sandbox.log().allSatisfy { $0.grant_type == nil && !$0.path.hasSuffix("/authorize") })
        }
    }

    @Test func `a probe has little time`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(#"{"path":"openid-configuration","delay":30}"#)
            var limits = Transport.Limits()
            limits.probe = .seconds(1)
            let client = MicrosoftPlugin(
                AuthorityProfile(name: "aad-tenant", kind: .aad), environment: [:], limits: limits)
            let start = ContinuousClock.now
            let error = await #expect(throws: PluginError.self) {
                try await client.probe(sandbox.request(.probe, at: "/contoso.example"))
            }
            #expect(error?.message.contains("did not answer in time") == true)
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func `a guest's tokens are of the tenant asked for, by its id`() async throws {
        try await Sandbox.run { sandbox in
            let request = sandbox.request(.authorize, at: "/fabrikam.example")
            let result = try await MicrosoftPlugin.aadTenant.authorize(request, sandbox.user("alice@contoso.example"))
            #expect(result.account?.homeAccountID == Sandbox.alice)
            #expect(result.account?.homeRealms == [Sandbox.contoso])
            #expect(result.realm == Sandbox.fabrikam)
        }
    }

    @Test func `a refresh token of common is redeemed at the home tenant and rotates`() async throws {
        try await Sandbox.run { sandbox in
            let plugin = MicrosoftPlugin.aadCommon
            let first = try await plugin.authorize(
                sandbox.request(.authorize, at: "/common"), sandbox.user("alice@contoso.example"))
            var request = sandbox.request(.renew, at: "/common")
            request.refreshToken = first.refreshToken
            request.account = first.account?.homeAccountID
            let second = try await plugin.renew(request)
            #expect(second.accessToken != first.accessToken)
            #expect(second.account?.homeAccountID == first.account?.homeAccountID)
            #expect(second.realm == Sandbox.contoso)
            let last = try await sandbox.log().last { $0.grant_type == "refresh_token" }
            #expect(last?.path == "/\(Sandbox.contoso)/oauth2/v2.0/token")

            request.account = "other.\(Sandbox.contoso)"
            let error = await #expect(throws: PluginError.self) { try await plugin.renew(request) }
            #expect(error?.code == .internal)
        }
    }

    @Test func `a revoked refresh token needs the user`() async throws {
        try await Sandbox.run { sandbox in
            let plugin = MicrosoftPlugin.aadTenant
            let first = try await plugin.authorize(
                sandbox.request(.authorize, at: "/contoso.example"), sandbox.user("alice@contoso.example"))
            try await sandbox.revoke("alice@contoso.example")
            var request = sandbox.request(.renew, at: "/contoso.example")
            request.refreshToken = first.refreshToken
            let error = await #expect(throws: PluginError.self) { try await plugin.renew(request) }
            #expect(error?.code == .interactionRequired)
            #expect(error?.suberror == "bad_token")
            #expect(error?.error == "invalid_grant")
            #expect(error?.errorCodes == ["AADSTS50173"])
            #expect(error?.correlationID != nil)
        }
    }

    @Test func `a device code is shown, typed in and polled for`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.set(#"{"device_code_interval":1}"#)
            let request = sandbox.request(.authorize, at: "/organizations", flows: [.deviceCode])
            let result = try await MicrosoftPlugin.aadCommon.authorize(request, sandbox.user("bob@contoso.example"))
            #expect(result.account?.username == "bob@contoso.example")
            #expect(result.realm == Sandbox.contoso)
        }
    }

    @Test func `a declined device code is cancelled`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.set(#"{"device_code_interval":1}"#)
            let request = sandbox.request(.authorize, at: "/organizations", flows: [.deviceCode])
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(
                    request, sandbox.user("bob@contoso.example", ["--decline"]))
            }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `a policy against device codes leads to the browser`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.set(#"{"device_code_interval":1}"#)
            var request = sandbox.request(.authorize, at: "/contoso.example", flows: [.deviceCode, .browser])
            request.clientID = Sandbox.withoutDeviceCode
            let result = try await MicrosoftPlugin.aadTenant.authorize(request, sandbox.user("alice@contoso.example"))
            #expect(result.account?.homeAccountID == Sandbox.alice)

            request.flows = [.deviceCode]
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadTenant.authorize(request, sandbox.user("alice@contoso.example"))
            }
            #expect(error?.errorCodes.contains("AADSTS53003") == true)
            #expect(error?.code == .interactionRequired)
        }
    }

    @Test func `declining consent is cancelling`() async throws {
        try await Sandbox.run { sandbox in
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadTenant.authorize(
                    sandbox.request(.authorize, at: "/contoso.example"),
                    sandbox.user("alice@contoso.example", ["--decline"]))
            }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `scopes that were not granted are reported`() async throws {
        try await Sandbox.run { sandbox in
            var request = sandbox.request(.authorize, at: "/contoso.example")
            request.clientID = Sandbox.declining
            request.scopes = ["api://sandbox-git/Repo.Read", "api://sandbox-git/repo.write"]
            let result = try await MicrosoftPlugin.aadTenant.authorize(request, sandbox.user("alice@contoso.example"))
            #expect(result.declinedScopes == ["api://sandbox-git/repo.write"])
            #expect(result.scopes.contains("api://sandbox-git/Repo.Read"))
        }
    }

    @Test func `flows that can't be used here give way to the next`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.set(#"{"device_code_interval":1}"#)
            let request = sandbox.request(
                .authorize, at: "/common", flows: [.init(rawValue: "carrier-pigeon"), .browser, .deviceCode])
            let user = ScriptedPerson { event in
                guard case .showCode(let code, let page, _, _, _) = event else { return .unsupported }
                _ = try? await sandbox.browse(page, as: "alice@contoso.example", ["--code", code])
                return .done
            }
            let result = try await MicrosoftPlugin.aadCommon.authorize(request, user)
            #expect(result.account?.homeAccountID == Sandbox.alice)

            var nobody = request
            nobody.flows = [.browser, .deviceCode, .paste]
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(nobody, ScriptedPerson { _ in .unsupported })
            }
            #expect(error?.code == .unsupported)
            let refusal = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(nobody, ScriptedPerson { _ in .cancelled })
            }
            #expect(refusal?.code == .cancelled)
        }
    }

    @Test func `a claims challenge is answered by the user`() async throws {
        try await Sandbox.run { sandbox in
            let plugin = MicrosoftPlugin.aadTenant
            let first = try await plugin.authorize(
                sandbox.request(.authorize, at: "/contoso.example"), sandbox.user("alice@contoso.example"))
            var request = sandbox.request(.renew, at: "/contoso.example")
            request.refreshToken = first.refreshToken
            request.capabilities = [.claimsChallenge]
            request.claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            let error = await #expect(throws: PluginError.self) { try await plugin.renew(request) }
            #expect(error?.code == .interactionRequired)
            #expect(error?.errorCodes == ["AADSTS50076"])
            var again = sandbox.request(.authorize, at: "/contoso.example")
            again.claims = request.claims
            let second = try await plugin.authorize(again, sandbox.user("alice@contoso.example"))
            #expect(second.account?.homeAccountID == Sandbox.alice)
        }
    }

    @Test func `a pasted address signs in where the browser is elsewhere`() async throws {
        try await Sandbox.run { sandbox in
            // The other computer: its listener shows nothing but records the URL.
            let elsewhere = try await LoopbackListener.open(port: nil)
            let seen = Mutex<String?>(nil)
            let server = Task {
                await elsewhere.serve(
                    answer: { request in
                        seen.withLock { $0 = request.target }
                        return LoopbackPage.success
                    }, delivered: { _ in })
            }
            defer { server.cancel() }
            var request = sandbox.request(.authorize, at: "/common", flows: [.paste])
            request.redirectURI = "http://localhost:\(elsewhere.port)"
            let slips = Mutex([
                "http://localhost", "https://example.com/authorize?client_id=c&response_type=code",
                "http://localhost/?code=c&state=older",
            ])
            let reasons = Mutex<[String]>([])
            let user = ScriptedPerson { event in
                guard case .openURL(let url, _) = event else { return .unsupported }
                if let slip = slips.withLock({ $0.popLast() }) { return .redirected(Secret(slip)) }
                _ = try? await sandbox.browse(url, as: "alice@contoso.example")
                return .redirected(Secret("http://localhost:\(elsewhere.port)" + (seen.withLock { $0 } ?? "")))
            } told: { reason in
                reasons.withLock { $0.append(reason) }
            }
            let result = try await MicrosoftPlugin.aadCommon.authorize(request, user)
            #expect(result.account?.homeAccountID == Sandbox.alice)

            let told = reasons.withLock { $0 }
            #expect(told.count == 3 && told[0].hasPrefix("that address belongs to another sign-in"), "\(told)")
            #expect(told[1].hasPrefix("that is the address of the page to open"), "\(told)")
            #expect(told[2].hasPrefix("there is no code in what was pasted"), "\(told)")

            let stranger = ScriptedPerson { _ in .redirected(Secret("hello")) }
            let refusal = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(request, stranger)
            }
            #expect(refusal?.message == "the pasted address holds no answer to the sign-in")
            let forger = ScriptedPerson { _ in .redirected(Secret("http://localhost/?code=stolen&state=guessed")) }
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(request, forger)
            }
            #expect(error?.code == .invalidRequest)
            #expect(try await sandbox.log().filter { $0.grant_type == "authorization_code" }.count == 1)
        }
    }

    @Test func `declining consent cancels the sign-in`() async throws {
        try await Sandbox.run { sandbox in
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(
                    sandbox.request(.authorize, at: "/common"), sandbox.user("alice@contoso.example", ["--decline"]))
            }
            #expect(error?.code == .cancelled)
            #expect(error?.message == "you declined what the application asks for (AADSTS65004)")
            #expect(error?.errorCodes == ["AADSTS65004"])
        }
    }

    @Test func `scopes of two resources are the rule's fault, at a renewal too`() async throws {
        try await Sandbox.run { sandbox in
            let first = try await MicrosoftPlugin.aadCommon.authorize(
                sandbox.request(.authorize, at: "/common"), sandbox.user("alice@contoso.example"))
            var request = sandbox.request(.renew, at: "/common")
            request.refreshToken = first.refreshToken
            request.scopes.append("https://graph.microsoft.com/User.Read")
            let error = await #expect(throws: PluginError.self) { try await MicrosoftPlugin.aadCommon.renew(request) }
            #expect(error?.errorCodes == ["AADSTS28000"])
            #expect(error?.code == .invalidRequest)
            #expect(error?.hint?.contains("one resource only") == true)
        }
    }

    @Test func `a renewal needs no ID token, and leaves the user name out`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(
                #"{"path":"/token","status":200,"body":"{\"access_token\":\"at\",\"expires_in\":3600}"}"#)
            var request = sandbox.request(.renew, at: "/common")
            request.refreshToken = Secret("r")
            request.account = Sandbox.alice
            let result = try await MicrosoftPlugin.aadCommon.renew(request)
            #expect(result.account?.homeAccountID == Sandbox.alice)
            #expect(result.account?.username.isEmpty == true)
            #expect(result.realm == Sandbox.contoso)
        }
    }

    @Test func `sign-out opens the end-session page`() async throws {
        try await Sandbox.run { sandbox in
            let opened = Mutex<String?>(nil)
            let user = ScriptedPerson { event in
                if case .openURL(let url, _) = event { opened.withLock { $0 = url } }
                return .done
            }
            var request = sandbox.request(.signOut, at: "/common")
            request.signIn.loginHint = "alice@contoso.example"
            try await MicrosoftPlugin.aadCommon.signOut(request, user)
            let page = opened.withLock { $0 }
            let url = try #require(page)
            #expect(url == "\(sandbox.authority)/common/oauth2/v2.0/logout?logout_hint=alice%40contoso.example")
            #expect(try await sandbox.browse(url, as: "alice@contoso.example"))
        }
    }

    @Test(arguments: ["p", "Client_Info", "X-AnchorMailbox"])
    func `what the plugin sets itself isn't taken from a request`(name: String) async throws {
        try await Sandbox.run { sandbox in
            var request = sandbox.request(.authorize, at: "/common")
            try request.signIn.apply([.queryParameters: ["\(name)=x"]])
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadCommon.authorize(request, sandbox.user("alice@contoso.example"))
            }
            #expect(error?.code == .invalidRequest && error?.message.contains("`\(name)`") == true)
        }
    }

    @Test func `plugins refuse each other's authorities`() async throws {
        var request = PluginRequest(.authorize)
        request.clientID = "c"
        request.authority = "https://login.microsoftonline.com/common"
        let user = ScriptedPerson { _ in .unsupported }
        for (plugin, authority) in [
            (MicrosoftPlugin.aadTenant as any AuthorityPlugin, "https://login.microsoftonline.com/common"),
            (MicrosoftPlugin.aadCommon, "https://login.microsoftonline.com/contoso.com"),
            (MicrosoftPlugin.aadCommon, "https://login.microsoftonline.com/tfp/t/p"),
            (MicrosoftPlugin.aadB2C, "https://contoso.b2clogin.com/tfp/t"),
            (MicrosoftPlugin.aadTenant, "http://localhost/t"),
        ] {
            request.authority = authority
            let error = await #expect(throws: PluginError.self) { try await plugin.authorize(request, user) }
            #expect(error?.code == .invalidRequest)
        }
    }
}
