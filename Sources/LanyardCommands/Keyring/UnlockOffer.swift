import Secrets

/// The question at the terminal whether to unlock the keyring, asked once by a command that can't go on without it.
struct UnlockOffer: Sendable {
    private let session: Session

    var console: Console { session.context.console }

    /// Nil if nobody is to be asked, or a window can ask.
    init?(_ session: Session) {
        guard session.presence.isSomebodyThere, !session.presence.hasDisplay, Terminal.isThere else { return nil }
        self.session = session
    }

    /// Asks for the password; false if the person presses Enter, the password is wrong, or nothing can be unlocked from here.
    func isTaken(for url: String?) async -> Bool {
        if let url, await GitConfiguration.forbidsPrompts(for: url) { return false }
        do throws(Failure) {
            let door = try KeyringDoor(session)
            guard let terminal = Terminal() else { return false }
            console.note("the keyring is locked; Enter goes on without it")
            let answer = await terminal.ask("lanyard: password of the keyring: ", echo: false)
            guard let answer, !answer.isEmpty else { return false }
            try door.unlock(with: Secret(answer))
            return true
        } catch  where error == KeyringDoor.wrongPassword {
            console.note(error.message)
        } catch {
            // What is wrong with the keyring is told by the error that brought this up.
        }
        return false
    }
}

extension Session {
    /// Does what needs the keyring; if it is locked and the person unlocks it at the terminal, once more.
    func unlocking<Result>(
        for url: String?, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        do throws(Failure) {
            return try await body()
        } catch  where error.cause == .lockedKeyring {
            context.console.endProgress()
            guard let offer = UnlockOffer(self), await offer.isTaken(for: url) else { throw error }
            return try await body()
        }
    }
}
