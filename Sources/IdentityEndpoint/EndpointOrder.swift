package import Secrets

/// The instructions for an endpoint: a block on its standard input, because it contains a secret that must not appear
/// in arguments.
package struct EndpointOrder: Sendable {
    /// The protocol to serve.
    package enum Kind: String, Sendable {
        /// `IDENTITY_ENDPOINT`, as in App Service.
        case managedIdentity = "managed-identity"
        /// `AZD_AUTH_ENDPOINT`, which the Azure Developer CLI uses.
        case azd
    }

    /// The protocol to serve.
    package let kind: Kind
    /// The secret that callers must send.
    package let secret: Secret
    /// The process with whose exit the endpoint ends.
    package let process: Int32
    /// The program that provides the tokens.
    package let program: String
    /// The options for the program that select the tokens.
    package let options: [String]
    /// The allowed resources; empty for any, which is valid only for `azd`.
    package let resources: [String]

    /// Parses an order; nil if it is incomplete.
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
