/// Why the selection can't be kept.
public struct SelectionError: Error, Sendable, Equatable {
    /// The folder, as the environment names it.
    public var path: String
    /// What is wrong with it, in few words.
    public var reason: String
}
