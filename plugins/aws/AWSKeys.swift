import Addresses
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginWire
import Secrets

/// Keys of AWS, which sign requests and end with their role's session.
struct AWSKeys: Sendable {
    /// Seconds before their end from which they are renewed: the SDKs' own margin and a few minutes more.
    private static let earliness = 1200

    let id: String
    let secret: Secret
    /// The session's token; nil for keys that don't end.
    let session: Secret?
    /// Seconds from the answer that brought them until they end.
    let lifetime: Int

    /// The keys as a credential of several parts.
    var credential: PluginCredential {
        let fields = [("AccessKeyId", Secret(id)), ("SecretAccessKey", secret), ("SessionToken", session)]
        return PluginCredential(
            fields: fields.compactMap { name, value in value.map { PluginField(name, $0) } }, lifetime: lifetime)
    }

    /// Reads keys of an answer; nil if one is missing, or is nothing that a tool could use.
    init?(_ texts: [String?], until end: Double?, in answer: HTTPAnswer) {
        let texts = texts.compactMap(\.self).filter(WireForm.secret.accepts)
        guard texts.count == 3, let end else { return nil }
        (id, secret, session) = (texts[0], Secret(texts[1]), Secret(texts[2]))
        lifetime = answer.lifetime(until: end)
    }

    /// Creates keys that end so many seconds from now; by default they don't.
    init(id: String, secret: Secret, session: Secret? = nil, lifetime: Int = HTTPAnswer.longestLifetime) {
        (self.id, self.secret, self.session, self.lifetime) = (id, secret, session, lifetime)
    }

    /// Creates keys of this machine's variables or files.
    ///
    /// - Throws: `invalid-request` if they are nothing that could sign, or have ended.
    init(
        _ id: String, _ secret: String, _ session: String?, until end: Double?, from place: String
    ) throws(PluginError) {
        let lifetime = end.map {
            Int(min(max(0, $0 - Date.now.timeIntervalSince1970), Double(HTTPAnswer.longestLifetime)))
        }
        guard [id, secret, session ?? secret].allSatisfy(WireForm.secret.accepts), id.utf8.count <= 128, lifetime != 0
        else {
            throw PluginError(
                .invalidRequest, "the keys of \(place) \(lifetime == 0 ? "have ended" : "are none of AWS's")",
                hint: "check where \(place) has them from")
        }
        self.init(
            id: id, secret: Secret(secret), session: session.map { Secret($0) },
            lifetime: lifetime ?? HTTPAnswer.longestLifetime)
    }

    /// When a credential that lives so long is renewed.
    static func renewal(ofLifetime lifetime: Int) -> Int { max(lifetime - earliness, lifetime / 2) }
}

/// Keys as the token of a machine's identity, which exchanges begin with.
extension AWSKeys {
    private static let prefix = "aws-keys."
    /// How long keys that don't end are used until they are looked for again.
    private static let longestUse = 900

    private var isEndless: Bool { lifetime >= HTTPAnswer.longestLifetime }

    /// The token of an identity.
    func token(for request: PluginRequest) throws(PluginError) -> PluginResult {
        let end = isEndless ? nil : Int(Date.now.timeIntervalSince1970) + lifetime
        let kept: JSONValue = [
            "id": .string(id), "secret": .string(secret.reveal()), "session": JSONValue(session?.reveal()),
            "end": JSONValue(end),
        ]
        let lifetime = isEndless ? Self.longestUse : lifetime
        var result = PluginResult(
            accessToken: Secret(Self.prefix + Base64URL.encode(kept.encoded())), expiresIn: lifetime,
            scopes: request.scopes,
            environment: "localhost", realm: "managed_identity", account: nil)
        result.refreshIn = Self.renewal(ofLifetime: lifetime)
        return result
    }

    /// Creates the keys of an identity's token; nil for the token of another issuer.
    ///
    /// - Throws: `interaction-required` if they have ended.
    init?(ofMachine token: Secret) throws(PluginError) {
        let text = token.reveal()
        guard text.hasPrefix(Self.prefix), let bytes = Base64URL.decode(String(text.dropFirst(Self.prefix.utf8.count))),
            let kept = JSONValue(bytes: bytes), let id = kept["id"]?.string, let secret = kept["secret"]?.string
        else { return nil }
        let lifetime =
            kept["end"]?.wholeNumber.map { $0 - Int(Date.now.timeIntervalSince1970) } ?? HTTPAnswer.longestLifetime
        guard lifetime > 0 else { throw PluginError(.interactionRequired, "the machine's keys have ended") }
        self.init(
            id: id, secret: Secret(secret), session: kept["session"]?.string.map { Secret($0) }, lifetime: lifetime)
    }
}

extension PluginCredential {
    /// Creates a credential that is renewed in time for AWS's SDKs, which take no keys that are about to end.
    init(username: Secret? = nil, secret: Secret? = nil, fields: [PluginField] = [], lifetime: Int) {
        self.init(username: username, secret: secret, fields: fields, expiresIn: lifetime)
        refreshIn = AWSKeys.renewal(ofLifetime: lifetime)
    }
}
