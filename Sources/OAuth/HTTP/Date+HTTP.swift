import FoundationEssentials

extension Date {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses a time in any of the three formats of HTTP fields (RFC 9110, 5.6.7); returns nil for anything else.
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT
    ///     Sunday, 06-Nov-94 08:49:37 GMT
    ///     Sun Nov  6 08:49:37 1994
    static func http(_ text: String) -> Date? {
        let parts = text.utf8.split { " ,-".utf8.contains($0) }.map { String(Substring($0)) }
        switch parts.count {
        case 6 where parts[5] == "GMT": return date(day: parts[1], month: parts[2], year: parts[3], time: parts[4])
        case 5: return date(day: parts[2], month: parts[1], year: parts[4], time: parts[3])
        default: return nil
        }
    }

    private static func date(day: String, month: String, year: String, time: String) -> Date? {
        let clock = time.utf8.split(separator: UInt8(ascii: ":")).compactMap { Int(Substring($0)) }
        guard clock.count == 3, let day = Int(day), let month = months.firstIndex(of: month), let year = fullYear(year)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        // A leap second counts as the second before it.
        let parts = DateComponents(
            year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: min(clock[2], 59))
        return parts.isValidDate(in: calendar) ? calendar.date(from: parts) : nil
    }

    /// Returns the full year; two digits more than 50 years in the future belong to the previous century.
    private static func fullYear(_ text: String) -> Int? {
        guard let year = Int(text), (0...9_999).contains(year) else { return nil }
        guard text.utf8.count == 2 else { return text.utf8.count == 4 ? year : nil }
        let now = Calendar(identifier: .gregorian).component(.year, from: .now)
        return 2_000 + year > now + 50 ? 1_900 + year : 2_000 + year
    }
}
