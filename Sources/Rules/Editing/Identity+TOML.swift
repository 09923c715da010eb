import Addresses

extension Identity: ConfigurationTable {
    /// `identity`.
    public static var key: String { "identity" }
    /// `identities`.
    public static var plural: String { "identities" }
    /// The identities.
    public static var member: WritableKeyPath<Configuration, [Identity]> { \.identities }
    /// Its name.
    public var uniqueName: String? { name }

    /// The identity as an `[[identity]]` table, to be shown or written; a built-in one has none.
    public var toml: String {
        var lines = ["[[identity]]", "name      = \(name.inTOML)"]
        switch source {
        case .application(let application): lines += application.lines
        case .machine(let id): lines.append("managed   = \(id.inTOML)")
        case .environment: break
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Identity.Application {
    fileprivate var lines: [String] {
        var lines = ["authority = \(authority.inTOML)", "client-id = \(clientID.inTOML)"]
        if let kind { lines.append("kind      = \(kind.inTOML)") }
        return lines + proof.lines
    }
}

extension Identity.Proof {
    fileprivate var lines: [String] {
        switch self {
        case .secret(.keyring): ["secret    = true"]
        case .secret(.variable(let name)): ["secret-variable = \(name.inTOML)"]
        case .certificate(let path, nil): ["certificate = \(path.inTOML)"]
        case .certificate(let path, .keyring): ["certificate = \(path.inTOML)", "certificate-password = true"]
        case .certificate(let path, .variable(let name)):
            ["certificate = \(path.inTOML)", "certificate-password-variable = \(name.inTOML)"]
        case .assertion(let source): ["assertion = \(source.inTOML)"]
        }
    }
}
