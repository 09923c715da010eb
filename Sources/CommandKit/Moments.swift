package import Tools

extension Moment {
    /// Returns the remaining lifetime of a token, for users; `end` is nil if it isn't known.
    package static func remaining(until end: Int?, now: Int) -> String {
        guard let end else { return "valid until it is revoked" }
        let minutes = (end - now) / 60
        if end <= now { return "expired" }
        if minutes < 2 { return "for \(end - now) more seconds" }
        return minutes < 120 ? "for \(minutes) more minutes" : "for \(minutes / 60) more hours"
    }

    /// Returns a time in this computer's time zone, for users.
    package static func local(_ time: Int) -> String { local(time, "%Y-%m-%d %H:%M:%S %z") }
}
