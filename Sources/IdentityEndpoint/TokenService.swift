import Addresses
package import JSON
import Secrets

/// What somebody wants a token for.
package struct TokenQuery: Sendable, Hashable {
    /// The scopes; or the resource, alone.
    package let names: [String]
    /// The tenant, if one is named.
    package var tenant: String?
}

/// What came of asking lanyard for a token.
package enum TokenOutcome: Sendable, Equatable {
    /// What it printed.
    case token(JSONValue)
    /// A person has to sign in; what it said.
    case needsPerson(String)
    /// It failed; what it said.
    case failed(String)
}

/// A protocol that programs ask an endpoint for tokens by; pure.
package protocol TokenService: Sendable {
    /// Reads a request that has come to this computer directly.
    ///
    /// - Throws: the answer to one that gets no token.
    func query(_ request: EndpointRequest) throws(EndpointAnswer) -> TokenQuery
    /// What lanyard is run with.
    func arguments(for query: TokenQuery) -> [String]
    /// The answer to a request, now that this came of it; `now` is in seconds since 1970.
    func answer(to query: TokenQuery, _ outcome: TokenOutcome, now: Int) -> EndpointAnswer
}

extension String {
    /// The longest scope or resource that is taken.
    private static let longestName = 2048

    /// Whether it can be a scope or a resource: printable ASCII that is no option.
    var isTokenName: Bool {
        !isEmpty && utf8.count <= Self.longestName && !hasPrefix("-") && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The same without the slashes that it ends in, in which programs differ.
    var withoutSlashes: Substring {
        var text = self[...]
        while text.utf8.last == UInt8(ascii: "/") { text = text.dropLast() }
        return text
    }
}
