import Terminal

/// The result of one of `doctor`'s checks, with its remedies.
struct Finding: Sendable, Equatable {
    /// The severity of a finding.
    enum Level: String, Sendable {
        /// It works.
        case pass
        /// It works, but with limitations.
        case warn
        /// It doesn't work.
        case fail
    }

    /// The name of the check, such as `keyring.state`, which stays the same from release to release.
    let check: String
    let level: Level
    /// The result and its reason, for people.
    let text: String
    /// The remedies, if possible with a command first.
    let remedies: [Hint]

    /// Returns a finding for something that works.
    static func pass(_ check: String, _ text: String) -> Finding {
        Finding(check: check, level: .pass, text: text, remedies: [])
    }

    /// Returns a finding for something that works with limitations.
    static func warn(_ check: String, _ text: String, _ remedies: Hint...) -> Finding {
        Finding(check: check, level: .warn, text: text, remedies: remedies)
    }

    /// Returns a finding for something that doesn't work.
    static func fail(_ check: String, _ text: String, _ remedies: Hint...) -> Finding {
        Finding(check: check, level: .fail, text: text, remedies: remedies)
    }

    /// Returns a finding for one of lanyard's own errors.
    static func fail(_ check: String, _ failure: Failure) -> Finding {
        Finding(check: check, level: .fail, text: failure.message, remedies: failure.hints)
    }
}
