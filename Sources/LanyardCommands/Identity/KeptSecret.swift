import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// A secret of an application's that is kept in the keyring.
struct KeptSecret {
    /// The kind of secret, such as `client secret`.
    let what: String
    /// The owner, for people.
    let owner: String
    let key: ClientSecretStore.Owner

    /// The client secret of an app at an issuer.
    static func ofClient(_ id: String, at match: AuthorityMatch) -> KeptSecret {
        KeptSecret(
            what: "client secret", owner: "\(id.displayable(limit: 100)) at \(match.authority)",
            key: ClientSecretStore.Owner(id, at: AuthorityPlace(match)))
    }

    /// What the user types for it, or a program passes to the command that wants it.
    func typed(for command: ShellCommand, _ context: CommandContext) async throws(Failure) -> Secret {
        try await SecretInput(name: what, command: command).read(context, asking: "\(what) of \(owner)")
    }
}

extension Session {
    /// Returns the secret that an identity has in the keyring.
    ///
    /// - Throws: `Failure` if it has none there.
    func keptSecret(of identity: Identity) throws(Failure) -> KeptSecret {
        let name = identity.name.displayable(limit: 64)
        let isPassword: Bool
        switch identity.application?.proof {
        case .secret(.keyring): isPassword = false
        case .certificate(_, password: .keyring): isPassword = true
        default:
            throw Failure(
                "the identity \(name) keeps no secret in the keyring: it is proved by \(identity.proofForPeople)",
                hints: [
                    Hint("to have one kept, at \(identity.place(context))", write: "secret = true"),
                    Hint("or", write: "certificate-password = true"),
                ])
        }
        let owner = ClientSecretStore.Owner(identity.clientID, at: AuthorityPlace(try match(identity)))
        return KeptSecret(
            what: isPassword ? "password of the certificate" : "client secret", owner: "the identity \(name)",
            key: isPassword ? owner.ofCertificate : owner)
    }

    /// Keeps a secret, and when it ends, in seconds since 1970.
    func store(_ secret: Secret, until end: Int? = nil, as kept: KeptSecret) async throws(Failure) {
        // RFC 6749, A.2, allows ASCII only, but not every issuer heeds that.
        guard !secret.reveal().unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else {
            throw Failure(
                "that is not a \(kept.what), which has no control characters",
                hints: ["copy it from where you got it again"])
        }
        try await unlocking(for: nil) { () throws(Failure) in
            try keeping { () throws(StoreError) in
                try clientSecrets.store(ClientSecret(secret, expiresOn: end), of: kept.key)
            }
        }
        context.console.note("the \(kept.what) of \(kept.owner) is in the keyring")
    }

    /// Removes a secret.
    func removeSecret(_ kept: KeptSecret) async throws(Failure) {
        let removed = try await unlocking(for: nil) { () throws(Failure) in
            try keeping { () throws(StoreError) in try clientSecrets.remove(of: kept.key) }
        }
        guard removed else { throw Failure("no \(kept.what) of \(kept.owner) is stored") }
        context.console.note("removed the \(kept.what) of \(kept.owner)")
    }
}
