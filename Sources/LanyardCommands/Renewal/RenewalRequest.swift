import Addresses
import Rules
import Secrets

/// The request to renew, and the `Credential.mark` of the credential that answered it.
///
/// One process passes it to the next through a pipe, as lines of `key=value` without a secret.
struct RenewalRequest: Sendable, Equatable {
    var request: CredentialRequest
    var mark: String

    /// The maximum size in bytes: what a pipe holds without a reader.
    static let longest = 65_536

    /// The request as lines; nil if a value can't be on one.
    var encoded: [UInt8]? {
        var lines = Attributes()
        do throws(ProtocolError) {
            try lines.append("mark", mark)
            if let host = request.host { try lines.append("host", host.text) }
            for (key, member) in Self.texts {
                if let text = request[keyPath: member] { try lines.append(key, text) }
            }
            for (key, member) in Self.lists { try lines.append(key, list: request[keyPath: member]) }
        } catch {
            return nil
        }
        return lines.encoded
    }

    /// The texts that decide which token a request gets (`CachedCredential`).
    private static var texts: [(String, WritableKeyPath<CredentialRequest, String?>)] {
        [
            ("scheme", \.scheme), ("path", \.path), ("username", \.username), ("authority", \.wish.authority),
            ("tenant", \.wish.tenant), ("client_id", \.wish.clientID), ("account", \.wish.account),
            ("identity", \.wish.identity),
        ]
    }
    private static var lists: [(String, WritableKeyPath<CredentialRequest, [String]>)] {
        [("scope[]", \.wish.scopes), ("wwwauth[]", \.wwwAuthenticate)]
    }
}

extension RenewalRequest {
    /// Parses the lines; nil if they are something else.
    init?(_ bytes: [UInt8]) {
        var parser = AttributeParser(longestInput: Self.longest)
        guard (try? parser.consume(bytes).isEmpty) == true, let lines = try? parser.finish(),
            let mark = lines["mark"]
        else { return nil }
        self.mark = mark
        request = CredentialRequest()
        for (key, member) in Self.texts { request[keyPath: member] = lines[key] }
        for (key, member) in Self.lists { request[keyPath: member] = lines.list(key) }
        guard let host = lines["host"] else { return }
        request.host = RequestHost(host)
        if request.host == nil { return nil }
    }
}
