internal import CLinux
internal import Files
internal import Glibc
public import Model
public import Rules
public import Secrets
internal import SystemPackage

/// The services that an agent needs from its program.
public protocol AgentDelegate {
    /// Returns the forwards in the current settings.
    ///
    /// - Throws: An error if the settings are invalid; the previous ones then stay in effect.
    mutating func forwards() throws -> [Forward]
    /// Returns the remembered answer to the same request, if it is still valid.
    func remembered(_ request: CredentialRequest) -> Credential?
    /// Starts the processes that renew remembered tokens that are due, without waiting for them, and returns their
    /// process IDs (`pid_t`).
    func startRenewals() -> [Int32]
    /// The program that answers one request, with its arguments and environment.
    ///
    /// It reads the request from standard input and writes the reply to standard output.
    var worker: (program: String, arguments: [String], environment: [String: String]) { get }
    /// The files that the settings are read from; they may be missing, or links.
    var settingsFiles: [String] { get }
    /// Reports an event, such as which remote clients are served, or what is wrong with the settings.
    func tell(_ news: AgentNews)
    /// Returns the refusal for a remote client that asks for something that it isn't allowed to have.
    func refusal(of request: CredentialRequest, _ objection: Forward.Objection, to forward: Forward)
        -> ForwardedRefusal
}

/// The events that an agent reports to its user.
public enum AgentNews {
    /// It now serves these, each on its own socket; none if it serves nothing.
    case serving([Forward], folder: String)
    /// It no longer serves this one.
    case closed(String)
    /// The settings are invalid; the previous ones stay in effect.
    case unreadable(any Error)
    /// The socket for this one can't be created.
    case noSocket(Forward, reason: String)
}

/// Serves remote clients on one thread: a socket for each forward, a request for each connection.
///
/// Remembered answers are returned at once. For any other request the agent starts a process, which ends with the
/// connection, so one that hangs or asks the user doesn't hold up the others. The resources of each remote client are
/// limited.
public final class Agent<Delegate: AgentDelegate> {
    private var delegate: Delegate
    private let folder: AgentFolder
    private var listeners: [ForwardListener] = []
    private var connections: [Connection] = []
    /// Processes that are exiting, and when to kill those that don't.
    private var ending: [(process: pid_t, deadline: Int)] = []
    /// Processes that renew tokens, and continue when the agent ends.
    private var renewing: [pid_t] = []
    private let signals: (read: CInt, write: CInt)
    /// Whether the agent ends when its terminal is closed.
    private let endsWithTerminal = lanyard_ends_with_terminal() == 1
    private var settings: SettingsWatch
    /// Whether to read the settings even if their files are the same.
    private var mustReload = true

    /// Creates the agent of this user.
    ///
    /// - Throws: `AgentError`, for example if there already is an agent.
    public init(_ delegate: Delegate, in place: String) throws(AgentError) {
        var ends: [CInt] = [-1, -1]
        guard lanyard_pipe(&ends, 1) == 0 else { throw .unusable("no pipe can be made") }
        signals = (ends[0], ends[1])
        self.delegate = delegate
        settings = SettingsWatch(delegate.settingsFiles)
        folder = try AgentFolder(place)
    }

    /// Serves until a signal ends the agent, and removes its sockets; returns the signal's number.
    public func run() -> CInt {
        signal(SIGPIPE, SIG_IGN)
        lanyard_signals_to(signals.write)
        // Other threads than the program's first have these signals blocked.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        reloadIfChanged()
        while true {
            if let number = turn() {
                close()
                return number
            }
        }
    }

    // MARK: The loop

    /// Runs the event loop once; returns the number of a signal that should end the agent.
    private func turn() -> CInt? {
        let now = Uptime.now
        for index in listeners.indices { listeners[index].refill(now) }
        startWorkers(now)
        var entries = [pollfd(fd: signals.read, events: Int16(POLLIN), revents: 0)]
        entries.append(pollfd(fd: settings.descriptor, events: Int16(POLLIN), revents: 0))
        let isFull = connections.count >= Limit.connections
        for listener in listeners {
            let isOpen = !isFull && listener.mayTake(among: connections)
            entries.append(pollfd(fd: isOpen ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0))
        }
        let first = entries.count
        for connection in connections { entries += connection.pollEntries }
        _ = poll(&entries, nfds_t(entries.count), CInt(pause(from: now)))
        if entries[0].revents != 0, let number = readSignals() { return number }
        // Nothing is answered by settings that have changed. Listeners and connections may then be others, and are polled
        // again.
        if reloadIfChanged() { return nil }
        serve(entries[first...].map(\.revents))
        let ready = listeners.indices.filter { entries[2 + $0].revents != 0 }
        for index in ready { accept(at: index) }
        reap()
        renewing += delegate.startRenewals()
        return nil
    }

