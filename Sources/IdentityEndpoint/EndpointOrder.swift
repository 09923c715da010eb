package import Secrets

/// What an endpoint is told to do: a block on its standard input, for the secret in it is nothing for arguments.
package struct EndpointOrder: Sendable {
    /// What it serves.
    package enum Kind: String, Sendable {
        /// `IDENTITY_ENDPOINT`, as App Service has it.
        case managedIdentity = "managed-identity"
        /// `AZD_AUTH_ENDPOINT`, which the Azure Developer CLI asks.
        case azd
    }

    /// What it serves.
    package let kind: Kind
    /// What whoever asks must know.
    package let secret: Secret
    /// The process whose end is the endpoint's.
    package let process: Int32
    /// The program that has the tokens.
    package let program: String
    /// Which tokens of the program's are meant: options of its command.
    package let options: [String]
    /// What tokens may be for; empty for anything, which only `azd` may have.
    package let resources: [String]

    /// Reads it; nil if it is incomplete.
    package init?(_ block: Attributes) {
        guard let kind = block["serve"].flatMap(Kind.init), let secret = block["secret"], secret.utf8.count >= 32,
            let process = block["process"].flatMap(Int32.init), process > 0,
            let program = block["program"], program.hasPrefix("/")
        else { return nil }
        self.kind = kind
        self.secret = Secret(secret)
        self.process = process
        self.program = program
        options = block.list("option[]")
        resources = block.list("resource[]")
        guard kind == .azd || !resources.isEmpty else { return nil }
    }
}
