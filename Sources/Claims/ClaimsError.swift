/// The reason why claims can't be requested.
public enum ClaimsError: Error, Sendable, Equatable {
    /// The text has more than `ClaimsRequest.longest` bytes.
    case tooLong
    /// The text isn't a JSON object.
    case notAnObject
    /// A member is none of the targets.
    case unknownTarget(String)
    /// A target isn't an object.
    case malformedTarget(String)
    /// A claim is neither null nor an object with a known member of the right type.
    case malformedClaim(String)
    /// A claim in short form isn't `TARGET.NAME`, alone or with `=essential`, `=value:V` or `=values:A,B`.
    case malformedShortForm(String)
}
