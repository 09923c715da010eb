public import TokenStore

/// A step of acquiring a token that may take long, or its outcome.
public enum AcquisitionProgress: Sendable, Equatable {
    /// Reading or writing the keyring, which may ask the user for its password.
    case usingKeyring
    /// Waiting for another process that acquires the same token; with its process ID, if that is known.
    case waitingForAnother(Int32?)
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
