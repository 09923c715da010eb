import Addresses
package import Secrets

/// What platforms' variables hold, checked before anything is sent.
package enum Endpoint {
    /// The URL in a variable: http or https, without a user name and a fragment.
    ///
    /// - Throws: `invalidRequest` if it is none; nil if the variable is unset.
    package static func url(
        _ variable: String, in surroundings: Surroundings, schemes: [String] = ["http", "https"]
    ) throws(IdentityError) -> String? {
        guard let text = surroundings[variable] else { return nil }
        guard let url = StrictURL(text), schemes.contains(url.scheme), url.user == nil, !text.hasBytes("#"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw IdentityError(
                .invalidRequest, "the variable \(variable) doesn't hold a URL of \(schemes.joined(separator: " or "))",
                hint: "unset \(variable), or set it as the machine's platform does")
        }
        return text
    }

    /// The URL in a variable that is known to be set.
    package static func requiredURL(
        _ variable: String, in surroundings: Surroundings, schemes: [String] = ["http", "https"]
    ) throws(IdentityError) -> String {
        guard let url = try url(variable, in: surroundings, schemes: schemes) else { throw unset(variable) }
        return url
    }

    /// The secret in a variable, which is to be a header's value.
    ///
    /// - Throws: `invalidRequest` if no header can have it.
    package static func header(_ variable: String, in surroundings: Surroundings) throws(IdentityError) -> Secret {
        guard let secret = surroundings.secret(variable) else { throw unset(variable) }
        guard secret.reveal().utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw IdentityError(
                .invalidRequest, "the variable \(variable) holds characters that no HTTP header may have",
                hint: "set \(variable) as the machine's platform does")
        }
        return secret
    }

    private static func unset(_ variable: String) -> IdentityError {
        IdentityError(.invalidRequest, "the variable \(variable) is not set")
    }
}
