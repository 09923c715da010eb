public import PluginWire

extension PluginError.Code {
    /// Whether the request may still succeed if the user is asked.
    var wantsPerson: Bool { self == .interactionRequired }
    /// Whether the authority can't be asked right now.
    var isOutage: Bool { self == .unavailable || self == .throttled }
}

extension PluginError {
    /// Whether another account might work.
    public var isAboutAccount: Bool { reasons.contains(.otherAccount) }

    /// Whether a family refresh token was refused because the client isn't a member of the family.
    var isClientMismatch: Bool { reasons.contains(.notInFamily) }

    /// Stands in for the authority's error if a server refuses a token that was just renewed.
    static func refused(remaining seconds: Int) -> PluginError {
        PluginError(
            .interactionRequired, "the server refused the token that had just been renewed",
            hint: "it is renewed again in \(seconds) seconds at the earliest")
    }

    /// Stands in for the authority's error if only the server's challenge is known.
    static func missing(_ claims: String) -> PluginError {
        var error = PluginError(.interactionRequired, "the token lacks claims that the server wants")
        error.claims = claims
        return error
    }
}
