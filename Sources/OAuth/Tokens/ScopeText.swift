/// The value of the `scope` parameter (RFC 6749, 3.3).
package enum ScopeText {
    /// Splits it at spaces and any characters that scopes can't contain; removes duplicates.
    package static func split(_ text: String) -> [String] {
        var seen: Set<String> = []
        return text.unicodeScalars.split { !(0x21...0x7E).contains($0.value) || $0 == "\"" || $0 == "\\" }
            .map(String.init).filter { $0.utf8.count <= 1_024 && seen.insert($0).inserted }
    }

    /// Whether a scope is OpenID Connect's own, which an issuer grants by what it says of the account, and needn't
    /// repeat (OpenID Connect Core 1.0, 5.4 and 11).
    package static func isOpenID(_ scope: String) -> Bool {
        ["openid", "profile", "email", "address", "phone", "offline_access"].contains(scope)
    }

    /// The value of a `scope` member, which some authorities send as a list.
    struct Member: Decodable, Sendable, Equatable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try (try? container.decode(String.self)) ?? container.decode([String].self).joined(separator: " ")
        }
    }
}
