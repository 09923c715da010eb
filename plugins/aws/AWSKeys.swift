import Addresses
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

    /// Creates keys that don't end.
    init(id: String, secret: Secret, session: Secret? = nil) {
        (self.id, self.secret, self.session, lifetime) = (id, secret, session, HTTPAnswer.longestLifetime)
    }

    /// When a credential that lives so long is renewed.
    static func renewal(ofLifetime lifetime: Int) -> Int { max(lifetime - earliness, lifetime / 2) }
}

extension PluginCredential {
    /// Creates a credential that is renewed in time for AWS's SDKs, which take no keys that are about to end.
    init(username: Secret? = nil, secret: Secret? = nil, fields: [PluginField] = [], lifetime: Int) {
        self.init(username: username, secret: secret, fields: fields, expiresIn: lifetime)
        refreshIn = AWSKeys.renewal(ofLifetime: lifetime)
    }
}
