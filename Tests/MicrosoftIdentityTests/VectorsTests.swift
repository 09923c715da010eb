import Testing
import Vectors

/// Checks that all conformance vectors are run.
struct VectorsTests {
    /// The suites that run each category's cases.
    static let suites = [
        "account": "AccountSelectionTests", "authority": "AuthorityTests", "cache-key": "CredentialKeyTests",
        "claims-challenge": "ClaimsChallengeTests, ChallengedAuthorityTests", "claims-merge": "RequestPartsTests",
        "claims-request": "RequestPartsTests", "client-info": "RequestPartsTests", "device-code": "DeviceCodeTests",
        "endpoints": "AuthorityTests", "instance-metadata": "InstanceTests", "issuer": "InstanceTests",
        "pkce": "ProofKeyTests", "scope-match": "AnswerTests, SilentSelectionTests",
        "silent": "SilentSelectionTests", "token-error": "AnswerTests",
    ]

    @Test func `every category with followed cases has a suite`() {
        #expect(Vectors.followed.count == 213)
        #expect(Set(Vectors.followed.map(\.category)) == Set(Self.suites.keys))
    }

    @Test func `what is left out is a followed case, and little`() {
        #expect(Vectors.leftOut.isSubset(of: Vectors.followed.map(\.id)))
        #expect(Vectors.leftOut.count == 24)
        for category in Self.suites.keys { #expect(!Vectors.followed(category).isEmpty, "\(category)") }
    }
}
