/// The remaining lifetime of a token, for people.
struct Lifetime {
    /// The expiry in seconds since 1970; nil if it isn't known.
    let end: Int?
    let now: Int

    var text: String {
        guard let end else { return "valid until it is revoked" }
        let minutes = (end - now) / 60
        if end <= now { return "expired" }
        if minutes < 2 { return "for \(end - now) more seconds" }
        return minutes < 120 ? "for \(minutes) more minutes" : "for \(minutes / 60) more hours"
    }
}
