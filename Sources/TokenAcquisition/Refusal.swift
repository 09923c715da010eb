import CredentialProtocol
import JSON
import Rules
import TokenStore

/// A token that was refused at one place: a host, or a host's path if the consumer tells paths.
struct Refusal: Equatable, Sendable {
    /// Seconds after a renewal in which a refusal means that renewing doesn't help, and no other renewal is tried for it.
    static let window = 60
    /// Seconds for which a refusal counts at all: no access token lives much longer.
    static let lifetime = 86_400
    /// The longest claims that are kept, in bytes.
    static let longestClaims = 8192

    /// The digest of the token; empty if it isn't known.
    var token: String
    /// When it was refused, in seconds since 1970.
    var on: Int
    /// When the token was renewed, if renewing it again doesn't help for now.
    var renewed: Int?
    /// The claims that the server missed in it.
    var claims: String?

    /// Seconds until renewing may help again; nil if it may now.
    func remaining(at now: Int) -> Int? {
        guard let renewed, (0..<Self.window).contains(now - renewed) else { return nil }
        return renewed + Self.window - now
    }

    /// Whether it says of a token that it is no use at the place.
    func excludes(_ token: AccessTokenRecord) -> Bool {
        if token.secret.reveal().shortDigest == self.token { return true }
        guard claims != nil, let renewed = token.other[Rejection.renewedMember] else { return false }
        return renewed.text != Rejection.renewedWithClaims
    }
}

extension Refusal {
    init?(_ json: JSONValue) {
        guard let token = json["token"]?.text, let on = json["on"]?.time else { return nil }
        self.init(token: token, on: on, renewed: json["renewed"]?.time, claims: json["claims"]?.text)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["token": .string(token), "on": .string(String(on))]
        members["renewed"] = renewed.map { .string(String($0)) }
        members["claims"] = claims.map { .string($0) }
        return .object(members)
    }
}

/// What was refused of what a refresh token was redeemed for, as the refresh token's record keeps it: by client, since a
/// family's token goes on to serve the others, and by place.
struct Refusals {
    private static let member = "lanyard_refusals"
    /// What lanyard 0.1 kept: when tokens were refused, by client, and the claims missed, by resource.
    private static let oldMember = "lanyard_rejected_on"
    private static let oldClaimsMember = "lanyard_missed_claims"
    /// The most places that are kept.
    static let most = 32

    /// What counts for a request now: what was refused at its path, else at its host.
    static func standing(in token: RefreshTokenRecord, for request: TokenRequest, now: Int) -> Refusal? {
        let places = places(token, request)
        let found = request.places.lazy.compactMap { places[$0] }.first { isAlive($0, now) }
        return found ?? old(token, request, now)
    }

    /// Takes note of a refusal at the request's place, in place of an older one there.
    static func note(_ refusal: Refusal, in token: inout RefreshTokenRecord, for request: TokenRequest) {
        var places = places(token, request).filter { isAlive($0.value, refusal.on) }
        places[request.places[0]] = refusal
        let newest = places.sorted { ($0.value.on, $0.key) > ($1.value.on, $1.key) }.prefix(most)
        put(Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) }), into: &token, request)
    }

    /// Forgets what a token that was got for the request settles: all at its place, and the same claims at others.
    static func settle(in token: inout RefreshTokenRecord, for request: TokenRequest) {
        var places = places(token, request)
        for place in request.places { places[place] = nil }
        if let claims = request.claims { places = places.filter { $0.value.claims != claims } }
        put(places, into: &token, request)
    }

    private static func isAlive(_ refusal: Refusal, _ now: Int) -> Bool {
        (0..<Refusal.lifetime).contains(now - refusal.on)
    }

    private static func places(_ token: RefreshTokenRecord, _ request: TokenRequest) -> [String: Refusal] {
        let stored = token.other[member]?.members?[request.clientID.lowercased()]?.members ?? [:]
        return stored.compactMapValues(Refusal.init)
    }

    private static func old(_ token: RefreshTokenRecord, _ request: TokenRequest, _ now: Int) -> Refusal? {
        if let claims = token.other[oldClaimsMember]?.members?[request.resource]?.text {
            return Refusal(token: "", on: now, claims: claims)
        }
        guard let time = token.other[oldMember]?.members?[request.clientID.lowercased()]?.time else {
            return nil
        }
        return Refusal(token: "", on: time, renewed: time)
    }

    private static func put(
        _ places: [String: Refusal], into token: inout RefreshTokenRecord, _ request: TokenRequest
    ) {
        let client = request.clientID.lowercased()
        set(places.isEmpty ? nil : .object(places.mapValues(\.json)), client, in: &token, member)
        set(nil, client, in: &token, oldMember)
        set(nil, request.resource, in: &token, oldClaimsMember)
    }

    private static func set(
        _ value: JSONValue?, _ key: String, in token: inout RefreshTokenRecord, _ member: String
    ) {
        var members = token.other[member]?.members ?? [:]
        members[key] = value
        token.other[member] = members.isEmpty ? nil : .object(members)
    }
}

extension JSONValue {
    /// A time since 1970; one that is earlier might be too far from now for a number.
    fileprivate var time: Int? { wholeNumber.flatMap { $0 < 0 ? nil : $0 } }
}

extension TokenRequest {
    /// The resource that the token is for.
    fileprivate var resource: String { scopes.first?.resourceOfScope ?? "" }

    /// Digests of where the token is presented, the path first if there is one, then its host; a path may be private.
    fileprivate var places: [String] {
        let whole = ["\(resource)\n\(host ?? "")".shortDigest]
        guard let path, !path.isEmpty else { return whole }
        return ["\(resource)\n\(host ?? "")\n\(path)".shortDigest] + whole
    }
}
