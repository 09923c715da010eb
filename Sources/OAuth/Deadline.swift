/// Runs the body and cancels it after the time limit.
///
/// - Throws: `CancellationError` if the time is up, or the body's error.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        defer { group.cancelAll() }
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: limit)
            throw CancellationError()
        }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
