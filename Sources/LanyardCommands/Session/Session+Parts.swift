import CredentialEngine
import PluginHost
import PluginWire
import Rules
import SettingsFile
import Terminal
import TokenAcquisition
import TokenStore

// How a session's parts are made from the command's context and options.

extension Configuration {
    /// Where sign-ins are kept: on a shared machine, until its user logs out.
    var keyringCollection: KeyringConfiguration.Collection { deviceMode == .shared ? .session : .default }

    /// Reads the configuration and applies the command's options.
    init(
        _ context: CommandContext, _ scope: Session.Scope, _ options: InteractionOptions.Values, isToBeWritten: Bool
    ) throws(Failure) {
        do {
            self =
                try scope == .system
                ? Configuration.loadSystem()
                : Configuration.load(environment: context.environment, isToBeWritten: isToBeWritten)
        } catch {
            throw Failure(ofConfiguration: error)
        }
        for fault in unknown {
            context.console.noteOnce(Hint("warning: \(fault.description)"))
            for hint in fault.hints { context.console.noteOnce(hint) }
        }
        // An option has the same weight as a line in the user's file: neither overrides a locked setting.
        if let flow = options.flow, !isLocked("flow") { self.flow = flow }
        if let timeout = options.timeout, !isLocked("timeout") { self.timeout = timeout }
        if let browser = options.browser, !isLocked("browser") { self.browser = browser }
    }
}

extension PluginRunner {
    /// Creates a runner with the user's time limit in seconds, and the tool's if it has one.
    init(_ context: CommandContext, patience: Int, timeLimit: Int?, _ memos: KeptMemos) {
        var timeouts = PluginTimeouts()
        // The other half is for other processes that use the plugin for the same purpose.
        if let timeLimit { timeouts.silence = .seconds(timeLimit) / 2 }
        timeouts.person = .seconds(patience)
        // After the user is done, there must be time for the rest.
        timeouts.conversation = max(timeouts.conversation, timeouts.person * 3)
        let keeper = PluginMemos { subject in
            memos.memo(about: subject, now: context.now)
        } keep: { memo, subject in
            guard let memo else { return memos.forget(subject) }
            memos.keep(memo.text, about: subject, now: context.now, for: memo.expiresIn)
        }
        self.init(environment: context.environment, timeouts: timeouts, memos: keeper, trace: context.trace)
    }
}

extension CommandContext {
    /// The copy of conversations with plugins to stderr for `LANYARD_TRACE=plugin`; secrets are already masked.
    fileprivate var trace: PluginTrace? {
        guard variable("LANYARD_TRACE") == "plugin" else { return nil }
        return { [console, relay] direction, line in
            let text = "\(direction.rawValue) \(line)"
            guard let relay else { return console.show("lanyard: trace: \(text)") }
            relay.send(.trace(text))
        }
    }

    /// Shows the progress of acquiring a token, or passes it on.
    func tell(_ progress: AcquisitionProgress) {
        guard let relay else { return console.tell(progress) }
        relay.send(.progress(progress))
    }
}
