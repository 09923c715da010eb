import Addresses
public import Claims

/// An identity that signs in without a user: an application or a machine.
public struct Identity: Sendable, Equatable {
    /// The name that rules, requests and `LANYARD_IDENTITY` use.
    public var name: String
    /// How it gets its tokens.
    public var source: Source
    /// The file with its table; empty if it is built in, or hasn't been written yet.
    public var file = ""
    /// The line at which the table begins, from 1.
    public var line: Int?

    /// The variables that describe it, if any do.
    public var variables: [String] = []
    /// Variables that would make it a different identity if one of them were set, too.
    public var lackingVariables: [String] = []
    /// The variables that every application needs and that aren't set, if it is the machine's for that reason.
    public var unsetVariables: [String] = []
    /// Whether it is the machine's only because the variables describe no application; the machine may have none.
    public var isAssumed = false

    /// The ways in which an identity gets its tokens.
    public enum Source: Sendable, Equatable {
        /// As an application that authenticates to its authority (RFC 6749, 4.4).
        case application(Application)
        /// As a plugin finds it on this machine, usually from its platform: `system`, `client-id:…`, `object-id:…` or
        /// `resource-id:…`.
        case machine(String, plugin: String = MachineIdentity.plugin)
        /// As the identity that the process's variables describe, according to plugins' manifests.
        case environment
    }

    /// An application that is registered at an authority.
    public struct Application: Sendable, Equatable {
        /// The authority's URL.
        public var authority: String
        /// The kind of authority, if the URL's form doesn't show it.
        public var kind: String?
        /// The application's client ID.
        public var clientID: String
        /// The proof of the application's identity.
        public var proof: Proof
        /// The service that its tokens are for, by its name at the authority; nil if scopes say that.
        public var audience: String?

        /// Creates an application.
        public init(authority: String, kind: String? = nil, clientID: String, proof: Proof, audience: String? = nil) {
            self.authority = authority
            self.kind = kind
            self.clientID = clientID
            self.proof = proof
            self.audience = audience
        }
    }

    /// The ways in which an application proves its identity.
    public enum Proof: Sendable, Equatable {
        /// The client secret (RFC 6749, 2.3.1).
        case secret(Keeper)
        /// A file with its certificate and key, and where the password is stored if the file is encrypted.
        case certificate(path: String, password: Keeper?)
        /// An assertion from elsewhere (RFC 7523): the name of a source, which may be followed by `:` and an argument.
        case assertion(String)
        /// A token from elsewhere, which the authority exchanges for its own (RFC 8693), from a source as of assertions; and
        /// the client secret, if the application has one.
        case subject(String, secret: Keeper?)
    }

    /// The places that may hold a secret.
    public enum Keeper: Sendable, Equatable {
        /// In the keyring.
        case keyring
        /// In a variable of the process.
        case variable(String)
    }

    /// Creates an identity.
    public init(name: String, source: Source) {
        self.name = name
        self.source = source
    }

    /// The identity that the variables describe.
    public static let environment = Identity(name: "environment", source: .environment)
    /// The identity that the platform gives to this machine.
    public static let machine = Identity(name: "machine", source: .machine("system"))
    /// The identities that need no table.
    public static let builtIn = [environment, machine]

    /// The application; nil for other identities.
    public var application: Application? {
        guard case .application(let application) = source else { return nil }
        return application
    }

    /// Whether a text can name an identity: 1 to 64 letters, digits, `.`, `_` and `-`, but no leading `-`.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { $0.isLabelByte || $0 == UInt8(ascii: ".") }
    }
}
