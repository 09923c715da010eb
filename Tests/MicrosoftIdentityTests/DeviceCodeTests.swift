import Foundation
import JSON
import PluginWire
import Secrets
import Testing
import Vectors

@testable import MicrosoftIdentity
@testable import OAuth

struct DeviceCodeTests {
    private static func client(for request: PluginRequest) throws -> OAuthClient {
        let authority = try Authority("https://login.microsoftonline.com/contoso")
        let document = ProviderMetadata(
            ["issuer", "authorization_endpoint", "token_endpoint"].reduce(into: [:]) { $0[$1] = .string(authority.url) }
        )
        let metadata = InstanceMetadata.single(authority.host)
        let session = AuthoritySession(
            request: request, profile: AuthorityProfile(name: "aad-tenant", kind: .aad),
            authority: authority, metadata: metadata,
            configuration: try OpenIDConfiguration(document, of: authority, in: metadata),
            transport: try Transport(.init(userAgent: "tests", environment: [:])), claims: nil)
        return session.client
    }

    @Test(arguments: Vectors.followed("device-code").filter { $0.text("poll_error") == nil })
    func `the requests are shaped as MSAL Python's`(_ vector: VectorCase) throws {
        var request = PluginRequest(.authorize)
        request.clientID = "cid"
        request.scopes = vector.texts("scopes")
        let client = try Self.client(for: request)
        let endpoints = ConventionalEndpoints(base: "https://login.microsoftonline.com/contoso")
        let start = try #require(vector.expect["start"]?.members)
        #expect(start["url"]?.string == endpoints.deviceAuthorization)
        #expect(Self.sorted(client.deviceAuthorizationRequest) == Self.expected(start["body"]))
        let poll = try #require(vector.expect["poll"]?.members)
        #expect(poll["url"]?.string == endpoints.token)
        #expect(Self.sorted(TokenGrant.deviceCode(Secret("DC")).fields(for: client)) == Self.expected(poll["body"]))
    }

    /// Returns the fields with sorted scopes, whose order doesn't matter.
    private static func sorted(_ fields: [FormEncoding.Field]) -> [String: String] {
        Dictionary(fields.map { ($0.name, $0.name == "scope" ? order($0.value) : $0.value) }) { $1 }
    }

    private static func expected(_ body: JSONValue?) -> [String: String] {
        (body?.members ?? [:]).mapValues { value in
            if case .integer(let number) = value { String(number) } else { order(value.string ?? "") }
        }
    }

    private static func order(_ scope: String) -> String {
        ScopeText.split(scope).sorted().joined(separator: " ")
    }
}
