import Glibc

/// Formats seconds since 1970 with the C library; loading Foundation's calendars takes a tenth of a remembered answer's
/// time.
package enum Moment {
    /// Returns date and time in UTC, as in RFC 3339.
    package static func utc(_ seconds: Int) -> String { text(seconds, "%Y-%m-%dT%H:%M:%SZ", gmtime_r) }

    /// Returns date and time in this computer's time zone, in a format of strftime(3).
    package static func local(_ seconds: Int, _ format: String) -> String { text(seconds, format, localtime_r) }

    private static func text(
        _ seconds: Int, _ format: String,
        _ cut: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        guard cut(&moment, &parts) != nil else { return String(seconds) }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
