/// The error for an operation that exceeded its time limit.
package struct DeadlineExceeded: Error {}

/// Runs the body and cancels it after the time limit.
///
/// - Throws: `DeadlineExceeded`, or the body's error.
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
