public import TokenStore

/// What getting a token is busy with, if it may take long, and what came of asking the person.
public enum AcquisitionProgress: Sendable, Equatable {
    /// The keyring is read or written; it may ask the person for its password.
    case usingKeyring
    /// Another process gets a token for the same; its number, if it is known.
    case waitingForAnother(Int32?)
    /// The authority is asked to renew a token.
    case renewing(String)
    /// A token is got as an application or a machine; from this authority.
    case authenticating(String)
    /// This host is asked for what it takes in a token's place.
    case exchanging(String)
    /// The machine's broker is asked for a token.
    case askingBroker
    /// The authority is asked how to sign in.
    case startingSignIn(String)
    /// A person has signed in, and that is stored.
    case signedIn(AccountRecord)
    /// Items of the keyring are passed over, for they hold nothing that could be used.
    case skippingDamaged
}
