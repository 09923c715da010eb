internal import Crypto
internal import Glibc

/// A lock that the processes of one user share, so that only one of them renews a token or asks the person.
///
/// The lock is the kernel's (`flock`) and dies with its holder; the file it is on stays and means nothing. It names its
/// last holder, for people.
public struct SingleFlight: Sendable {
    /// The directory of the lock files; made with mode 0700 where it is missing.
    public let directory: String

    /// The longest pause between two attempts, in milliseconds.
    private static let longestPause = 25

    /// How long a wait is nobody's concern.
    private static let quietWait = Duration.seconds(1)

    /// Makes a lock in the user's runtime directory, or in one of the user's own below `/tmp` where there is none.
    ///
    /// - Parameter runtimeDirectory: `$XDG_RUNTIME_DIR`; one that is not absolute or not this user's counts as absent.
    public init(runtimeDirectory: String?) {
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/"), LockDirectory.isOurs(runtimeDirectory) {
            directory = runtimeDirectory + "/lanyard"
        } else {
            directory = "/tmp/lanyard-\(geteuid())"
        }
    }

    /// Runs the body while no other process or task of this user does so under the same key.
    ///
    /// - Parameters:
    ///   - key: what the lock is for; only its digest shows.
    ///   - deadline: seconds to wait for the lock. The body may take as long as it likes.
    ///   - waiting: called once, when the wait is long enough to be told, with the process that holds the lock, if known.
    ///   - isolation: where the body runs.
    ///   - body: what to do under the lock.
    /// - Returns: what the body returns.
    /// - Throws: `SingleFlightError`, `CancellationError` while waiting, and whatever the body throws.
    public func withLock<Result>(
        key: String, deadline: Double, waiting: (Int32?) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
        let file = try open(key)
        let start = ContinuousClock.now
        let end = start + .seconds(deadline)
        var isToldOf = false
        var pause = 1
        while !file.tryLock() {
            guard ContinuousClock.now < end else { throw SingleFlightError.timedOut }
            if !isToldOf, ContinuousClock.now - start > Self.quietWait {
                isToldOf = true
                waiting(file.holder)
            }
            try await Task.sleep(for: .milliseconds(pause))
            pause = min(pause * 2, Self.longestPause)
        }
        defer { withExtendedLifetime(file) {} }
        return try await body()
    }

    /// Opens the lock file of a key, without taking the lock.
    func open(_ key: String) throws(SingleFlightError) -> LockFile {
        try LockDirectory.prepare(directory)
        let name = SHA256.hash(data: [UInt8](key.utf8)).hexadecimal + ".lock"
        return try LockDirectory.open(name, in: directory)
    }
}

/// Why a lock could not be taken.
public enum SingleFlightError: Error, Sendable, Equatable {
    /// Another process held it until the deadline.
    case timedOut
    /// The directory or file of the lock is not safely this user's; says which and why.
    case unusable(String)
}
