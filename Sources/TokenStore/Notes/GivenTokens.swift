internal import Files
internal import JSON
public import Secrets

/// The tokens that tools were given lately, by their fingerprints.
///
/// Tools store what worked, and erase what didn't. By then, the token may no longer be stored, because it was renewed or
/// its account was signed out; it still isn't a password. So each token is noted before a tool gets it.
public struct GivenTokens: Sendable {
    /// Seconds after which a note is removed; remembered answers, which are given without a note, last for a day.
    private static let lifetime = 2 * 86_400
    /// Seconds for which a note isn't written again.
    private static let freshness = 3600

    private let notes: NoteFolder

    /// Stores notes in the user's runtime directory; if there is none, in the user's cache.
    public init(environment: [String: String]) {
        notes = NoteFolder(parent: environment.ownRuntimeFolder ?? environment.cacheHome, name: "given", longest: 16)
    }

    /// Notes a token that is about to be given.
    public func note(_ token: Secret) {
        guard !token.isEmpty else { return }
        let fingerprint = token.fingerprint
        // Most gets give the same token again.
        guard !notes.has(noteAbout: fingerprint, youngerThan: Self.freshness) else { return }
        notes.leave(.bool(true), about: fingerprint) { $0.removeFiles(olderThan: Self.lifetime + Self.freshness) }
    }

    /// Whether one of these fingerprints is that of a token that was given.
    public func contain(_ fingerprints: Set<String>) -> Bool { fingerprints.contains { notes.note(about: $0) != nil } }
}
