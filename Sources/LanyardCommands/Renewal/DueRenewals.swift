import CLinux
import CredentialEngine
import Glibc
import Rules
import Synchronization
import TokenAcquisition
import TokenStore

/// Credentials that were handed out although they are due, to be renewed by separate processes once this one is done.
///
/// Nobody waits for such a process: it has none of this one's files, has its own session, and can't ask the user. At
/// most one per minute is started for a credential; locks ensure that no two do the same work.
final class DueRenewals: Sendable {
    private let due = Mutex<[RenewalRequest]>([])

    /// The time in milliseconds before the renewal of a credential is tried again, whatever its result.
    private static let pause = 60_000
    /// The maximum number of processes to start.
    private static let most = 8

    /// Records a credential that was handed out for a request, if it is due.
    func note(_ credential: Credential, for request: CredentialRequest, now: Int) {
        guard let dueOn = credential.dueOn, dueOn <= now, request.refusedToken == nil else { return }
        let renewal = RenewalRequest(request: request, mark: credential.mark)
        due.withLock { due in
            guard due.count < Self.most, !due.contains(where: { $0.mark == renewal.mark }) else { return }
            due.append(renewal)
        }
    }

    /// Starts the processes that renew what is due, as this process's last action.
    func startLast(in context: CommandContext) {
        guard !due.withLock(\.isEmpty) else { return }
        // The caller has its answer, and may end this process now. Between the note and the start, that would prevent
        // renewals for a minute.
        for number in [SIGHUP, SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        // The reader has all of this process's output.
        close(STDOUT_FILENO)
        start(in: context)
    }

    /// Starts the processes that renew what is due, and returns their process IDs.
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

    /// Returns when to renew tools' tokens.
    static func timing(in context: CommandContext) -> RenewalTiming {
        arePossible(in: context) ? .byAnother : .whenDue
    }

    /// Whether processes can outlive this one, and agree on who renews what.
    ///
    /// A pipeline ends its job's remaining processes, even in the middle of their work.
    private static func arePossible(in context: CommandContext) -> Bool {
        guard context.boolean("CI") != true, PipelineService(context.environment) == nil else { return false }
        return SharedNotes(runtimeFolderOf: context.environment).areKept
    }

    /// Whether no process has tried lately; records that this one has.
    private static func isFree(_ renewal: RenewalRequest, _ notes: SharedNotes) -> Bool {
        let key = "renewal ahead of time\n\(renewal.mark)"
        if notes.happened(key, within: pause) { return false }
        notes.leaveTime(about: key)
        return true
    }
}

extension RenewalRequest {
    /// Starts the renewing process and returns its ID; if it can't be started, a later request gets the new token.
    fileprivate func start(in context: CommandContext) -> pid_t? {
        guard let bytes = encoded else { return nil }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(context.executable), strdup(RenewCommand.name), nil]
        defer { arguments.forEach { free($0) } }
        let process = lanyard_detach(context.executable, &arguments, environ, bytes, bytes.count, nil)
        return process > 0 ? process : nil
    }
}
