/// Where a stored password may be that answers a request for a place.
///
/// git says as much of the path as it wants compared. Other tools know nothing of the place that a password was stored for:
/// they send whole URLs, or no path at all.
public enum PathReach: Sendable, Equatable {
    /// At just this place.
    case place
    /// At the nearest place at or above it, whole segments of the path compared.
    case above
    /// At the host itself, else at the only place below it that has one; not below `.well-known`, where each place is a protocol's.
    case below
}