    /// Returns the poll timeout: the milliseconds until the next deadline.
    private func pause(from now: Int) -> Int {
        var next = now + Limit.comparison
        for connection in connections { next = min(next, connection.deadline) }
        if !ending.isEmpty { next = min(next, now + 50) }
        if listeners.contains(where: \.isThrottled) { next = min(next, now + 20) }
        if connections.contains(where: \.isQueued) { next = min(next, now + 100) }
        return max(0, next - now)
    }

    private func readSignals() -> CInt? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(signals.read, &bytes, bytes.count)
        for byte in bytes[..<max(0, count)] {
            switch CInt(byte) {
            case SIGINT, SIGTERM: return CInt(byte)
            case SIGHUP where endsWithTerminal && lanyard_ends_with_terminal() == 0: return SIGHUP
            case SIGHUP: mustReload = true
            default: break
            }
        }
        return nil
    }

    // MARK: Settings

    /// Reads the settings again if their files have changed, or if a signal asks for it; false if nothing was read.
    @discardableResult
    private func reloadIfChanged() -> Bool {
        guard settings.hasChanged() || mustReload else { return false }
        reload()
        return true
    }

    /// Opens and closes sockets according to the settings.
    private func reload() {
        mustReload = false
        let forwards: [Forward]
        do { forwards = try delegate.forwards() } catch { return delegate.tell(.unreadable(error)) }
        let before = listeners.map(\.forward)
        guard forwards != before || listeners.isEmpty else { return }
        for listener in listeners {
            let name = listener.forward.name
            let new = forwards.first { $0.name == name }
            // What was asked while more was allowed isn't answered any more.
            if new?.allows(all: listener.forward) != true {
                for index in connections.indices.reversed() where connections[index].forwardName == name { drop(index) }
            }
            guard new == nil else { continue }
            Glibc.close(listener.descriptor)
            folder.remove(name)
            delegate.tell(.closed(name))
        }
        listeners = forwards.compactMap { forward in
            if var listener = listeners.first(where: { $0.forward.name == forward.name }) {
                listener.forward = forward
                return listener
            }
            let descriptor = folder.listen(as: forward.name)
            guard descriptor >= 0 else {
                delegate.tell(.noSocket(forward, reason: Errno(rawValue: -descriptor).description))
                return nil
            }
            return ForwardListener(forward: forward, descriptor: descriptor)
        }
        folder.removeOthers(than: listeners.map(\.forward.name))
        let news = listeners.map(\.forward).filter { !before.contains($0) }
        if !news.isEmpty || listeners.isEmpty { delegate.tell(.serving(news, folder: folder.path)) }
    }

    // MARK: Connections

    private func accept(at index: Int) {
        let descriptor = lanyard_socket_accept(listeners[index].descriptor)
        guard descriptor >= 0 else { return }
        let peer = lanyard_socket_peer(descriptor)
        guard peer == 0 || peer == Int64(geteuid()) else {
            Glibc.close(descriptor)
            return
        }
        listeners[index].spendConnection()
        connections.append(Connection(descriptor, forwardName: listeners[index].forward.name, now: Uptime.now))
    }

    /// Handles the events of the connections.
    private func serve(_ events: [Int16]) {
        let now = Uptime.now
        var next = events.startIndex
        var finished: [Int] = []
        for index in connections.indices {
            let count = connections[index].pollEntries.count
            let mine = Array(events[next..<(next + count)])
            next += count
            switch connections[index].handle(mine, now: now) {
            case .goOn: break
            case .end: finished.append(index)
            case .request(let block): answer(block, index, now)
            case .reply(let reply):
                finishWorker(index, hasReplied: true)
                connections[index].reply(reply, now: now)
            }
        }
        for index in finished.reversed() { drop(index) }
    }

    private func answer(_ block: Attributes, _ index: Int, _ now: Int) {
        guard let listener = listeners.first(where: { $0.forward.name == connections[index].forwardName }) else {
            return connections[index].reply(.nothing, now: now)
        }
        var request: ForwardedRequest
        do throws(ProtocolError) {
            request = try ForwardedRequest(block)
        } catch {
            return connections[index].reply(.refused(.init(error)), now: now)
        }
        if let objection = listener.forward.objection(to: request.wanted) {
            let refusal = delegate.refusal(of: request.wanted, objection, to: listener.forward)
            return connections[index].reply(.refused(refusal), now: now)
        }
        if !listener.forward.confirms, let known = delegate.remembered(request.wanted) {
            return connections[index].reply(.credential(known), now: now)
        }
        request.forward = listener.forward.name
        connections[index].queue(request, now: now)
    }

    private func drop(_ index: Int) {
        finishWorker(index)
        connections[index].hangUp()
        connections.remove(at: index)
    }

    // MARK: Workers

    private func startWorkers(_ now: Int) {
        var running = connections.count(where: \.isWorking)
        for index in connections.indices {
            guard running < Limit.workers, case .queued(let request) = connections[index].state,
                let listenerIndex = listeners.firstIndex(where: { $0.forward.name == connections[index].forwardName })
            else { continue }
            let own = connections.count { $0.isWorking && $0.forwardName == connections[index].forwardName }
            guard own < Limit.workersPerForward, listeners[listenerIndex].spendWorker() else { continue }
            let worker = delegate.worker
            guard let block = try? request.block().encoded,
                let started = Worker(worker.program, worker.arguments, worker.environment, input: block + [0x0A])
            else {
                connections[index].reply(.refused(.init(.other, "the agent cannot start a process")), now: now)
                continue
            }
            connections[index].work(started, isUnattended: request.wanted.isUnattended, now: now)
            running += 1
        }
    }

    /// Detaches a connection's worker and ends it; one that has replied may start a renewal first.
    private func finishWorker(_ index: Int, hasReplied: Bool = false) {
        guard case .working(let worker) = connections[index].state else { return }
        worker.end()
        ending.append((worker.process, Uptime.now + (hasReplied ? Limit.unattended : Limit.patienceToEnd)))
    }

    private func reap() {
        let now = Uptime.now
        ending.removeAll { process, deadline in
            if now >= deadline { kill(process, SIGKILL) }
            return waitpid(process, nil, WNOHANG) != 0
        }
        renewing.removeAll { waitpid($0, nil, WNOHANG) != 0 }
    }

    /// Ends all connections, sockets and workers.
    private func close() {
        for index in connections.indices.reversed() { drop(index) }
        for listener in listeners {
            Glibc.close(listener.descriptor)
            folder.remove(listener.forward.name)
        }
        let deadline = Uptime.now + Limit.patienceToEnd
        for index in ending.indices { ending[index].deadline = min(ending[index].deadline, deadline) }
        while !ending.isEmpty, Uptime.now <= deadline + 100 {
            reap()
            let next = ending.map(\.deadline).filter { $0 > Uptime.now }.min() ?? deadline + 101
            // Each that ends is told by SIGCHLD.
            if !ending.isEmpty, Uptime.wait(for: POLLIN, at: signals.read, until: next) { _ = readSignals() }
        }
    }
}

