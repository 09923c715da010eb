import JSON
import PluginWire
import Secrets
import Testing

@testable import MicrosoftIdentity

/// The B2C plugin with a real authority.
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
            let plugin = MicrosoftPlugin.aadB2C
            let first = try await plugin.authorize(
                Self.request(.authorize, in: sandbox), sandbox.user("erin@example.net"))
            #expect(first.account?.homeAccountID.contains("-b2c_1_susi.") == true)
            #expect(first.account?.kind == "B2C" && first.account?.homeRealms == [first.realm])
            #expect(first.environment == sandbox.environment)
            #expect(!first.realm.isEmpty)
            var request = Self.request(.renew, in: sandbox)
            request.refreshToken = first.refreshToken
            request.account = first.account?.homeAccountID
            let second = try await plugin.renew(request)
            #expect(second.account?.homeAccountID == first.account?.homeAccountID)
            #expect(second.realm == first.realm)
        }
    }

    @Test(arguments: [("--cancel", PluginError.Code.cancelled), ("--forgot-password", .interactionRequired)])
    func `what the user does on the policy's page is told apart`(
        _ way: String, _ code: PluginError.Code
    ) async throws {
        try await Sandbox.run { sandbox in
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadB2C.authorize(
                    Self.request(.authorize, in: sandbox), sandbox.user("erin@example.net", [way]))
            }
            #expect(error?.code == code)
            if code == .interactionRequired { #expect(error?.hint?.contains("password-reset policy") == true) }
        }
    }

    static let refusals: [(number: Int, code: PluginError.Code, hint: String?)] = [
        (90068, .invalidRequest, "check the client ID"), (90079, .invalidRequest, "register it as a public client"),
        (90205, .invalidRequest, "add the API's permission"), (90117, .invalidRequest, "check the scopes"),
        (90006, .invalidRequest, "add http://localhost"), (90080, .interactionRequired, nil),
        (90085, .interactionRequired, nil), (90088, .interactionRequired, nil),
        (90129, .interactionRequired, nil), (90077, .interactionRequired, nil),
        (90118, .interactionRequired, "reset-policy"), (90091, .cancelled, nil),
    ]

    @Test func `what only B2C refuses with is told with its number`() async throws {
        try await Sandbox.run { sandbox in
            var request = Self.request(.renew, in: sandbox)
            request.refreshToken = Secret("r")
            for refusal in Self.refusals {
                let words = "AADB2C\(refusal.number): No.\r\nCorrelation ID: 6f1e3c1c-0000-4000-8000-00000000c0de\r\n"
                let body: JSONValue = ["error": "invalid_grant", "error_description": .string(words)]
                let fault: JSONValue = [
                    "path": "/token", "status": 400, "times": 1, "body": .string(body.encodedText),
                ]
                try await sandbox.plan(fault.encodedText)
                let error = await #expect(throws: PluginError.self) { try await MicrosoftPlugin.aadB2C.renew(request) }
                #expect(error?.code == refusal.code, "\(refusal.number)")
                #expect(error?.errorCodes == ["AADB2C\(refusal.number)"], "\(refusal.number)")
                #expect(error?.message.contains("(AADB2C\(refusal.number))") == true, "\(refusal.number)")
                #expect(error?.correlationID == "6f1e3c1c-0000-4000-8000-00000000c0de", "\(refusal.number)")
                if let hint = refusal.hint {
                    #expect(error?.hint?.contains(hint) == true, "\(refusal.number)")
                } else {
                    #expect(error?.hint == nil, "\(refusal.number)")
                }
            }
        }
    }

    // Azure AD B2C itself has no device codes.
    @Test func `an authority without device codes is told as such`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.set(#"{"device_code_lifetime":0}"#)
            var request = Self.request(.authorize, in: sandbox)
            request.flows = [.deviceCode]
            let error = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadB2C.authorize(request, sandbox.user("erin@example.net"))
            }
            #expect(error?.code == .unsupported)
        }
    }
}
