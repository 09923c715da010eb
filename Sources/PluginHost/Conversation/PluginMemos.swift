public import PluginWire

/// The host's storage for plugins' memos.
public struct PluginMemos: Sendable {
    /// Returns the memo about a subject if it hasn't expired.
    let read: @Sendable (_ subject: String) -> String?
    /// Stores a memo about a subject; nil removes it.
    private let keep: @Sendable (_ memo: PluginMemo?, _ subject: String) -> Void

    /// Creates a storage from its functions.
    public init(
        read: @escaping @Sendable (_ subject: String) -> String?,
        keep: @escaping @Sendable (_ memo: PluginMemo?, _ subject: String) -> Void
    ) {
        self.read = read
        self.keep = keep
    }

    /// Returns the subject of a memo: the plugin and the authority; nil if there is no authority, or if the operation
    /// has no memos.
    static func subject(of request: PluginRequest, _ plugin: PluginManifest) -> String? {
        switch request.operation {
        case .authorize, .renew, .authenticate, .exchange: break
        default: return nil
        }
        guard !request.authority.isEmpty else { return nil }
        let program = [plugin.name, plugin.version, plugin.executable]
        return (program + [request.authority, request.kind ?? ""]).joined(separator: "\n")
    }

    /// Stores the memo of a result, if there is one.
    func store(_ memo: PluginMemo?, about subject: String) {
        if let memo { keep(memo, subject) }
    }

    /// Forgets the memo that a failed operation used, unless the memo can't be the cause.
    func discard(after error: PluginError, about subject: String) {
        switch error.code {
        case .interactionRequired, .declinedScopes, .cancelled, .throttled: return
        case .unavailable, .invalidRequest, .unsupported, .internal: keep(nil, subject)
        }
    }
}
