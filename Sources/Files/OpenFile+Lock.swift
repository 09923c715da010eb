internal import Dispatch
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The kernel's lock on an open file or folder (`flock`).
///
/// It excludes everyone else who opened the same file, in this process, too, and ends when the file is closed, however
/// the process ends. A file system without locks returns an error.
extension OpenFile {
    /// Takes the lock if it is free.
    package func tryLock() throws(FileProblem) -> Bool {
        do throws(FileProblem) {
            try asking { Int(flock(descriptor, LOCK_EX | LOCK_NB)) }
            return true
        } catch {
            guard error == .refused(.wouldBlock) else { throw error }
            return false
        }
    }

    /// Waits for the lock, blocking the thread; false if another holder kept it all the time.
    ///
    /// If so, close the file, or it would get the lock later.
    package func lock(within patience: Duration) throws(FileProblem) -> Bool {
        if try tryLock() { return true }
        let settlement = Settlement()
        try whenLocked { settlement.settle($0) }
        return try settlement.isReached(within: patience)
    }

    /// Waits for the lock without blocking the caller's thread; false if another holder kept it all the time.
    ///
    /// If so, close the file, or it would get the lock later.
    ///
    /// - Parameters:
    ///   - patience: How long to wait.
    ///   - quiet: The wait after which `waiting` is called, once.
    ///   - isolation: Where `waiting` is called.
    ///   - waiting: Called if the wait takes long.
    /// - Returns: Whether this file has the lock.
    /// - Throws: `FileProblem`; `CancellationError` if the task is cancelled while it waits.
    package func lock(
        within patience: Duration, quietFor quiet: Duration, isolation: isolated (any Actor)? = #isolation,
        waiting: () -> Void
    ) async throws -> Bool {
        if try tryLock() { return true }
        let (events, feed) = AsyncStream.makeStream(of: WaitEvent.self)
        try whenLocked { feed.yield(.settled($0)) }
        let start = ContinuousClock.now
        let timer = Task {
            if quiet < patience {
                try await Task.sleep(until: start + quiet)
                feed.yield(.long)
            }
            try await Task.sleep(until: start + patience)
            feed.yield(.over)
        }
        defer { timer.cancel() }
        for await event in events {
            switch event {
            case .settled(nil): return true
            case .settled(let problem?): throw problem
            case .long: waiting()
            case .over: return false
            }
        }
        // Only cancellation ends the stream of events.
        throw CancellationError()
    }

    /// Starts a thread that waits for the lock, however long that takes.
    ///
    /// The lock belongs to the open file, whichever descriptor requests it. The thread uses its own descriptor and
    /// closes it. If the caller has given up meanwhile and closed the file, too, that releases the lock at once.
    private func whenLocked(_ settle: @escaping @Sendable (FileProblem?) -> Void) throws(FileProblem) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .last }
        DispatchQueue(label: "lanyard.lock").async {
            var problem: FileProblem?
            do throws(FileProblem) {
                try asking { Int(flock(copy, LOCK_EX)) }
            } catch {
                problem = error
            }
            close(copy)
            settle(problem)
        }
    }
}

/// The events during a wait for a lock.
private enum WaitEvent {
    /// The lock was taken, or can't be had.
    case settled(FileProblem?)
    case long
    case over
}

/// The outcome of a thread's wait for a lock.
private final class Settlement: Sendable {
    private let problem = Mutex<FileProblem?>(nil)
    private let isSettled = DispatchSemaphore(value: 0)

    func settle(_ outcome: FileProblem?) {
        problem.withLock { $0 = outcome }
        isSettled.signal()
    }

    /// Waits for the outcome; false if there is none in time.
    func isReached(within patience: Duration) throws(FileProblem) -> Bool {
        let milliseconds = Int(patience / .milliseconds(1))
        guard isSettled.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        if let problem = problem.withLock({ $0 }) { throw problem }
        return true
    }
}
