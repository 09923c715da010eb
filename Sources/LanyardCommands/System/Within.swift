/// Returns the body's result; nil if it takes longer than the limit.
func within<Result: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () async -> Result) async -> Result? {
    await withTaskGroup(of: Result?.self) { group in
        group.addTask { await body() }
        group.addTask {
            try? await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
}
