import Addresses
package import JSON
import Secrets

/// A caller's request for a token.
package struct TokenQuery: Sendable, Hashable {
    /// The scopes, or a single resource.
    package let names: [String]
    /// The tenant; nil if the request names none.
    package var tenant: String?
}

/// The result of asking lanyard for a token.
package enum TokenOutcome: Sendable, Equatable {
    /// The token, as lanyard printed it.
    case token(JSONValue)
    /// The user must sign in; with lanyard's message.
    case needsPerson(String)
    /// A failure; with lanyard's message.
    case failed(String)
}

/// A protocol for requesting tokens from an endpoint, without any input or output.
package protocol TokenService: Sendable {
    /// Parses a request that came to this computer directly.
    ///
    /// - Throws: the answer to a request that is refused.
    func query(_ request: EndpointRequest) throws(EndpointAnswer) -> TokenQuery
    /// Returns the arguments for lanyard.
    func arguments(for query: TokenQuery) -> [String]
    /// Returns the answer to a request with this outcome; `now` is in seconds since 1970.
    func answer(to query: TokenQuery, _ outcome: TokenOutcome, now: Int) -> EndpointAnswer
}

extension String {
    /// The longest accepted scope or resource.
    private static let longestName = 2048

    /// Whether it can be a scope or resource: printable ASCII that isn't an option.
    var isTokenName: Bool {
        !isEmpty && utf8.count <= Self.longestName && !hasPrefix("-") && utf8.allSatisfy(\.isVisibleASCII)
    }
}
