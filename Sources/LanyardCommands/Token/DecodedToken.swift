import Addresses
import ConsumerProtocols
import JSON
import Secrets
import Terminal

/// What an access token says of itself, if it is a JSON Web Token (RFC 7519); nobody has checked its signature.
struct DecodedToken {
    /// Why a token can't be read.
    enum Obstacle: Error {
        /// It is something that only the authority and the API understand.
        case opaque
        /// It is a JWT that only the API can decrypt (RFC 7516).
        case encrypted
    }

    private let header: [String: JSONValue]
    private let claims: [String: JSONValue]
    private let now: Int
    private static let longest = 1 << 20

    /// Reads a token; never its signature.
    init(_ token: Secret, now: Int) throws(Obstacle) {
        self.now = now
        let parts = token.reveal().pieces(between: ".", omittingEmpty: false)
        guard [3, 5].contains(parts.count), let header = Self.object(parts[0]), header["alg"] != nil else {
            throw .opaque
        }
        guard parts.count == 3 else { throw .encrypted }
        guard let claims = Self.object(parts[1]) else { throw .opaque }
        self.header = header
        self.claims = claims
    }

    private static func object(_ part: Substring) -> [String: JSONValue]? {
        guard part.utf8.count <= longest, let bytes = Base64URL.decode(part) else { return nil }
        return JSONValue(bytes: bytes)?.members
    }

    /// RFC 7519 and RFC 9068 have these; they come first.
    private static let wellKnown = ["aud", "iss", "sub", "client_id", "scope", "exp", "nbf", "iat", "auth_time", "jti"]
    /// From 1 to 9999.
    private static let years = -62_135_596_800..<253_402_300_800
    private static let times = ["exp", "nbf", "iat", "auth_time"]

    /// A claim; nil if the token has none of the name.
    subscript(claim: String) -> JSONValue? { claims[claim] }

    /// The claims for people, a line each, laid out for so many columns.
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

    /// What a claim of a time says, in seconds since 1970; nil of any other claim.
    private func time(of name: String) -> Int? {
        guard Self.times.contains(name), let time = claims[name]?.wholeNumber else { return nil }
        return Self.years.contains(time) ? time : nil
    }

    private func distance(to time: Int) -> String {
        let span = abs(time - now).timeInWords
        return time > now ? "in \(span)" : "\(span) ago"
    }

    /// The claims for programs: as they are in the token, with the times in words besides.
    var json: JSONValue {
        let times = Self.times.compactMap { name in
            time(of: name).map { (name, JSONValue.string(Moment.utc($0))) }
        }
        return [
            "header": .object(header), "claims": .object(claims),
            "times": .object(Dictionary(uniqueKeysWithValues: times)), "verified": false,
        ]
    }

    /// A time by this computer's clock, for people.
    static func local(_ time: Int) -> String { Moment.local(time, "%Y-%m-%d %H:%M:%S %z") }
}

extension Failure {
    /// A token that can't be decoded.
    init(_ obstacle: DecodedToken.Obstacle) {
        switch obstacle {
        case .opaque:
            self.init("the access token is not a JWT: only its authority and the API that it is for can read it")
        case .encrypted: self.init("the access token is encrypted: only the API that it is for can read it")
        }
    }
}
