/// When a token is renewed that can still be handed out.
public enum RenewalTiming: Sendable {
    /// Once its authority wants it renewed (`refresh_in`), by whoever needs it then.
    case whenDue
    /// Ahead of time, by another process: it is handed out at once, and whoever got it starts that process.
    case byAnother
    /// Ahead of time, by this process: a token that is due isn't handed out, and no lock is waited for.
    case ahead
}

/// The time in which a token is renewed though it can still be handed out.
enum LastQuarter {
    /// The life in seconds from which the last quarter is long enough.
    private static let longLife = 2400

    /// When it begins, in seconds since 1970.
    ///
    /// Of a token's life, or, if that is so short that most of the quarter is past when the token is handed out, of the time for which
    /// it is.
    static func start(from cachedAt: Int, to expiresOn: Int) -> Int {
        let life = max(expiresOn - cachedAt, 0)
        if life >= longLife { return expiresOn - life / 4 }
        let usable = max(life - SilentSelection.expiryBuffer, 0)
        return expiresOn - SilentSelection.expiryBuffer - usable / 4
    }
}
