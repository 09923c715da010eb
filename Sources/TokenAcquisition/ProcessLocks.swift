import AnswerCache
import Files
import Keyring
import Model
import Rules

/// The locks that the user's processes take, so that each token is acquired once.
struct ProcessLocks: Serviced {
    var services: AcquisitionServices

    /// Whether to wait for a lock that another process holds.
    ///
    /// A renewal ahead of time doesn't: the holder is renewing already.
    var waits: Bool { services.timing != .ahead }

    /// Seconds to wait for another process while there is a token that can still be handed out.
    static let grace = 10.0

    /// Returns how many seconds to wait for a process that does this work: a little longer than it may take.
    ///
    /// A process that takes longer has been stopped, and holds nobody up any more.
    func longestWait(for work: SharedWork) -> Double {
        // A user has as long to sign in as the configuration says, and a little more.
        let longest = work.longest ?? Double(services.configuration.timeout) + 60
        return min(services.lockPatience ?? services.patience ?? .infinity, longest)
    }

    /// Runs the body while no other process has the user sign in for the same authority, client and account.
    func alone<Result: Sendable>(
        _ request: TokenRequest, account: AccountRecord?, _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result {
        let who = account?.homeAccountID ?? request.account ?? ""
        let key = [request.authority, request.clientID, who].map { $0.lowercased() }.joined(separator: "\n")
        return try await exclusively(key, for: .signIn, body)
    }

    /// Runs the body while no other process of the user does so under the same key.
    ///
    /// If there is no place for locks, it runs without one; if `isRequired` is false, also after too long a wait. The
    /// stored records are compared before each change in any case. If something can be handed out instead of the body's
    /// result, the wait is short, and ends with `.busy`.
    func exclusively<Result: Sendable>(
        _ key: String, for work: SharedWork, isRequired: Bool = true, hasSubstitute: Bool = false,
        _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result {
        let longest = longestWait(for: work)
        let patience = waits || !isRequired ? hasSubstitute ? min(longest, Self.grace) : longest : 0
        var holder: Int32?
        let waiting: (Int32?) -> Void = { process in
            holder = process
            tell(.waitingForAnother(process, work))
        }
        if let result = try await exclusively(key, within: patience, waiting: waiting, body) { return result }
        guard !isRequired, !hasSubstitute else { throw .busy(holder, work) }
        return try await body()
    }

    /// Runs the body if the lock is free within some seconds; nil if it isn't.
    func exclusively<Result: Sendable>(
        _ key: String, within seconds: Double, waiting: (Int32?) -> Void = { _ in },
        _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result? {
        do {
            return try await services.singleFlight.withLock(key: key, deadline: seconds, waiting: waiting) {
                try await body()
            }
        } catch let error as AcquisitionError {
            throw error
        } catch let problem as FileError where problem != .locked {
            return try await body()
        } catch {
            return nil
        }
    }

    /// Does the same while blocking the thread, for quick work.
    func exclusively(
        _ key: String, blockingFor seconds: Double, _ body: () throws(AcquisitionError) -> Void
    ) throws(AcquisitionError) {
        do {
            try services.singleFlight.withLock(key: key, blockingFor: seconds, body)
        } catch let error as AcquisitionError {
            throw error
        } catch let problem as FileError where problem != .locked {
            try body()
        } catch {
            throw .busy(nil, .renewal)
        }
    }
}

extension SharedWork {
    /// Seconds that it takes at most, and a little more; nil if that depends on the user.
    fileprivate var longest: Double? {
        switch self {
        case .signIn: nil
        case .renewal, .exchange: 70
        case .authentication: 130
        }
    }
}
