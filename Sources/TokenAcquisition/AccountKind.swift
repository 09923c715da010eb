import Addresses
public import TokenStore

/// What sort of account it is.
public enum AccountKind: Sendable, Equatable {
    /// An organisation's, in Entra ID.
    case workOrSchool
    /// A personal Microsoft account.
    case personal
    /// A customer's, in Azure AD B2C; each policy has its own.
    case b2c(policy: String)
    /// Anything else, such as AD FS or what another plugin serves.
    case other
}

extension AccountRecord {
    /// What sort of account it is, as its identifiers tell.
    public var kind: AccountKind {
        if homeTenant == AuthorityPlace.consumersTenant { return .personal }
        if let policy { return .b2c(policy: policy) }
        return authorityType.uppercased() == "MSSTS" ? .workOrSchool : .other
    }

    /// The B2C policy: what follows the object id in `oid-policy.tenant`.
    private var policy: String? {
        let uid = homeAccountID.lowercased().utf8.dropLast(homeTenant.utf8.count + 1)
        let objectID = Substring(uid.prefix(36))
        guard uid.count > 37, uid.dropFirst(36).first == UInt8(ascii: "-"), objectID.isUUID else { return nil }
        return String(Substring(uid.dropFirst(37)))
    }
}

extension Substring {
    /// Whether it has a UUID's form, lower-case.
    fileprivate var isUUID: Bool {
        let groups = pieces(between: "-", omittingEmpty: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.utf8.allSatisfy("0123456789abcdef".utf8.contains) }
    }
}
