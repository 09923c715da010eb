internal import CGLib
internal import Dispatch
internal import Glibc
internal import Keyring

extension ServiceSession {
    func requireUnlocked() throws(KeyringError) {
        guard let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) else {
            throw KeyringError(.noDefaultCollection)
        }
        if isLocked, case .prompt = try unlocking([path]) { throw KeyringError(.locked) }
    }

    func openForStoring() throws(KeyringError) {
        if let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) {
            if isLocked { try unlock([path]) }
            opened = path
        } else {
            opened = try createCollection()
        }
    }

    func openForReading() throws(KeyringError) -> Bool {
        // With most providers an alias is an object, too; if it isn't, the collection it stands for is.
        let alias = "/org/freedesktop/secrets/aliases/\(configuration.collection.rawValue)"
        if try isCollectionLocked(at: alias) == false { return false }
        guard let path = try collectionPath(), try isCollectionLocked(at: path) == true else { return false }
        try unlock([path])
        return true
    }

    func unlock(_ paths: [String]) throws(KeyringError) {
        guard case .prompt(let prompt) = try unlocking(paths) else { return }
        try requireTurn(or: .locked)
        guard try answer(to: prompt).count > 0 else {
            throw KeyringError(.denied, detail: "the keyring was not unlocked", .tellDeclined)
        }
    }

    private enum UnlockResult {
        /// Everything is unlocked, or as much as is without a prompt.
        case done
        case prompt(String)
    }

    /// Asks the provider to unlock what it can without a prompt, such as a keyring that has no password.
    private func unlocking(_ paths: [String]) throws(KeyringError) -> UnlockResult {
        let reply = try call(
            "Unlock", of: Self.service, at: Self.servicePath, [.paths(paths)], giving: "(aoo)")
        guard let prompt = reply?.child(1)?.path else {
            guard (reply?.child(0)?.count ?? 0) > 0 else { throw KeyringError(.locked) }
            return .done
        }
        return .prompt(prompt)
    }

    /// Locks the default collection, if there is one.
    func lock() throws(KeyringError) {
        guard let path = try collectionPath() else { return }
        let reply = try call("Lock", of: Self.service, at: Self.servicePath, [.paths([path])], giving: "(aoo)")
        if let prompt = reply?.child(1)?.path { _ = try answer(to: prompt) }
    }

    private func createCollection() throws(KeyringError) -> String {
        guard configuration.collection != .session else { throw KeyringError(.noDefaultCollection) }
        try requireTurn(or: .noDefaultCollection)
        let properties = try NewVariant.properties(of: Self.collection, label: "Login")
        let reply = try call(
            "CreateCollection", of: Self.service, at: Self.servicePath,
            [properties, .text(configuration.collection.rawValue)],
            giving: "(oo)")
        var made = reply?.child(0)?.path
        if let prompt = reply?.child(1)?.path {
            do throws(KeyringError) {
                made = try answer(to: prompt).path
            } catch  where error.reason == .denied {
                throw KeyringError(.noDefaultCollection, detail: error.detail, .tellDeclined)
            }
        }
        // After a dismissed prompt, a provider may return a collection that doesn't exist.
        guard let path = made, try isCollectionLocked(at: path) != nil else {
            throw KeyringError(.noDefaultCollection)
        }
        return path
    }

    /// Checks that the user may be asked now, in this process and in no other.
    private func requireTurn(or reason: KeyringError.Reason) throws(KeyringError) {
        guard mayPrompt else { throw KeyringError(reason) }
        guard hasTurn else { throw KeyringError(reason, .awaitTurn) }
    }

    /// Has the provider show a prompt, and waits for the user's answer for as long as the provider is there.
    ///
    /// libsecret would wait for ever for a provider that is gone, and doesn't tell a dismissed prompt from another. Some
    /// providers let every change go through a prompt and show a window for few of them; so a prompt also runs if the
    /// user may not be asked, but it is dismissed once it takes longer than a call may.
    ///
    /// - Returns: The prompt's result.
    /// - Throws: `denied` if the prompt was dismissed.
    func answer(to prompt: String) throws(KeyringError) -> Variant {
        let owner = try provider.bus.owner(of: provider.name, watchdog)
        let replies = ReplyContext()
        let outcome = PromptOutcome()
        let data = Unmanaged.passUnretained(outcome).toOpaque()
        let subscription = replies.entered {
            provider.bus.receive("Completed", of: Self.prompt, at: prompt, owner: owner, data) {
                _, _, _, _, _, parameters, data in
                guard let parameters, let data else { return }
                Unmanaged<PromptOutcome>.fromOpaque(data).takeUnretainedValue().parameters = Variant(of: parameters)
            }
        }
        defer {
            replies.entered { provider.bus.stop(subscription) }
            withExtendedLifetime(outcome) {}
        }
        _ = try call("Prompt", of: Self.prompt, at: prompt, owner: owner, [.text("")], giving: "()")
        try watchdog.paused { () throws(KeyringError) in
            try wait(for: outcome, replies, of: owner, prompt)
        }
        let isDismissed = outcome.parameters?.child(0)?.bool ?? true
        guard !isDismissed, let result = outcome.parameters?.child(1)?.child(0) else {
            throw KeyringError(.denied, detail: "the prompt was dismissed", .tellDeclined)
        }
        return result
    }

    /// Tells the provider that a prompt isn't needed, whether it was shown or not.
    private func dismiss(_ prompt: String) { _ = try? call("Dismiss", of: Self.prompt, at: prompt, [], giving: "()") }

    private func wait(
        for outcome: PromptOutcome, _ replies: ReplyContext, of owner: String, _ prompt: String
    ) throws(KeyringError) {
        let end = DispatchTime.now() + configuration.deadline
        var nextLook = DispatchTime.now() + Self.lookEvery
        // Short at first, because many prompts need no user.
        var pause: useconds_t = 500
        while true {
            replies.receive()
            guard outcome.parameters == nil else { return }
            guard mayPrompt || .now() < end else {
                dismiss(prompt)
                throw KeyringError(.denied, detail: "the keyring service wants to be confirmed")
            }
            if .now() >= nextLook {
                try requireAlive(owner)
                nextLook = .now() + Self.lookEvery
            }
            usleep(pause)
            pause = min(pause * 2, 50_000)
        }
    }

    /// Checks that the provider that shows a prompt is still there.
    private func requireAlive(_ owner: String) throws(KeyringError) {
        let before = provider.activity
        do throws(KeyringError) {
            try provider.bus.ping(owner, withinMilliseconds: Self.pingLimit)
        } catch {
            if error.handling == .reconnect, error.reason != .timedOut {
                // Asking again would show another prompt.
                throw KeyringError(.broken, detail: "it ended while it asked")
            }
            guard error.reason == .timedOut else { return }
            if let now = provider.activity, now.isBusy(since: before) { return }
            throw KeyringError(.timedOut, detail: "it stopped while it asked")
        }
    }

    private static let prompt = "org.freedesktop.Secret.Prompt"
    /// Seconds between two looks whether the provider is still there.
    private static let lookEvery = 1.0
    /// The number of milliseconds in which a process answers a ping.
    private static let pingLimit: gint = 3000
}

/// What a prompt's signal brought; only used on the thread that waits for it.
private final class PromptOutcome: @unchecked Sendable {
    var parameters: Variant?
}
