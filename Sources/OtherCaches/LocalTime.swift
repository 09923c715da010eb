import Addresses
import Glibc

/// Parses times as Python prints them, in the machine's local time.
enum LocalTime {
    /// Returns the seconds since 1970 of `YYYY-MM-DD HH:MM:SS[.ffffff]`; nil for anything else.
    static func seconds(_ text: String) -> Int? {
        let parts = text.pieces(between: " ")
        guard parts.count == 2 else { return nil }
        let days = parts[0].pieces(between: "-").map { Int32($0) }
        let hours = (parts[1].cut(at: ".")?.0 ?? parts[1]).pieces(between: ":").map { Int32($0) }
        guard days.count == 3, hours.count == 3, let year = days[0], let month = days[1], let day = days[2],
            let hour = hours[0], let minute = hours[1], let second = hours[2], (1970...9999).contains(year),
            (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        var moment = tm()
        (moment.tm_year, moment.tm_mon, moment.tm_mday) = (year - 1900, month - 1, day)
        (moment.tm_hour, moment.tm_min, moment.tm_sec) = (hour, minute, second)
        // The library determines whether daylight saving time applied.
        moment.tm_isdst = -1
        let seconds = mktime(&moment)
        return seconds < 0 ? nil : Int(seconds)
    }
}
