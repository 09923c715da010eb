import Addresses
import AnswerCache
package import ArgumentParser
import CLinux
import CredentialEngine
import Files
package import Glibc
import Keyring
package import Model
import Secrets
import Synchronization
import SystemPackage
import Terminal
package import TokenAcquisition

/// `lanyard renew`, which lanyard starts by itself to renew a tool's credential ahead of time.
///
/// It has no visible output and asks nobody. Standard input says what to renew.
package struct RenewCommand: Command {
    package static let name = "renew"

    package static let configuration = CommandConfiguration(
        commandName: name, abstract: "Renew what a tool was given.", shouldDisplay: false)

    package static let examples: KeyValuePairs<String, String> = [:]

    /// The time limit for everything, in seconds; it is longer than a plugin's.
    private static let longest: UInt32 = 180

    package mutating func run(in context: CommandContext) async throws {
        ignoreSignals(endingAfter: Self.longest)
        guard
            let renewal = try RenewalRequest(
                OpenFile.bytes(from: context.input.rawValue, atMost: RenewalRequest.longest + 1))
        else {
            throw ExitCode(ExitStatus.usage.rawValue)
        }
        let options = InteractionOptions.Values(isInteractive: false, timing: .ahead, mayRedeem: true)
        let engine = Engine(in: context.surroundings) { try Session(context, options: options).sources }
        guard await engine.renew(renewal.request, answeredBy: renewal.mark) else {
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }

    package init() {}
}

/// Credentials that were handed out although they are due, to be renewed by separate processes once this one is done.
///
/// Nobody waits for such a process: it has none of this one's files, has its own session, and can't ask the user. At
/// most one per minute is started for a credential; locks ensure that no two do the same work.
package final class DueRenewals: Sendable {
    private let due = Mutex<[RenewalRequest]>([])

    /// The time in milliseconds before the renewal of a credential is tried again, whatever its result.
    private static let pause = 60_000
    /// The maximum number of processes to start.
    private static let most = 8

    /// Records a credential that was handed out for a request, if it is due.
    package func note(_ credential: Credential, for request: CredentialRequest, now: Int) {
        guard let dueOn = credential.dueOn, dueOn <= now, request.refusedToken == nil else { return }
        let renewal = RenewalRequest(request: request, mark: credential.mark)
        due.withLock { due in
            guard due.count < Self.most, !due.contains(where: { $0.mark == renewal.mark }) else { return }
            due.append(renewal)
        }
    }

    /// Starts the processes that renew what is due, as this process's last action.
    package func startLast(in context: CommandContext) {
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
    package func start(in context: CommandContext) -> [pid_t] {
        let due = due.withLock { due in
            defer { due = [] }
            return due
        }
        guard !due.isEmpty, Self.arePossible(in: context) else { return [] }
        let notes = SharedNotes(runtimeFolderOf: context.environment)
        return due.filter { Self.isFree($0, notes) }.compactMap { $0.start(in: context) }
    }

    /// Returns when to renew tools' tokens.
    package static func timing(in context: CommandContext) -> RenewalTiming {
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
        notes.noteTime(about: key)
        return true
    }
}

/// The request to renew, and the `Credential.mark` of the credential that answered it.
///
/// One process passes it to the next through a pipe, as lines of `key=value` without a secret.
struct RenewalRequest: Sendable, Equatable {
    var request: CredentialRequest
    var mark: String

    /// The maximum size in bytes: what a pipe holds without a reader.
    static let longest = 65_536

    /// The request as lines; nil if a value can't be on one.
    var encoded: [UInt8]? {
        var lines = Attributes()
        do throws(ProtocolError) {
            try lines.append("mark", mark)
            if let host = request.host { try lines.append("host", host.text) }
            for (key, member) in Self.texts {
                if let text = request[keyPath: member] { try lines.append(key, text) }
            }
            for (key, member) in Self.lists { try lines.append(key, list: request[keyPath: member]) }
        } catch {
            return nil
        }
        return lines.encoded
    }

    /// The texts that decide which token a request gets (`CachedCredential`).
    private static var texts: [(String, WritableKeyPath<CredentialRequest, String?>)] {
        [
            ("scheme", \.scheme), ("path", \.path), ("username", \.username), ("authority", \.explicit.authority),
            ("tenant", \.explicit.tenant), ("client_id", \.explicit.clientID), ("account", \.explicit.account),
            ("identity", \.explicit.identity), ("token", \.explicit.tokenName),
        ]
    }
    private static var lists: [(String, WritableKeyPath<CredentialRequest, [String]>)] {
        [("scope[]", \.explicit.scopes), ("wwwauth[]", \.wwwAuthenticate)]
    }

    /// Starts the renewing process and returns its ID; if it can't be started, a later request gets the new token.
    fileprivate func start(in context: CommandContext) -> pid_t? {
        guard let bytes = encoded else { return nil }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(context.executable), strdup(RenewCommand.name), nil]
        defer { arguments.forEach { free($0) } }
        let process = lanyard_detach(context.executable, &arguments, environ, bytes, bytes.count, nil)
        return process > 0 ? process : nil
    }
}

extension RenewalRequest {
    /// Parses the lines; nil if they are something else.
    init?(_ bytes: [UInt8]) {
        var parser = AttributeParser(longestInput: Self.longest)
        guard (try? parser.consume(bytes).isEmpty) == true, let lines = try? parser.finish(),
            let mark = lines["mark"]
        else { return nil }
        self.mark = mark
        request = CredentialRequest()
        for (key, member) in Self.texts { request[keyPath: member] = lines[key] }
        for (key, member) in Self.lists { request[keyPath: member] = lines.list(key) }
        guard let host = lines["host"] else { return }
        request.host = RequestHost(host)
        if request.host == nil { return nil }
    }
}
