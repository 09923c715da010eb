/// A wait that took too long.
package struct DeadlineExceeded: Error {}

/// Runs the body and cancels it when the time is over.
///
/// - Throws: `DeadlineExceeded`, or what the body throws.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        defer { group.cancelAll() }
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: limit)
            throw DeadlineExceeded()
        }
        guard let value = try await group.next() else { throw DeadlineExceeded() }
        return value
    }
}
