import Addresses
public import Model
public import Secrets

/// A remote client's request to an agent: one block of lines in git's format (docs/forwarding.md).
public struct ForwardedRequest: Sendable, Equatable {
    /// The requested credential.
    public var wanted: CredentialRequest
    /// The name that the client gives itself: letters, digits, `.`, `-` and `_`, so that it can't pass for other words.
    ///
    /// It isn't verified.
    public var requester: String
    /// The forward that it came through; only the agent sets it, for the process that answers.
    public var forward: String?

    /// The version of the format.
    static let version = "1"
    /// The only operation.
    static let verb = "get"
    /// The longest request that is read, in bytes; it may include servers' challenges.
    public static let longest = 64 * 1024
    /// The highest number of lines in a request.
    static let mostLines = 128
    /// How many characters of a client's name are shown.
    static let longestName = 64

    /// Creates a request.
    public init(_ wanted: CredentialRequest, requester: String, forward: String? = nil) {
        self.wanted = wanted
        self.requester = requester
        self.forward = forward
    }

    /// Encodes the request as a block.
    ///
    /// - Throws: `ProtocolError` if a value can't be encoded.
    public func block() throws(ProtocolError) -> Attributes {
        var lines = Attributes()
        try lines.append("version", Self.version)
        try lines.append("verb", Self.verb)
        if let forward { try lines.append("forward", forward) }
        try lines.append("requester", requester)
        if let scheme = wanted.scheme { try lines.append("protocol", scheme) }
        if let host = wanted.host { try lines.append("host", host.text) }
        if let path = wanted.path { try lines.append("path", path) }
        if let username = wanted.username { try lines.append("username", username) }
        if let tenant = wanted.explicit.tenant { try lines.append("tenant", tenant) }
        try lines.append("scope[]", list: wanted.explicit.scopes)
        try lines.append("wwwauth[]", list: wanted.wwwAuthenticate)
        if let refused = wanted.refusedToken { try lines.append("refused", refused) }
        if wanted.takesAuthorizations { try lines.append("capability[]", "authtype") }
        if wanted.takesFields { try lines.append("capability[]", "fields") }
        if wanted.reach != .place { try lines.append("reach", wanted.reach.rawValue) }
        if wanted.isUnattended { try lines.append("unattended", "1") }
        return lines
    }

    /// Parses a block.
    ///
    /// Unknown keys are errors rather than ignored, because they may restrict the request.
    ///
    /// - Throws: `ProtocolError` if it isn't a request, or has another version.
    public init(_ block: Attributes) throws(ProtocolError) {
        guard block["version"] == Self.version else { throw .invalid("version") }
        guard block["verb"] == Self.verb else { throw .invalid("verb") }
        guard block.lines.count <= Self.mostLines else { throw .invalid("request") }
        for line in block.lines where !Self.keys.contains(line.key) { throw .invalid(line.key) }
        for line in block.lines where line.key != "wwwauth[]" && line.value.hasControlCharacter {
            throw .invalid(line.key)
        }
        wanted = CredentialRequest()
        let name = (block["requester"] ?? "").utf8.filter { $0.isAlphanumeric || ".-_".utf8.contains($0) }
        requester = String(decoding: name.prefix(Self.longestName), as: UTF8.self)
        forward = block["forward"]
        try readPlace(block)
        let capabilities = block.list("capability[]")
        wanted.takesAuthorizations = capabilities.contains("authtype")
        wanted.takesFields = capabilities.contains("fields")
        wanted.wwwAuthenticate = block.list("wwwauth[]")
        wanted.refusedToken = block["refused"]
        wanted.isUnattended = block["unattended"] == "1"
    }

    private static let keys: Set<String> = [
        "version", "verb", "forward", "requester", "protocol", "host", "path", "username", "tenant", "scope[]",
        "wwwauth[]", "refused", "capability[]", "reach", "unattended",
    ]

    private mutating func readPlace(_ block: Attributes) throws(ProtocolError) {
        if let scheme = block["protocol"] {
            guard StrictURL.isScheme(scheme[...]) else { throw .invalid("protocol") }
            wanted.scheme = scheme.lowercased()
        }
        if let text = block["host"] {
            guard let host = RequestHost(text) else { throw .invalid("host") }
            wanted.host = host
        }
        wanted.path = block["path"]
        wanted.username = block["username"]
        wanted.explicit.tenant = block["tenant"]
        if let tenant = wanted.explicit.tenant, !CredentialRequest.ExplicitToken.isTenant(tenant) {
            throw .invalid("tenant")
        }
        wanted.explicit.scopes = block.list("scope[]")
        guard wanted.explicit.scopes.allSatisfy(\.isScopeToken) else { throw .invalid("scope[]") }
        if let word = block["reach"] {
            guard let reach = PathReach(rawValue: word), reach != .place else { throw .invalid("reach") }
            wanted.reach = reach
        }
    }
}
