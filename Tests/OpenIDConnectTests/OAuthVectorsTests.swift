import Testing
import Vectors

/// Checks that all conformance vectors are run, or listed with the reason.
struct OAuthVectorsTests {
    private static let suites: Set = [
        "account", "authorization-request", "authorization-response", "device-polling", "device-response", "discovery",
        "endpoints", "git-answer", "id-token", "registration", "renewal", "revocation", "token-error", "token-request",
        "token-response", "www-authenticate",
    ]

    @Test func `each case is of a category that a suite runs, or is left out`() {
        #expect(OAuthVectors.followed.count == 286)
        for vector in OAuthVectors.followed where !Self.suites.contains(vector.category) {
            #expect(OAuthVectors.leftOut.contains("\(vector.category)/*"), "\(vector.id)")
        }
    }

    @Test func `what is left out is there`() {
        let known = Set(OAuthVectors.followed.flatMap { [$0.id, "\($0.category)/*"] })
        #expect(OAuthVectors.leftOut.isSubset(of: known))
        for category in Self.suites { #expect(!OAuthVectors.followed(category).isEmpty, "\(category)") }
    }
}
