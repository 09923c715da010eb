public import PluginWire

extension PluginError.Code {
    /// Whether the person may still get through.
    var wantsPerson: Bool { self == .interactionRequired }
    /// Whether the authority can't be asked right now.
    var isOutage: Bool { self == .unavailable || self == .throttled }
}

extension PluginError {
    /// Whether another account might do: Entra's numbers for one that the tenant doesn't know or doesn't let in.
    public var isAboutAccount: Bool {
        !errorCodes.allSatisfy { ![50020, 50034, 50105, 500_212, 500_213].contains($0) }
    }

    /// Whether a family's refresh token was refused because the client is none of the family.
    var isClientMismatch: Bool { suberror == "client_mismatch" }

    /// What stands for the authority's word if the server refused what it had renewed.
    static func refused(remaining seconds: Int) -> PluginError {
        PluginError(
            .interactionRequired, "the server refused the token that had just been renewed",
            hint: "it is renewed again in \(seconds) seconds at the earliest")
    }

    /// What stands for the authority's word where nothing but the server's is known.
    static func missing(_ claims: String) -> PluginError {
        var error = PluginError(.interactionRequired, "the server misses claims in the token")
        error.claims = claims
        return error
    }
}