/// Limits for remote clients; times are in milliseconds.
enum Limit {
    /// Simultaneous connections, in all and for one client.
    static let (connections, connectionsPerForward) = (64, 32)
    /// Connections of one client that wait to be accepted.
    static let backlog: CInt = 16
    /// Simultaneous processes, in all and for one client.
    static let (workers, workersPerForward) = (16, 8)
    /// New connections of one client, at once and per second.
    static let (connectionBurst, connectionRate) = (1000, 200)
    /// New processes for one client, at once and per second.
    static let (workerBurst, workerRate) = (100, 5)
    /// How long it may take to transfer a request or a reply.
    static let transfer = 10_000
    /// How long an answer may take if the user isn't asked, and if they are.
    static let (unattended, attended) = (60_000, 3_600_000)
    /// How long a process may take to exit.
    static let patienceToEnd = 5_000
    /// How often the settings are compared if nothing happens: not every file system tells of changes.
    static let comparison = 5_000
}

/// A forward's socket, and the remaining allowance of its client.
struct ForwardListener {
    var forward: Forward
    let descriptor: CInt
    private var connectionsLeft = Double(Limit.connectionBurst)
    private var workersLeft = Double(Limit.workerBurst)
    private var refilled = Uptime.now

    init(forward: Forward, descriptor: CInt) {
        self.forward = forward
        self.descriptor = descriptor
    }

    /// Whether no connection is accepted now because there were too many.
    var isThrottled: Bool { connectionsLeft < 1 }

    func mayTake(among connections: [Connection]) -> Bool {
        !isThrottled && connections.count { $0.forwardName == forward.name } < Limit.connectionsPerForward
    }

    mutating func refill(_ now: Int) {
        let seconds = Double(now - refilled) / 1000
        refilled = now
        connectionsLeft = min(connectionsLeft + seconds * Double(Limit.connectionRate), Double(Limit.connectionBurst))
        workersLeft = min(workersLeft + seconds * Double(Limit.workerRate), Double(Limit.workerBurst))
    }

    mutating func spendConnection() { connectionsLeft -= 1 }

    mutating func spendWorker() -> Bool {
        guard workersLeft >= 1 else { return false }
        workersLeft -= 1
        return true
    }
}

extension ForwardedRefusal {
    /// Creates the refusal of an invalid request.
    public init(_ fault: ProtocolError) {
        switch fault {
        case .invalid("version"):
            self.init(
                .invalid, "the other lanyard asks in another version of the format",
                remedies: ["install the same version of lanyard on both sides"])
        case .invalid("verb"): self.init(.invalid, "an agent only gives credentials; it neither stores nor erases any")
        case .invalid(let key): self.init(.invalid, "the request's `\(key.displayable(limit: 60))` is not valid")
        default: self.init(.invalid, "the request is not valid")
        }
    }
}
