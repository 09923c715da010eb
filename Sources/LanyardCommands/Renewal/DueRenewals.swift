import CLinux
import CredentialEngine
import Glibc
import Rules
import Synchronization
import TokenAcquisition
import TokenStore

/// Credentials that were handed out and are due, which a process of their own renews once this one has done its work.
///
/// Nobody waits for that process: it has none of this one's files, its own session, and nobody to ask. One is started for a
/// credential each minute at most; the locks see to it that no two do the same.
final class DueRenewals: Sendable {
    private let due = Mutex<[RenewalRequest]>([])

    /// Milliseconds for which a credential's renewal isn't tried again, whatever came of it.
    private static let pause = 60_000
    /// The most that a process starts.
    private static let most = 8

    /// Takes note of a credential that was handed out for a request, if it is due.
    func note(_ credential: Credential, for request: CredentialRequest, now: Int) {
        guard let dueOn = credential.dueOn, dueOn <= now, request.refusedToken == nil else { return }
        let renewal = RenewalRequest(request: request, mark: credential.mark)
        due.withLock { due in
            guard due.count < Self.most, !due.contains(where: { $0.mark == renewal.mark }) else { return }
            due.append(renewal)
        }
    }

    /// Starts the processes that renew what is due, as the last that this one does.
    func startLast(in context: CommandContext) {
        guard !due.withLock(\.isEmpty) else { return }
        // Whoever asked has its answer, and may end this process now: between the note and the start nobody would renew for a minute.
        for number in [SIGHUP, SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        // Whoever reads what this process wrote has all of it.
        close(STDOUT_FILENO)
        start(in: context)
    }

    /// Starts the processes that renew what is due, and gives their numbers.
    @discardableResult
    func start(in context: CommandContext) -> [pid_t] {
        let due = due.withLock { due in
            defer { due = [] }
            return due
        }
        guard !due.isEmpty, Self.arePossible(in: context) else { return [] }
        let notes = SharedNotes(runtimeFolderOf: context.environment)
        return due.filter { Self.isFree($0, notes) }.compactMap { $0.start(in: context) }
    }

    /// When tools' tokens are renewed.
    static func timing(in context: CommandContext) -> RenewalTiming {
        arePossible(in: context) ? .byAnother : .whenDue
    }

    /// Whether processes may go on after this one, and can agree on who renews what.
    ///
    /// A pipeline's job ends what it leaves behind, in the middle of its work.
    private static func arePossible(in context: CommandContext) -> Bool {
        guard context.boolean("CI") != true, PipelineService(context.environment) == nil else { return false }
        return SharedNotes(runtimeFolderOf: context.environment).areKept
    }

    /// Whether nobody has tried lately; from now on somebody has.
    private static func isFree(_ renewal: RenewalRequest, _ notes: SharedNotes) -> Bool {
        let key = "renewal ahead of time\n\(renewal.mark)"
        if notes.happened(key, within: pause) { return false }
        notes.leaveTime(about: key)
        return true
    }
}

extension RenewalRequest {
    /// Starts the process that does it, and gives its number; if it can't be started, whoever needs a new token later gets it.
    fileprivate func start(in context: CommandContext) -> pid_t? {
        guard let bytes = encoded else { return nil }
        let words = [context.executable, RenewCommand.name]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        let process = lanyard_detach(context.executable, &arguments, environ, bytes, bytes.count)
        return process > 0 ? process : nil
    }
}
