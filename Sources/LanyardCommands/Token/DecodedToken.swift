import Addresses
import JSON
import Secrets
import Terminal
import Tools

/// The content of an access token that is a JSON Web Token (RFC 7519); its signature isn't verified.
struct DecodedToken {
    /// The reason why a token can't be decoded.
    enum Obstacle: Error {
        /// Only the authority and the API can read it.
        case opaque
        /// It is a JWT that only the API can decrypt (RFC 7516).
        case encrypted
    }

    private let header: [String: JSONValue]
    private let claims: [String: JSONValue]
    private let now: Int

    /// Decodes a token without its signature.
    init(_ token: Secret, now: Int) throws(Obstacle) {
        self.now = now
        guard let token = WebToken(token.reveal()), let header = JSONValue(bytes: token.header)?.members,
            header["alg"] != nil
        else { throw .opaque }
        guard let payload = token.payload else { throw .encrypted }
        guard let claims = JSONValue(bytes: payload)?.members else { throw .opaque }
        self.header = header
        self.claims = claims
    }

    /// The claims of RFC 7519 and RFC 9068, which are shown first.
    private static let wellKnown = ["aud", "iss", "sub", "client_id", "scope", "exp", "nbf", "iat", "auth_time", "jti"]
    /// The years 1 to 9999.
    private static let years = -62_135_596_800..<253_402_300_800
    private static let times = ["exp", "nbf", "iat", "auth_time"]

    /// The value of a claim; nil if the token doesn't have it.
    subscript(claim: String) -> JSONValue? { claims[claim] }

    /// Returns the claims for people, one per line, laid out for a number of columns.
    func lines(columns: Int?) -> [String] {
        let first = Self.wellKnown.filter { claims[$0] != nil }
        let names = first + claims.keys.filter { !first.contains($0) }.sorted()
        let rows = names.map { [$0.displayable(limit: 60), text(of: $0)] }
        return Table(rows, atLeast: [9]).wrapped(columns: columns, indent: 0)
    }

    private func text(of name: String) -> String {
        let value = claims[name] ?? .null
        if let time = time(of: name) {
            return "\(Self.local(time)), \(distance(to: time))"
        }
        let texts = value.elements.compactMap(\.string)
        if !texts.isEmpty, texts.count == value.elements.count {
            return texts.map { $0.displayable() }.joined(separator: " ")
        }
        return (value.string ?? value.encodedText).displayable(limit: 2000)
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
    var json: JSONValue {
        let times = Self.times.compactMap { name in
            time(of: name).map { (name, JSONValue.string(Moment.utc($0))) }
        }
        return [
            "header": .object(header), "claims": .object(claims),
            "times": .object(Dictionary(uniqueKeysWithValues: times)), "verified": false,
        ]
    }

    /// Returns a time in this computer's time zone, for people.
    static func local(_ time: Int) -> String { Moment.local(time, "%Y-%m-%d %H:%M:%S %z") }
}

extension Failure {
    /// Creates the error for a token that can't be decoded.
    init(_ obstacle: DecodedToken.Obstacle) {
        switch obstacle {
        case .opaque:
            self.init("the access token is not a JWT: only its authority and the API that it is for can read it")
        case .encrypted: self.init("the access token is encrypted: only the API that it is for can read it")
        }
    }
}
