import Addresses

/// A machine's own identities.
public enum MachineIdentity {
    /// The authority that stands for all of them, whose platforms have none: MSAL keeps their tokens under its host and path.
    public static let authority = "https://localhost/managed_identity"
}

/// What the configuration, the plugin protocol and the commands alike take for the parts of an identity.
extension String {

    /// Whether it is a variable's name, as POSIX has them: at most 128 letters, digits and underscores, without a digit at the front.
    public var isVariableName: Bool {
        guard let first = utf8.first, !first.isDigit, utf8.count <= 128 else { return false }
        return utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
    }

    /// Whether it selects one of a machine's identities: `system`, or `client-id:`, `object-id:` or `resource-id:` and
    /// the ID in visible ASCII; at most 1024 bytes.
    public var isManagedIdentity: Bool {
        guard !isSame(as: "system") else { return true }
        guard let (kind, id) = cut(at: ":"), !id.isEmpty, utf8.count <= 1024 else { return false }
        return ["client-id", "object-id", "resource-id"].contains { kind.isSame(as: $0) }
            && id.utf8.allSatisfy(\.isVisibleASCII)
    }
}
