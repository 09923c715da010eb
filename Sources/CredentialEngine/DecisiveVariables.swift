import Addresses
import TokenStore

/// Variables that decide an answer, and a digest of what they say; the answer counts for as long as that stays the same.
struct DecisiveVariables: Sendable {
    let names: [String]
    let digest: String

    init(_ names: Set<String>, in environment: [String: String]) {
        self.names = names.sorted()
        let values = self.names.map { "\($0)=\(environment[$0] ?? "")" }
        digest = values.joined(separator: "\0").shortDigest
    }
}
