import Addresses
import AuthorityFixture
import FoundationEssentials
import PluginWire
import Secrets
import Testing

@testable import AWS

/// When the client that the host keeps is used, and when another is registered.
struct RegistrationTests {
    private static let device = #"{"clientName":"lanyard","clientType":"public","scopes":["sso:account:access"]}"#
    private static let everything = """
        {"clientName":"lanyard","clientType":"public","scopes":["sso:account:access"],"issuerUrl":
        "https://contoso.awsapps.com/start","redirectUris":["http://127.0.0.1/oauth/callback"],"grantTypes":
        ["authorization_code","urn:ietf:params:oauth:grant-type:device_code","refresh_token"]}
        """

    struct Kept: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var terms = RegistrationTests.device
        var days = 30
        var place: String?
        var text: String?
        let isUsed: Bool
    }

    @Test(arguments: [
        Kept(testDescription: "one for codes", isUsed: true),
        Kept(testDescription: "one for every flow", terms: everything, isUsed: true),
        Kept(testDescription: "one in its last week", days: 6, isUsed: false),
        Kept(testDescription: "one that has ended", days: -1, isUsed: false),
        Kept(testDescription: "one with other scopes", terms: device.replacing("account", with: "x"), isUsed: false),
        Kept(testDescription: "one of another region", place: "https://oidc.us-east-1.amazonaws.com", isUsed: false),
        Kept(testDescription: "what somebody typed", text: "hunter2", isUsed: false),
    ])
    func `the client that is kept is used as long as it may be`(_ kept: Kept) async throws {
        @Sendable func answer(_ body: String) -> TLSServer.Behaviour {
            .answer("HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\r\n" + body)
        }
        try await TLSServer.run(
            .host("localhost"),
            { asked in
                asked.hasPrefix("POST /client/register")
                    ? answer(#"{"clientId":"new","clientSecret":"s","clientSecretExpiresAt":4102444800}"#)
                    : answer(
                        #"{"deviceCode":"d","userCode":"u","verificationUri":"https://localhost/d","expiresIn":600}"#)
            }
        ) { server in
            let url = "https://localhost:\(server.port)"
            let end = Int(Date.now.timeIntervalSince1970) + kept.days * 86_400
            var request = PluginRequest(.probe)
            request.authority = "https://contoso.awsapps.com/start"
            request.clientID = "lanyard"
            request.scopes = ["sso:account:access"]
            request.options = ["region": "eu-central-1", "endpoint": url]
            request.network.caFiles = [server.caFile]
            request.clientSecret = Secret(
                kept.text
                    ?? #"{"clientID":"kept","secret":"s","end":\#(end),"place":"\#(kept.place ?? url)","terms":\#(kept.terms)}"#
            )
            _ = try await AWSPlugin(environment: [:]).probe(request)
            #expect(server.requests.count == (kept.isUsed ? 1 : 2))
            #expect(server.requests.last?.contains(kept.isUsed ? #""clientId":"kept""# : #""clientId":"new""#) == true)
        }
    }
}
