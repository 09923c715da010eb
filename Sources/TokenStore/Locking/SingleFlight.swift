internal import Addresses
internal import Crypto
internal import Files

/// A lock that the processes of one user share, so that only one of them renews a token or asks the person.
///
/// The lock is the kernel's (`flock`) and dies with its holder; the file it is on stays and means nothing. It names its
/// last holder, for people.
public struct SingleFlight: Sendable {
    /// The folders that may hold the lock files, best first; the first that is safely this user's does.
    public let directories: [String]

    /// How long a wait is nobody's concern.
    private static let quietWait = Duration.seconds(1)

    /// Puts the lock files into the user's runtime directory, else into the user's cache.
    ///
    /// Never into `/tmp`, where another user could take the folder's name first.
    ///
    /// - Parameter environment: `XDG_RUNTIME_DIR`, which counts only if it is this user's; `XDG_CACHE_HOME` or `HOME`.
    public init(environment: [String: String]) {
        directories = [environment.ownRuntimeFolder, environment.cacheHome].compactMap { $0.map { $0 + "/lanyard" } }
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
        do {
            let isLocked = try await file.lock(within: deadline, quietFor: Self.quietWait, waiting: waiting)
            guard isLocked else { throw SingleFlightError.timedOut }
        } catch let problem as FileProblem {
            throw SingleFlightError.unusable("no lock is available: \(problem.reason)")
        }
        defer { withExtendedLifetime(file) {} }
        return try await body()
    }

    /// Runs the body under the lock of a key, blocking the thread while another process holds it.
    ///
    /// - Throws: `SingleFlightError`, and whatever the body throws.
    public func withLock<Result>(key: String, blockingFor seconds: Double, _ body: () throws -> Result) throws -> Result
    {
        let file = try open(key)
        let isLocked: Bool
        do throws(FileProblem) {
            isLocked = try file.lock(within: seconds)
        } catch {
            throw SingleFlightError.unusable("no lock is available: \(error.reason)")
        }
        guard isLocked else { throw SingleFlightError.timedOut }
        defer { withExtendedLifetime(file) {} }
        return try body()
    }

    /// Opens the lock file of a key, without taking the lock.
    func open(_ key: String) throws(SingleFlightError) -> LockFile {
        let name = SHA256.hash(data: [UInt8](key.utf8)).hexadecimal + ".lock"
        var last = SingleFlightError.unusable("neither XDG_RUNTIME_DIR nor HOME names a folder for locks")
        for directory in directories {
            do throws(FileProblem) {
                return try LockFile(name, in: directory)
            } catch {
                last = .unusable("\(directory) can't be used: \(error.reason)")
            }
        }
        throw last
    }
}

/// Why a lock could not be taken.
public enum SingleFlightError: Error, Sendable, Equatable {
    /// Another process held it until the deadline.
    case timedOut
    /// No folder or file for the lock is safely this user's; says which and why.
    case unusable(String)
}
