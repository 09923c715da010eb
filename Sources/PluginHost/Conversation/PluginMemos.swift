public import PluginWire

/// What keeps plugins' memos for the host.
public struct PluginMemos: Sendable {
    /// The memo about a subject, if it still counts.
    private let read: @Sendable (_ subject: String) -> String?
    /// Keeps a memo about a subject; nil forgets the one before.
    private let keep: @Sendable (_ memo: PluginMemo?, _ subject: String) -> Void

    /// Makes one of the functions that read and keep.
    public init(
        read: @escaping @Sendable (_ subject: String) -> String?,
        keep: @escaping @Sendable (_ memo: PluginMemo?, _ subject: String) -> Void
    ) {
        self.read = read
        self.keep = keep
    }

    /// What a memo is about: the authority as this very plugin asks it; nil if there is none, or nothing is kept for the operation.
    static func subject(of request: PluginRequest, _ plugin: PluginManifest) -> String? {
        switch request.operation {
        case .authorize, .renew, .authenticate, .exchange: break
        default: return nil
        }
        guard !request.authority.isEmpty else { return nil }
        let program = [plugin.name, plugin.version, plugin.executable]
        return (program + [request.authority, request.kind ?? ""]).joined(separator: "\n")
    }

    func memo(about subject: String) -> String? { read(subject) }

    /// Keeps what came with a result, if anything did.
    func take(_ memo: PluginMemo?, about subject: String) {
        if let memo { keep(memo, subject) }
    }

    /// Forgets the memo that an operation failed with, unless the failure can't be its fault.
    func judge(_ error: PluginError, about subject: String) {
        switch error.code {
        case .interactionRequired, .declinedScopes, .cancelled, .throttled: return
        case .unavailable, .invalidRequest, .unsupported, .internal: keep(nil, subject)
        }
    }
}
