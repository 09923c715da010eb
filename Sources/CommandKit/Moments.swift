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

extension Int {
    /// So many seconds as a user would say it: `1 second`, `119 minutes`.
    package var timeInWords: String {
        let (number, unit) =
            switch self {
            case ..<120: (self, "second")
            case ..<7200: (self / 60, "minute")
            case ..<172_800: (self / 3600, "hour")
            default: (self / 86_400, "day")
            }
        return "\(number) \(unit)\(number == 1 ? "" : "s")"
    }
}
