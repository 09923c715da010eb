import Addresses
public import Model
public import Secrets

/// An agent's reply to a request: one block of lines in git's format (docs/forwarding.md).
public enum ForwardedReply: Sendable, Equatable {
    /// The requested credential.
    case credential(Credential)
    /// There is none, and the client may use another source.
    case nothing
    /// There is no credential, for this reason.
    case refused(ForwardedRefusal)

    /// The longest reply that is read, in bytes.
    public static let longest = 256 * 1024

    /// The reply as a block; a reply that can't be encoded becomes a refusal.
    public var block: Attributes {
        do throws(ProtocolError) {
            return try written()
        } catch {
            let refusal = ForwardedRefusal(.other, "what is stored for this cannot be forwarded")
            return (try? Self.refused(refusal).written()) ?? Attributes()
        }
    }

    /// The block as bytes, with the blank line that ends it.
    public var bytes: [UInt8] { block.encoded + [0x0A] }

    /// Parses a block.
    ///
    /// Unknown keys are ignored, because a later agent may send more.
    ///
    /// - Throws: `ProtocolError` if it isn't a reply, or has another version.
    public init(_ block: Attributes) throws(ProtocolError) {
        guard block["version"] == ForwardedRequest.version else { throw .invalid("version") }
        for line in block.lines where line.value.hasControlCharacter { throw .invalid(line.key) }
        switch block["reply"] {
        case "credential": self = .credential(try Credential(block))
        case "nothing": self = .nothing
        case "refused": self = .refused(ForwardedRefusal(block))
        default: throw .invalid("reply")
        }
    }

    private func written() throws(ProtocolError) -> Attributes {
        var lines = Attributes()
        try lines.append("version", ForwardedRequest.version)
        switch self {
        case .credential(let credential):
            try lines.append("reply", "credential")
            try credential.write(to: &lines)
        case .nothing: try lines.append("reply", "nothing")
        case .refused(let refusal):
            try lines.append("reply", "refused")
            try refusal.write(to: &lines)
        }
        return lines
    }
}

extension Credential {
    /// Writes what a far side gets: what a server takes, and never what gets more of it, nor when it is renewed.
    func write(to lines: inout Attributes) throws(ProtocolError) {
        switch kind {
        case .accessToken:
            try lines.append("authtype", "Bearer")
            try lines.append("credential", secret.reveal())
            try lines.append("ephemeral", "1")
        case .password: try lines.append("password", secret.reveal())
        case .authorization(let scheme):
            try lines.append("authtype", scheme)
            try lines.append("credential", secret.reveal())
        }
        if let username { try lines.append("username", username) }
        if let expiresOn { try lines.append("password_expiry_utc", String(expiresOn)) }
        if let basicUsername { try lines.append("basic_username", basicUsername) }
        if !takesBearer { try lines.append("bearer", "0") }
        if let realm { try lines.append("tenant", realm) }
        try lines.append(fields: fields)
    }

    init(_ block: Attributes) throws(ProtocolError) {
        let kind: Kind
        let secret: Secret
        if let password = block["password"] {
            (kind, secret) = (.password, Secret(password))
        } else {
            guard let credential = block["credential"], let scheme = block["authtype"] else {
                throw .missing("password")
            }
            kind = block["ephemeral"] == "1" ? .accessToken : .authorization(scheme: scheme)
            secret = Secret(credential)
        }
        guard let fields = block.fields else { throw .invalid("field[]") }
        self.init(
            kind, secret, username: block["username"], expiresOn: block["password_expiry_utc"].flatMap { Int($0) })
        basicUsername = block["basic_username"]
        takesBearer = block["bearer"] != "0"
        realm = block["tenant"]
        self.fields = fields
    }
}

/// The reason why an agent refuses a request, in words for the user.
public struct ForwardedRefusal: Sendable, Equatable {
    /// The causes that remote clients can react to.
    public enum Code: String, Sendable {
        /// The remote client may not ask for this.
        case notAllowed = "not-allowed"
        /// The keyring can't be used now.
        case keyring
        /// The user declined, or didn't answer.
        case user
        /// The authority can't be reached, or is overloaded.
        case authority
        /// Only the user can continue, and nobody can be asked.
        case nobody
        /// The agent is overloaded.
        case busy
        /// The request is invalid, or has another version.
        case invalid
        /// Any other cause.
        case other
    }

    /// The cause.
    public var code: Code
    /// The error message.
    public var message: String
    /// What can be done about it on the agent's side.
    public var remedies: [String]

    /// Creates a refusal; nothing in it may be secret.
    public init(_ code: Code, _ message: String, remedies: [String] = []) {
        self.code = code
        self.message = message
        self.remedies = remedies
    }

    /// The highest number of remedies that are read, and the longest text.
    private static let (mostRemedies, longestText) = (8, 1000)

    func write(to lines: inout Attributes) throws(ProtocolError) {
        try lines.append("error", code.rawValue)
        try lines.append("message", message.displayable(limit: Self.longestText))
        for remedy in remedies.prefix(Self.mostRemedies) {
            try lines.append("hint[]", remedy.displayable(limit: Self.longestText))
        }
    }

    init(_ block: Attributes) {
        code = block["error"].flatMap(Code.init) ?? .other
        message = (block["message"] ?? "there is no credential").displayable(limit: Self.longestText)
        remedies = block.list("hint[]").prefix(Self.mostRemedies).map { $0.displayable(limit: Self.longestText) }
    }
}
