import Addresses
import AuthorityFixture
import PluginWire
import Secrets
import Testing

@testable import AWS

/// The exchange of a token at AWS's Security Token Service.
struct SecurityTokenServiceTests {
    private static let plugin = AWSPlugin(environment: [:])
    private static let role = "arn:aws:iam::123456789012:role/team/developer"

    private static func request(_ server: TLSServer, claims: String = #"{"upn":"al ice@contoso.com"}"#) -> PluginRequest
    {
        var request = PluginRequest(.exchange)
        request.authority = "https://id.example.com"
        request.clientID = "c"
        request.exchange = "aws-sts"
        request.audience = "localhost:\(server.port)"
        request.audiencePath = role
        request.accessToken = Secret("e30.\(Base64URL.encode(claims.utf8)).x")
        request.network.caFiles = [server.caFile]
        return request
    }

    private static func answer(_ status: Int, _ body: String) -> @Sendable (String) -> TLSServer.Behaviour {
        let lines = [
            "HTTP/1.1 \(status) X", "date: Sun, 06 Nov 1994 08:49:37 GMT", "content-length: \(body.utf8.count)",
        ]
        return { _ in .answer(lines.joined(separator: "\r\n") + "\r\n\r\n" + body) }
    }

    private static let xml = """
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
        <Credentials><SessionToken>st/+=</SessionToken><SecretAccessKey>sk/+</SecretAccessKey>
        <Expiration>1994-11-06T09:49:37Z</Expiration><AccessKeyId>ASIA1</AccessKeyId></Credentials>
        </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
        """
    private static let json = """
        {"AssumeRoleWithWebIdentityResponse":{"AssumeRoleWithWebIdentityResult":{"Credentials":{"AccessKeyId":"ASIA1",
        "SecretAccessKey":"sk/+","SessionToken":"st/+=","Expiration":7.84115377E8}}}}
        """

    @Test(arguments: [xml, json])
    func `temporary keys come in either format, with the server's idea of now`(_ body: String) async throws {
        try await TLSServer.run(.host("localhost"), Self.answer(200, body)) { server in
            let keys = try await Self.plugin.exchange(Self.request(server))
            #expect(
                keys.fields == [
                    PluginField("AccessKeyId", Secret("ASIA1")), PluginField("SecretAccessKey", Secret("sk/+")),
                    PluginField("SessionToken", Secret("st/+=")),
                ])
            #expect(keys.expiresIn == 3600 && keys.refreshIn == 2400 && keys.secret == nil)
            let asked = try #require(server.requests.first)
            #expect(asked.contains("RoleSessionName=alice%40contoso.com&"), "\(asked)")
            #expect(asked.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fteam%2Fdeveloper&"), "\(asked)")
        }
    }

    @Test(arguments: [
        (400, #"{"Error":{"Code":"InvalidIdentityToken","Message":"m"}}"#, PluginError.Code.interactionRequired),
        (400, "<E><Error><Code>ExpiredTokenException</Code><Message>m</Message></Error></E>", .interactionRequired),
        (403, "<E><Error><Code>AccessDenied</Code><Message>m</Message></Error></E>", .invalidRequest),
        (400, #"{"Error":{"Code":"IDPCommunicationError","Message":"m"}}"#, .unavailable),
        (400, #"{"Error":{"Code":"Throttling","Message":"m"}}"#, .unavailable),
        (403, #"{"Error":{"Code":"InvalidClientTokenId","Message":"m"}}"#, .interactionRequired),
        (403, #"{"Error":{"Code":"RegionDisabledException","Message":"m"}}"#, .invalidRequest),
        (
            403, #"{"Error":{"Code":"SignatureDoesNotMatch","Message":"m\n\nThe Canonical String: secret"}}"#,
            .invalidRequest
        ),
        (400, "<html>", .invalidRequest), (403, "<E><Error><Code>no code</Code></Error></E>", .invalidRequest),
        (200, "<html>", .internal), (200, "{}", .internal),
        (200, xml.replacing("sk/+", with: ""), .internal), (200, xml.replacing("09:49:37Z", with: "soon"), .internal),
    ])
    func `what isn't keys is told`(_ status: Int, _ body: String, _ code: PluginError.Code) async throws {
        try await TLSServer.run(.host("localhost"), Self.answer(status, body)) { server in
            let error = await #expect(throws: PluginError.self) {
                try await Self.plugin.exchange(Self.request(server))
            }
            #expect(error?.code == code, "\(error.debugDescription)")
            #expect(error?.message.contains("secret") == false)
            // Only what AWS's own SDKs try again is asked for twice.
            #expect(server.requests.count == (body.contains("IDPCommunicationError") ? 2 : 1))
            let wire = try #require(error).wire()
            #expect(try PluginError(WireReader(wire)) == error)
        }
    }

    @Test(arguments: [
        ("-9223372036854775808", 0), ("-1e300", 0), ("784115377.5", 3600), ("9223372036854775807", 315_360_000),
        ("1e300", 315_360_000),
    ])
    func `no end that is told is too far away`(_ end: String, _ lifetime: Int) async throws {
        let json = Self.json.replacing("7.84115377E8", with: end)
        let xml = Self.xml.replacing("1994-11-06T09:49:37Z", with: end)
        for body in [json, xml] {
            try await TLSServer.run(.host("localhost"), Self.answer(200, body)) { server in
                let keys = try await Self.plugin.exchange(Self.request(server))
                #expect(keys.expiresIn == lifetime)
            }
        }
    }

    @Test(arguments: [
        (#"{"preferred_username":"a","upn":"bob@contoso.com"}"#, "bob%40contoso.com"),
        (#"{"sub":"\#(String(repeating: "x", count: 99))"}"#, String(repeating: "x", count: 64)),
        (#"{"sub":"üü"}"#, "lanyard"), ("no claims", "lanyard"),
    ])
    func `the session is named after whom AWS can name`(_ claims: String, _ name: String) async throws {
        try await TLSServer.run(.host("localhost"), Self.answer(200, Self.xml)) { server in
            _ = try await Self.plugin.exchange(Self.request(server, claims: claims))
            #expect(server.requests.first?.contains("RoleSessionName=\(name)&") == true, "\(server.requests)")
        }
    }

    @Test(arguments: [
        ("arn:aws:iam::123456789012:role/a", true), ("arn:aws-cn:iam::123456789012:role/a/b", true), (role, true),
        ("", false), ("arn:aws:iam::123456789012:role/", false), ("arn:aws:iam::12345678901:role/a", false),
        ("arn:aws:iam::12345678901x:role/a", false), ("arn:aws:iam:eu:123456789012:role/a", false),
        ("arn:aws:sts::123456789012:assumed-role/a", false), ("arn:azure:iam::123456789012:role/a", false),
        ("arn:aws:iam::123456789012:user/a", false), ("arn:aws:iam::123456789012:role/a b", false),
    ])
    func `a role is an ARN of IAM's`(_ text: String, _ isRole: Bool) {
        #expect(SecurityTokenService.isRole(text) == isRole)
    }
}
