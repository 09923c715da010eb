import Dispatch
import Files
import Glibc
import Synchronization
import TestSupport
import Testing

/// The kernel's locks on files and folders, and waiting for them.
@Suite struct LockTests {
    static func withLock(_ body: (_ path: String) async throws -> Void) async throws {
        try await ScratchDirectory.with { scratch in
            _ = try Folder(scratch.path).openFile("lock")
            try await body(scratch.path + "/lock")
        }
    }

    /// Waits for the lock on a separate thread: tasks have few threads, and the lock's holder may need one.
    private static func isLocked(
        _ path: String, within patience: Duration, then body: @escaping @Sendable () -> Void = {}
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "test").async {
                continuation.resume(
                    with: Result {
                        let file = try OpenFile(path)
                        let isLocked = try file.lock(within: patience)
                        body()
                        withExtendedLifetime(file) {}
                        return isLocked
                    })
            }
        }
    }

    private static func isHeld(_ path: String) throws -> Bool { try !OpenFile(path).tryLock() }

    /// Whether the lock gets released: not immediately, because a process that another test starts inherits all files
    /// until it runs its program.
    static func isFree(_ path: String) throws -> Bool { try OpenFile(path).lock(within: .seconds(20)) }

    @Test func `one has the lock, until the file is closed`() async throws {
        try await Self.withLock { path in
            do {
                let file = try OpenFile(path)
                #expect(try file.tryLock() && file.tryLock())
                #expect(try Self.isHeld(path))
                withExtendedLifetime(file) {}
            }
            #expect(try Self.isFree(path))
        }
    }

    @Test func `waiting ends with the lock, or when patience does`() async throws {
        try await Self.withLock { path in
            let waiting = try OpenFile(path)
            do {
                let holder = try OpenFile(path)
                #expect(try holder.tryLock())
                #expect(try !OpenFile(path).lock(within: .milliseconds(20)))
                #expect(try await !OpenFile(path).lock(within: .milliseconds(20), quietFor: .seconds(1)) {})
                #expect(try Folder(FileTrust.parent(of: path)).lock(within: .zero))
                withExtendedLifetime(holder) {}
            }
            #expect(try waiting.lock(within: .seconds(20)))
            #expect(try Self.isHeld(path))
            withExtendedLifetime(waiting) {}
        }
    }

    @Test func `who waits gets the lock while it waits`() async throws {
        try await Self.withLock { path in
            for isBlocking in [true, false] {
                let holder = Mutex<OpenFile?>(try OpenFile(path))
                #expect(try holder.withLock { try $0?.lock(within: .seconds(20)) } == true)
                async let isLocked = Task.detached {
                    isBlocking
                        ? try await Self.isLocked(path, within: .seconds(20))
                        : try await OpenFile(path).lock(within: .seconds(20), quietFor: .seconds(20)) {}
                }.value
                try await Task.sleep(for: .milliseconds(30))
                holder.withLock { $0 = nil }
                #expect(try await isLocked)
            }
        }
    }

    @Test(arguments: ["blocking", "not blocking", "cancelled"])
    func `a lock that comes too late is given back`(_ how: String) async throws {
        try await Self.withLock { path in
            do {
                let holder = try OpenFile(path)
                #expect(try holder.tryLock())
                let task = Task.detached {
                    guard how != "blocking" else { return try await Self.isLocked(path, within: .milliseconds(10)) }
                    let patience = Duration.milliseconds(how == "cancelled" ? 60_000 : 10)
                    return try await OpenFile(path).lock(within: patience, quietFor: .seconds(60)) {}
                }
                if how == "cancelled" {
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                } else {
                    #expect(try await !task.value)
                }
                withExtendedLifetime(holder) {}
            }
            // The thread that still waited for the lock may hold it for a moment.
            #expect(try OpenFile(path).lock(within: .seconds(20)))
            #expect(try OpenFile(path).lock(within: .seconds(20)))
        }
    }

    @Test func `a wait that is long is told once`() async throws {
        try await Self.withLock { path in
            let holder = try OpenFile(path)
            #expect(try holder.tryLock())
            var told = 0
            let isLocked = try await OpenFile(path).lock(within: .milliseconds(60), quietFor: .milliseconds(5)) {
                told += 1
            }
            #expect(!isLocked && told == 1)
            withExtendedLifetime(holder) {}
        }
    }

    @Test func `many that wait take turns`() async throws {
        try await Self.withLock { path in
            let turns = Turns()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        guard number.isMultiple(of: 2) else {
                            let isLocked = try await Self.isLocked(path, within: .seconds(60)) { turns.begin() }
                            #expect(isLocked)
                            return
                        }
                        let file = try OpenFile(path)
                        let isLocked = try await file.lock(within: .seconds(60), quietFor: .seconds(60)) {}
                        turns.begin()
                        #expect(isLocked)
                        withExtendedLifetime(file) {}
                    }
                }
                try await group.waitForAll()
            }
            #expect(turns.counts == [0, 1, 40])
        }
    }
}

/// Counts the concurrent turns, their maximum, and the total.
private final class Turns: Sendable {
    private let state = Mutex((now: 0, most: 0, all: 0))

    /// Takes a turn of a moment.
    func begin() {
        state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
        usleep(500)
        state.withLock { $0.now -= 1 }
    }

    var counts: [Int] { state.withLock { [$0.now, $0.most, $0.all] } }
}
