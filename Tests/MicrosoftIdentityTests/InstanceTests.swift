import JSON
import Testing
import Vectors

@testable import MicrosoftIdentity

struct InstanceTests {
    @Test(arguments: Vectors.followed("instance-metadata"))
    func `clouds are known as MSAL knows them`(_ vector: VectorCase) throws {
        let host = try #require(vector.text("host"))
        if case .bool(let trusted) = vector.expect["trusted"] {
            #expect(InstanceMetadata.isTrusted(host) == trusted)
            return
        }
        let metadata = InstanceMetadata.known(host)
        #expect((metadata != nil) == (vector.expect["known"] == .bool(true)))
        #expect(metadata?.preferredNetwork == vector.expected("preferred_network"))
        #expect(metadata?.preferredCache == vector.expected("preferred_cache"))
        if case .integer(let count) = vector.expect["alias_count"] {
            #expect(metadata?.aliases.count == Int(count))
        }
    }

    @Test(arguments: Vectors.followed("issuer"))
    func `issuers are accepted by the rules of MSAL.NET`(_ vector: VectorCase) throws {
        let accepted = Authority.accepts(
            issuer: try #require(vector.text("issuer")), of: try #require(vector.text("authority")))
        #expect(vector.expect["accepted"] == .bool(accepted))
    }

    @Test func `an alias of the environment may be the issuer`() {
        #expect(
            Authority.accepts(
                issuer: "https://sts.contoso.example/{tenantid}/v2.0", of: "https://login.contoso.example/common",
                aliases: ["login.contoso.example", "sts.contoso.example"]))
    }

    @Test(arguments: [
        "https://login.microsoftonline.com:8443/tenant", "https://login.microsoftonline.com.evil.example/tenant",
        "https://a.b.login.microsoftonline.com/tenant", "https://evil@login.microsoftonline.com/tenant", "",
    ])
    func `an issuer that only looks like Microsoft's is refused`(_ issuer: String) {
        #expect(!Authority.accepts(issuer: issuer, of: "https://custom.example.com/tenant"))
    }
}
