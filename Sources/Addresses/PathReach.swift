/// The places where a stored password may answer a request for a place.
///
/// git sends as much of the path as it wants compared. Other tools don't know the place that a password was stored for:
/// they send whole URLs, or no path at all.
public enum PathReach: String, Sendable {
    /// At just this place.
    case place
    /// At the nearest place at or above it, comparing whole segments of the path.
    case above
    /// At the host itself, or else at the only place below it that has a password; not below `.well-known`, where each
    /// place belongs to a protocol.
    case below
}
