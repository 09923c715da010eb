import CredentialEngine
import Rules
import Secrets

/// What a tool has stored; once it is stored, the engine is asked whether that is what tools get from now on.
struct StoredSecret {
    var secret: Secret?
    /// Whether the engine has been asked.
    private(set) var isCompared = false

    /// Asks the engine what tools get.
    mutating func compare(at request: CredentialRequest) -> Turn {
        isCompared = true
        return Turn(.ask(.get(request)))
    }

    /// Ends, and tells the user if tools get something else: the tool itself says that the login succeeded.
    func end(with credential: Credential?, orTell note: String) -> Turn {
        credential?.secret == secret ? Turn(.end(0)) : Turn(note: note, .end(0))
    }
}
