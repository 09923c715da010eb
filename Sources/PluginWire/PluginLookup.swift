package import Secrets

/// What a credential is looked up for, and by which row of the plugin's manifest.
public struct PluginLookup: Sendable, Equatable {
    /// The name of the manifest's row.
    public var source: String
    /// What the rule says besides, such as the name of an entry; empty if it says nothing.
    public var reference: String
    /// The host, with `:port` if that isn't the scheme's own.
    public var host: String
    /// The path on the host, without its leading slash; nil if the tool doesn't send it.
    public var path: String?
    /// The user name that the tool wants a secret for; nil for any.
    public var username: String?
    /// The rest of the row.
    public var row: PluginSourceRow

    /// Creates a lookup.
    public init(
        source: String, reference: String, host: String, path: String? = nil, username: String? = nil,
        row: PluginSourceRow = .init()
    ) {
        (self.source, self.reference, self.row) = (source, reference, row)
        (self.host, self.path, self.username) = (host, path, username)
    }

    /// What is looked up, for users.
    package var entry: String { (reference.isEmpty ? host : reference).displayable(limit: 200) }

    /// Whether a user name that was found is neither the one that is asked for nor the one that the row fixes.
    package func isFor(anotherThan found: Secret?) -> Bool {
        guard let username, let found = found?.reveal() else { return false }
        return found != username && !row.username.contains("=" + found)
    }

    func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("source", source)
        try writer.put("reference", reference)
        try writer.put("host", host)
        try writer.put("path", path)
        try writer.put("username", username)
        try writer.put("program[]", list: row.program)
        try writer.put("secret_from[]", list: row.secret)
        try writer.put("username_from[]", list: row.username)
        try writer.put("asks", row.asks)
        try writer.put("unlock", row.unlock)
    }

    init(_ reader: WireReader) throws(ProtocolError) {
        self.init(
            source: try reader.required("source", .token(64)),
            reference: try reader.optional("reference", .text(4096)) ?? "",
            host: try reader.required("host", .token(261)),
            path: try reader.optional("path", .text(4096)), username: try reader.optional("username", .text(1024)))
        row.program = try reader.list("program[]", .text(4096))
        row.secret = try reader.list("secret_from[]", .text(256))
        row.username = try reader.list("username_from[]", .text(256))
        row.asks = try reader.optional("asks", .text(256))
        row.unlock = try reader.optional("unlock", .text(1024))
    }
}

/// A program that knows credentials, as a row of a manifest describes it; empty for a plugin that needs no such row.
public struct PluginSourceRow: Sendable, Equatable {
    /// The program and its arguments, in which names in braces stand for parts of the request.
    public var program: [String] = []
    /// Where the secret may be in its output; empty for the first line.
    public var secret: [String] = []
    /// Where the user name may be in its output.
    public var username: [String] = []
    /// What the user is asked for the program's standard input; nil if it isn't asked for anything.
    public var asks: String?
    /// The command that unlocks it.
    public var unlock: String?

    /// Creates an empty row.
    public init() {}
}
