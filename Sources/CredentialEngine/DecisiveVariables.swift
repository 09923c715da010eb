import Addresses
import TokenStore

/// The variables that decide an answer, and a digest of their values; the answer is valid only while the digest is the
/// same.
struct DecisiveVariables: Sendable {
    let names: [String]
    let digest: String

    init(_ names: Set<String>, in environment: [String: String]) {
        self.names = names.sorted()
        let values = self.names.map { "\($0)=\(environment[$0] ?? "")" }
        digest = values.joined(separator: "\0").shortDigest
    }
}
