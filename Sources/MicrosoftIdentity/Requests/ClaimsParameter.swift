package import Claims
import JSON

/// The `claims` parameter (OpenID Connect Core 1.0, 5.5): a claims challenge or request, and the client's capabilities.
package enum ClaimsParameter {
    /// The size limit of claims, in bytes.
    static let longest = 65_536

    /// Merges claims, with later ones taking precedence, and adds the capabilities.
    ///
    /// - Parameters:
    ///   - claims: JSON objects; nil and empty ones are ignored.
    ///   - capabilities: The client's capabilities, such as `CP1`; they replace an `xms_cc` in the claims.
    /// - Returns: JSON, or nil if there is nothing to send.
    /// - Throws: `ClaimsError.notAnObject` if a text isn't a JSON object, for example because it is still
    ///   base64-encoded.
    package static func merge(_ claims: [String?], capabilities: [String] = []) throws(ClaimsError) -> String? {
        var merged: JSONValue?
        for case .some(let text) in claims where !text.isEmpty {
            guard let value = JSONValue(bytes: text.utf8, atMost: longest), value.members != nil else {
                throw .notAnObject
            }
            merged = merged?.merging(value) ?? value
        }
        if !capabilities.isEmpty {
            let value: JSONValue = ["access_token": ["xms_cc": ["values": JSONValue(strings: capabilities)]]]
            merged = merged?.merging(value) ?? value
        }
        return merged?.encodedText
    }
}
