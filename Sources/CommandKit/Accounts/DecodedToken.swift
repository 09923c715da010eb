import Addresses
package import JSON
package import Secrets
package import Terminal
import Tools

/// The content of a token that is a JSON Web Token (RFC 7519); its signature isn't verified.
package struct DecodedToken {
    private let header: [String: JSONValue]
    private let claims: [String: JSONValue]
    private let now: Int

    /// Decodes a token without its signature.
    package init(_ token: Secret, now: Int) throws(CommandError) {
        self.now = now
        guard let token = WebToken(token.reveal()), let header = JSONValue(bytes: token.header)?.members,
            header["alg"] != nil
        else { throw .opaqueToken }
        guard let payload = token.payload else { throw .encryptedToken }
        guard let claims = JSONValue(bytes: payload)?.members else { throw .opaqueToken }
        self.header = header
        self.claims = claims
    }

    /// Shows claims that are in no token, as those of the UserInfo endpoint.
    package init(claims: [String: JSONValue], now: Int) {
        (header, self.claims, self.now) = ([:], claims, now)
    }

    /// The claims as JSON.
    package var claimsJSON: JSONValue { .object(claims) }

    /// The claims of RFC 7519 and RFC 9068, which are shown first.
    private static let wellKnown = ["aud", "iss", "sub", "client_id", "scope", "exp", "nbf", "iat", "auth_time", "jti"]
    /// The years 1 to 9999.
    private static let years = -62_135_596_800..<253_402_300_800
    private static let times = ["exp", "nbf", "iat", "auth_time"]

    /// The value of a claim; nil if the token doesn't have it.
    package subscript(claim: String) -> JSONValue? { claims[claim] }

    /// Returns the claims for users, one per line, laid out for a number of columns.
    package func lines(columns: Int?) -> [String] {
        let first = Self.wellKnown.filter { claims[$0] != nil }
        let names = first + claims.keys.filter { !first.contains($0) }.sorted()
        let rows = names.map { [$0.displayable(limit: 60), text(of: $0)] }
        return Table(rows, atLeast: [9]).wrapped(columns: columns, indent: 0)
    }

    private func text(of name: String) -> String {
        let value = claims[name] ?? .null
        if let time = time(of: name) {
            return "\(Moment.local(time)), \(distance(to: time))"
        }
        let texts = value.elements.compactMap(\.string)
        if !texts.isEmpty, texts.count == value.elements.count {
            return texts.joined(separator: " ")
        }
        return value.string ?? value.encodedText
    }

    /// Returns the value of a claim that is a time, in seconds since 1970; nil for any other claim.
    private func time(of name: String) -> Int? {
        guard Self.times.contains(name), let time = claims[name]?.wholeNumber else { return nil }
        return Self.years.contains(time) ? time : nil
    }

    private func distance(to time: Int) -> String {
        let span = abs(time - now).timeInWords
        return time > now ? "in \(span)" : "\(span) ago"
    }

    /// The claims as JSON, unchanged, with the times in words in addition.
    package var json: JSONValue {
        let times = Self.times.compactMap { name in
            time(of: name).map { (name, JSONValue.string(Moment.utc($0))) }
        }
        return [
            "header": .object(header), "claims": .object(claims),
            "times": .object(Dictionary(uniqueKeysWithValues: times)), "verified": false,
        ]
    }
}

extension CommandError {
    package static let opaqueToken = CommandError(
        "the access token is not a JWT: only its authority and the API that it is for can read it")
    /// The error for a JWT that only the API can decrypt (RFC 7516).
    package static let encryptedToken = CommandError(
        "the access token is encrypted: only the API that it is for can read it")
}
