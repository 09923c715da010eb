/// When to renew a token that can still be handed out.
public enum RenewalTiming: String, Sendable {
    /// Once the authority wants it renewed (`refresh_in`), by the process that needs it then.
    case whenDue
    /// Ahead of time, by another process: the token is handed out at once, and the process that got it starts the
    /// renewal.
    case byAnother
    /// Ahead of time, by this process: a token that is due isn't handed out, and no lock is waited for.
    case ahead
}

/// The last quarter of a token's lifetime, in which it is renewed although it can still be handed out.
enum LastQuarter {
    /// The lifetime in seconds from which its last quarter is long enough.
    private static let longLife = 2400

    /// Returns when the last quarter begins, in seconds since 1970.
    ///
    /// For a short lifetime, of whose last quarter little remains before the token is no longer handed out, it is the
    /// last quarter of the time for which the token is handed out.
    static func start(from cachedAt: Int, to expiresOn: Int) -> Int {
        let life = max(expiresOn - cachedAt, 0)
        if life >= longLife { return expiresOn - life / 4 }
        let usable = max(life - SilentSelection.expiryBuffer, 0)
        return expiresOn - SilentSelection.expiryBuffer - usable / 4
    }
}
