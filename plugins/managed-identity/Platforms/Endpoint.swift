import Addresses
package import Secrets

/// Reads values from the platforms' variables and validates them before anything is sent.
package enum Endpoint {
    /// Returns the URL in a variable: http or https, without a user name or fragment; nil if the variable is unset.
    ///
    /// - Throws: `invalidRequest` if it isn't such a URL.
    package static func url(
        _ variable: String, in surroundings: Surroundings, schemes: [String] = ["http", "https"]
    ) throws(IdentityError) -> String? {
        guard let text = surroundings[variable] else { return nil }
        guard let url = StrictURL(web: text), schemes.contains(url.scheme), !url.hasFragment else {
            throw IdentityError(
                .invalidRequest, "the variable \(variable) doesn't hold a URL of \(schemes.joined(separator: " or "))",
                hint: "unset \(variable), or set it as the machine's platform does")
        }
        return text
    }

    /// Returns the URL in a variable that must be set.
    package static func requiredURL(
        _ variable: String, in surroundings: Surroundings, schemes: [String] = ["http", "https"]
    ) throws(IdentityError) -> String {
        guard let url = try url(variable, in: surroundings, schemes: schemes) else { throw unset(variable) }
        return url
    }

    /// Returns the secret in a variable, for use as a header's value.
    ///
    /// - Throws: `invalidRequest` if a header can't contain it.
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
