import Addresses

/// A machine's own identities.
public enum MachineIdentity {
    /// A placeholder authority, because platforms have none: MSAL stores these identities' tokens under its host and path.
    public static let authority = "https://localhost/managed_identity"
}

/// Checks for the parts of an identity that the configuration, the plugin protocol and the commands share.
extension String {

    /// Whether it is the name of a variable, as in POSIX: at most 128 letters, digits and underscores, not beginning
    /// with a digit.
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
