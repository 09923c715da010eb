public import PluginWire

extension PluginError.Code {
    /// Whether the person may still get through.
    var wantsPerson: Bool { self == .interactionRequired }
    /// Whether the authority can't be asked right now.
    var isOutage: Bool { self == .unavailable || self == .throttled }
}

extension PluginError {
    /// Whether another account might do.
    public var isAboutAccount: Bool { reasons.contains(.otherAccount) }

    /// Whether a family's refresh token was refused because the client is none of the family.
    var isClientMismatch: Bool { reasons.contains(.notInFamily) }

    /// What stands for the authority's word if the server refused what it had renewed.
    static func refused(remaining seconds: Int) -> PluginError {
        PluginError(
            .interactionRequired, "the server refused the token that had just been renewed",
            hint: "it is renewed again in \(seconds) seconds at the earliest")
    }

    /// What stands for the authority's word if nothing but the server's is known.
    static func missing(_ claims: String) -> PluginError {
        var error = PluginError(.interactionRequired, "the token lacks claims that the server wants")
        error.claims = claims
        return error
    }
}
