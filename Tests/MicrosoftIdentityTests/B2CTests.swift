import AADB2C
import AuthorityPlugin
import Testing

@testable import MicrosoftIdentity

/// The B2C plugin against a real authority.
@Suite(.serialized)
struct B2CTests {
    private static let path = "/tfp/contosob2c.onmicrosoft.example/B2C_1_susi"

    private static func request(
        _ operation: PluginRequest.Operation, in sandbox: Sandbox
    ) -> PluginRequest {
        var request = sandbox.request(operation, at: path)
        request.clientID = sandbox.b2cClient
        request.scopes = ["https://contosob2c.onmicrosoft.example/sandbox-git/Repo.Read"]
        return request
    }

    @Test func `a customer signs in and renews, with an account of the policy`() async throws {
        try await Sandbox.run { sandbox in
            let plugin = AADB2CPlugin()
            let first = try await plugin.authorize(
                Self.request(.authorize, in: sandbox), sandbox.person("erin@example.net"))
            #expect(first.account.homeAccountID.contains("-b2c_1_susi."))
            #expect(first.account.environment == sandbox.environment)
            #expect(!first.account.realm.isEmpty)
            var request = Self.request(.renew, in: sandbox)
            request.refreshToken = first.refreshToken
            request.account = first.account.homeAccountID
            let second = try await plugin.renew(request)
            #expect(second.account.homeAccountID == first.account.homeAccountID)
            #expect(second.account.realm == first.account.realm)
        }
    }

    @Test(arguments: [("--cancel", PluginError.Code.cancelled), ("--forgot-password", .interactionRequired)])
    func `what the person does on the policy's page is told apart`(
        _ way: String, _ code: PluginError.Code
    ) async throws {
        try await Sandbox.run { sandbox in
            let error = await #expect(throws: PluginError.self) {
                try await AADB2CPlugin().authorize(
                    Self.request(.authorize, in: sandbox), sandbox.person("erin@example.net", [way]))
            }
            #expect(error?.code == code)
            if code == .interactionRequired { #expect(error?.hint?.contains("password-reset policy") == true) }
        }
    }

    // Azure AD B2C itself gives none.
    @Test func `an authority without device codes is told as such`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.set(#"{"device_code_lifetime":0}"#)
            var request = Self.request(.authorize, in: sandbox)
            request.flows = [.deviceCode]
            let error = await #expect(throws: PluginError.self) {
                try await AADB2CPlugin().authorize(request, sandbox.person("erin@example.net"))
            }
            #expect(error?.code == .unsupported)
        }
    }
}
