import Terminal

/// One thing that `doctor` looked at, and what to do about it.
struct Finding: Sendable, Equatable {
    /// How it stands.
    enum Level: String, Sendable {
        /// It works.
        case pass
        /// It works, and something will be missed.
        case warn
        /// It doesn't work.
        case fail
    }

    /// What was looked at, such as `keyring.state`; stays the same from release to release.
    let check: String
    let level: Level
    /// How it stands and why, for people.
    let text: String
    /// What to do, the first a command wherever there is one.
    let remedies: [Hint]

    /// What works.
    static func pass(_ check: String, _ text: String) -> Finding {
        Finding(check: check, level: .pass, text: text, remedies: [])
    }

    /// What is missed.
    static func warn(_ check: String, _ text: String, _ remedies: Hint...) -> Finding {
        Finding(check: check, level: .warn, text: text, remedies: remedies)
    }

    /// What doesn't work.
    static func fail(_ check: String, _ text: String, _ remedies: Hint...) -> Finding {
        Finding(check: check, level: .fail, text: text, remedies: remedies)
    }

    /// What an error of ours says doesn't work.
    static func fail(_ check: String, _ failure: Failure) -> Finding {
        Finding(check: check, level: .fail, text: failure.message, remedies: failure.hints)
    }
}
