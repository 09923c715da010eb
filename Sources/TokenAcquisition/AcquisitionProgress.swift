public import TokenStore

/// A step of acquiring a token that may take long, or its outcome.
public enum AcquisitionProgress: Sendable, Equatable {
    /// Reading or writing the keyring, which may ask the user for its password.
    case usingKeyring
    /// Waiting for another process that does the same work; with its process ID, if that is known.
    case waitingForAnother(Int32?, SharedWork)
    /// Asking the authority to renew a token.
    case renewing(String)
    /// Acquiring a token as an application or a machine from this authority.
    case authenticating(String)
    /// Exchanging a token for the credential that this host accepts.
    case exchanging(String)
    /// Asking the machine's broker for a token.
    case askingBroker
    /// Asking the authority how to sign in.
    case startingSignIn(String)
    /// The user has signed in, and the sign-in is stored.
    case signedIn(AccountRecord)
    /// Skipping damaged items of the keyring.
    case skippingDamaged
}

/// The work that one of the user's processes does for all of them.
public enum SharedWork: String, Sendable {
    /// Having the user sign in, or choose an account.
    case signIn = "sign-in"
    /// Redeeming a refresh token.
    case renewal
    /// Acquiring a token as an identity.
    case authentication
    /// Exchanging a token.
    case exchange
}
