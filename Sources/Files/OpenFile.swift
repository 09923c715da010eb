internal import Dispatch
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// An open file or folder, which is closed with the value.
package struct OpenFile: ~Copyable, Sendable {
    /// The descriptor, for calls that this type doesn't offer.
    package let descriptor: CInt

    /// Opens a file for reading, following links; doesn't wait for the writer of a pipe.
    package init(_ path: String) throws(FileError) {
        try self.init(path, O_RDONLY | O_NONBLOCK)
    }

    /// Opens a path, relative to an open folder unless it is absolute; programs started from here don't inherit the
    /// file.
    init(_ path: String, at folder: CInt = AT_FDCWD, _ flags: CInt, permissions: mode_t = 0) throws(FileError) {
        descriptor = CInt(
            try asking { () -> Int in Int(openat(folder, path, flags | O_CLOEXEC, permissions)) })
    }

    deinit { close(descriptor) }

    /// Returns the file's status.
    package func status() throws(FileError) -> FileStatus {
        guard let status = FileStatus(of: descriptor) else { throw .last }
        return status
    }

    /// Reads the rest of its contents, whatever kind of file it is.
    package func contents(atMost limit: Int) throws(FileError) -> [UInt8] {
        let bytes = try Self.bytes(from: descriptor, atMost: limit + 1)
        guard bytes.count <= limit else { throw .tooLong }
        return bytes
    }

    /// Reads from an open file to its end, but at most this many bytes.
    package static func bytes(from descriptor: CInt, atMost limit: Int) throws(FileError) -> [UInt8] {
        var problem: FileError?
        // Uninitialised on purpose: zeroing the buffer takes longer than reading the file.
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while problem == nil, count < limit, let start = buffer.baseAddress {
                let more = read(descriptor, start + count, limit - count)
                if more == 0 { break }
                if more > 0 { count += more } else if errno != EINTR { problem = .last }
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Writes all of the bytes.
    func write(_ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try asking { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
    }

    // The kernel's lock on an open file or folder (`flock`).
    //
    // It excludes everyone else who opened the same file, in this process, too, and ends when the file is closed, however
    // the process ends. A file system without locks returns an error.

    /// Takes the lock if it is free.
    package func tryLock() throws(FileError) -> Bool {
        do throws(FileError) {
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
    package func lock(within patience: Duration) throws(FileError) -> Bool {
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
    /// - Throws: `FileError`; `CancellationError` if the task is cancelled while it waits.
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
    private func whenLocked(_ settle: @escaping @Sendable (FileError?) -> Void) throws(FileError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .last }
        DispatchQueue(label: "lanyard.lock").async {
            var problem: FileError?
            do throws(FileError) {
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
    case settled(FileError?)
    case long
    case over
}

/// The outcome of a thread's wait for a lock.
private final class Settlement: Sendable {
    private let problem = Mutex<FileError?>(nil)
    private let isSettled = DispatchSemaphore(value: 0)

    func settle(_ outcome: FileError?) {
        problem.withLock { $0 = outcome }
        isSettled.signal()
    }

    /// Waits for the outcome; false if there is none in time.
    func isReached(within patience: Duration) throws(FileError) -> Bool {
        let milliseconds = Int(patience / .milliseconds(1))
        guard isSettled.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        if let problem = problem.withLock({ $0 }) { throw problem }
        return true
    }
}

/// The process that a lock file names: its number stands first, as programs of many languages write it.
package enum LockHolder {
    /// The process; nil if none is named.
    package static func process(namedIn descriptor: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes[..<count].prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether the process has been stopped, by a signal or Ctrl-Z.
    package static func isStopped(_ process: Int32) -> Bool {
        guard let file = try? OpenFile("/proc/\(process)/stat"), let bytes = try? file.contents(atMost: 4096),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return false }
        return bytes[end...].dropFirst(2).first == UInt8(ascii: "T")
    }

    /// Whether there is such a process, whoever's it is.
    package static func isAlive(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }
}
