import Addresses
public import Rules
public import Secrets

/// What a far side asks an agent for, and as whom: one block of lines in git's format, as docs/forwarding.md has it.
public struct ForwardedRequest: Sendable, Equatable {
    /// What the credential is for.
    public var wanted: CredentialRequest
    /// The name that the far side gives itself, fit to show; nobody has checked it.
    public var requester: String
    /// Which forward it came through; only the agent says so, to the process that answers for it.
    public var forward: String?

    /// The version of the format.
    static let version = "1"
    /// The only thing that can be asked.
    static let verb = "get"
    /// The longest request that is read, in bytes; what servers said may be in it.
    public static let longest = 64 * 1024
    /// The most lines that a request has.
    static let mostLines = 128
    /// What of a requester's name is shown.
    static let longestName = 64

    /// Asks for something.
    public init(_ wanted: CredentialRequest, requester: String, forward: String? = nil) {
        self.wanted = wanted
        self.requester = requester
        self.forward = forward
    }

    /// The request as a block.
    ///
    /// - Throws: `ProtocolError` if a value can't be written in it.
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
        if let tenant = wanted.wish.tenant { try lines.append("tenant", tenant) }
        try lines.append("scope[]", list: wanted.wish.scopes)
        try lines.append("wwwauth[]", list: wanted.wwwAuthenticate)
        if let refused = wanted.refusedToken { try lines.append("refused", refused) }
        if wanted.takesAuthorizations { try lines.append("capability[]", "authtype") }
        if wanted.takesFields { try lines.append("capability[]", "fields") }
        if let reach = wanted.reach.word { try lines.append("reach", reach) }
        if wanted.isUnattended { try lines.append("unattended", "1") }
        return lines
    }

    /// Reads a block.
    ///
    /// What isn't known is refused, not skipped: it may narrow what is asked for.
    ///
    /// - Throws: `Fault` if it is no request, or none of this version.
    public init(_ block: Attributes) throws(Fault) {
        guard block["version"] == Self.version else { throw .version }
        guard block["verb"] == Self.verb else { throw .verb }
        guard block.lines.count <= Self.mostLines else { throw .invalid("request") }
        for line in block.lines where !Self.keys.contains(line.key) { throw .invalid(line.key) }
        for line in block.lines where line.key != "wwwauth[]" && line.value.hasControlCharacter {
            throw .invalid(line.key)
        }
        wanted = CredentialRequest()
        requester = (block["requester"] ?? "").displayable(limit: Self.longestName)
        forward = block["forward"]
        try readPlace(block)
        let capabilities = block.list("capability[]")
        wanted.takesAuthorizations = capabilities.contains("authtype")
        wanted.takesFields = capabilities.contains("fields")
        wanted.wwwAuthenticate = block.list("wwwauth[]")
        wanted.refusedToken = block["refused"]
        wanted.isUnattended = block["unattended"] == "1"
    }

    /// What makes a block no request.
    public enum Fault: Error, Sendable, Equatable {
        /// It is of another version of the format.
        case version
        /// It asks for something to be done that an agent doesn't.
        case verb
        /// This key is unknown, or its value can't be what the key says.
        case invalid(String)
    }

    private static let keys: Set<String> = [
        "version", "verb", "forward", "requester", "protocol", "host", "path", "username", "tenant", "scope[]",
        "wwwauth[]", "refused", "capability[]", "reach", "unattended",
    ]

    private mutating func readPlace(_ block: Attributes) throws(Fault) {
        if let scheme = block["protocol"] {
            guard StrictURL.isScheme(scheme) else { throw .invalid("protocol") }
            wanted.scheme = scheme.lowercased()
        }
        if let text = block["host"] {
            guard let host = RequestHost(text) else { throw .invalid("host") }
            wanted.host = host
        }
        wanted.path = block["path"]
        wanted.username = block["username"]
        wanted.wish.tenant = block["tenant"]
        if let tenant = wanted.wish.tenant, !CredentialRequest.TokenWish.isTenant(tenant) { throw .invalid("tenant") }
        wanted.wish.scopes = block.list("scope[]")
        guard wanted.wish.scopes.allSatisfy(\.isScopeToken) else { throw .invalid("scope[]") }
        if let word = block["reach"] {
            guard let reach = PathReach(word: word) else { throw .invalid("reach") }
            wanted.reach = reach
        }
    }
}

extension PathReach {
    /// The word for it; nil for the one that is meant without.
    fileprivate var word: String? {
        switch self {
        case .place: nil
        case .above: "above"
        case .below: "below"
        }
    }

    fileprivate init?(word: String) {
        switch word {
        case "above": self = .above
        case "below": self = .below
        default: return nil
        }
    }
}
