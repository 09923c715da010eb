extension Int {
    /// So many seconds as a person would say it: `1 second`, `119 minutes`.
    var timeInWords: String {
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
