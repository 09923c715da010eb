import Rules
import TokenStore

/// The locks that the user's processes take, so that each token is acquired once.
struct ProcessLocks: Sendable {
    let singleFlight: SingleFlight
    /// Seconds to wait for another process: longer than a user has, who may be signing in there.
    var longestWait: Double
    /// Whether to wait for a lock that another process holds.
    ///
    /// A renewal ahead of time doesn't: the holder is renewing already.
    let waits: Bool
    let tell: @Sendable (AcquisitionProgress) -> Void

    /// Runs the body while no other process has the user sign in for the same authority, client and account.
    func alone<Result: Sendable>(
        _ request: TokenRequest, account: AccountRecord?, _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result {
        let who = account?.homeAccountID ?? request.account ?? ""
        let key = [request.authority, request.clientID, who].map { $0.lowercased() }.joined(separator: "\n")
        return try await exclusively(key, body)
    }

    /// Runs the body while no other process of the user does so under the same key.
    ///
    /// If there is no place for locks, it runs without one; if `isRequired` is false, also after too long a wait. The
    /// stored records are compared before each change in any case.
    func exclusively<Result: Sendable>(
        _ key: String, isRequired: Bool = true, _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result {
        let patience = waits || !isRequired ? longestWait : 0
        let waiting: (Int32?) -> Void = { tell(.waitingForAnother($0)) }
        if let result = try await exclusively(key, within: patience, waiting: waiting, body) { return result }
        guard !isRequired else { throw .busy }
        return try await body()
    }

    /// Runs the body if the lock is free within some seconds; nil if it isn't.
    func exclusively<Result: Sendable>(
        _ key: String, within seconds: Double, waiting: (Int32?) -> Void = { _ in },
        _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result? {
        do {
            return try await singleFlight.withLock(key: key, deadline: seconds, waiting: waiting) { try await body() }
        } catch let error as AcquisitionError {
            throw error
        } catch SingleFlightError.unusable {
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
            try singleFlight.withLock(key: key, blockingFor: seconds, body)
        } catch let error as AcquisitionError {
            throw error
        } catch SingleFlightError.unusable {
            try body()
        } catch {
            throw .busy
        }
    }
}
