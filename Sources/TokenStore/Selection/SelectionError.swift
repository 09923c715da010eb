package import Files

/// The reason why the selection can't be stored.
public struct SelectionError: Error, Sendable, Equatable {
    /// The folder, as the environment names it.
    public var path: String
    /// What the system said.
    package var problem: FileProblem

    /// The reason, in few words.
    public var reason: String { problem.reason }
}
