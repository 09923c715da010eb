extension Sequence where Element: Equatable {
    /// The elements in their order, each once.
    var uniqued: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
