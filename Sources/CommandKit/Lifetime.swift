import Tools

/// The remaining lifetime of a token, for people.
package struct Lifetime {
    /// The expiry in seconds since 1970; nil if it isn't known.
    package let end: Int?
    package let now: Int

    package init(end: Int?, now: Int) { (self.end, self.now) = (end, now) }

    package var text: String {
        guard let end else { return "valid until it is revoked" }
        let minutes = (end - now) / 60
        if end <= now { return "expired" }
        if minutes < 2 { return "for \(end - now) more seconds" }
        return minutes < 120 ? "for \(minutes) more minutes" : "for \(minutes / 60) more hours"
    }

    /// Returns a time in this computer's time zone, for people.
    package static func local(_ time: Int) -> String { Moment.local(time, "%Y-%m-%d %H:%M:%S %z") }
}
