import Addresses

/// A value without quotes or brackets: a boolean, a number, a date or a time.
struct TOMLWord {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The value; nil if it is none.
    var value: TOMLValue? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch text {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: return isMoment ? .moment(text) : number
        }
    }

    // MARK: - Numbers

    private var number: TOMLValue? {
        let radixes: [(prefix: String, radix: Int)] = [("0x", 16), ("0o", 8), ("0b", 2)]
        for (prefix, radix) in radixes where bytes.starts(with: prefix.utf8) {
            let isDigit: (UInt8) -> Bool = { Int(String(Unicode.Scalar($0)), radix: radix) != nil }
            return Self.digits(bytes.dropFirst(2), isDigit).flatMap { Int($0, radix: radix) }.map(TOMLValue.integer)
        }
        let isSigned = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+")
        let sign = bytes.first == UInt8(ascii: "-") ? "-" : ""
        var rest = isSigned ? bytes.dropFirst() : bytes
        switch String(decoding: rest, as: UTF8.self) {
        case "inf": return .float(sign.isEmpty ? .infinity : -.infinity)
        case "nan": return .float(.nan)
        default: break
        }
        let whole = rest.prefix { $0.isDigit || $0 == UInt8(ascii: "_") }
        guard let integer = Self.digits(whole), integer == "0" || !integer.hasPrefix("0") else { return nil }
        rest = rest.dropFirst(whole.count)
        if rest.isEmpty { return Int(sign + integer).map(TOMLValue.integer) }
        var text = sign + integer
        if rest.first == UInt8(ascii: ".") {
            let part = rest.dropFirst().prefix { $0.isDigit || $0 == UInt8(ascii: "_") }
            guard let fraction = Self.digits(part) else { return nil }
            text += "." + fraction
            rest = rest.dropFirst(1 + part.count)
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            let isNegative = rest.first == UInt8(ascii: "-")
            if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard let exponent = Self.digits(rest) else { return nil }
            text += (isNegative ? "e-" : "e") + exponent
            rest = []
        }
        return rest.isEmpty ? Double(text).map(TOMLValue.float) : nil
    }

    /// Returns digits without the underscores between them; nil if there are none, or anything else.
    private static func digits(_ text: ArraySlice<UInt8>, _ isDigit: (UInt8) -> Bool = \.isDigit) -> String? {
        let groups = text.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard groups.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }) else { return nil }
        return String(decoding: groups.joined(), as: UTF8.self)
    }

    // MARK: - Dates and times (RFC 3339)

    /// Whether it is a date, a time, or both.
    var isMoment: Bool {
        guard bytes.count > 10 || bytes.count == 10, isDate(bytes.prefix(10)) else { return isTime(bytes) }
        guard let mark = bytes.dropFirst(10).first else { return true }
        guard "Tt ".utf8.contains(mark) else { return false }
        let time = bytes.dropFirst(11)
        if let last = time.last, last == UInt8(ascii: "Z") || last == UInt8(ascii: "z") {
            return isTime(time.dropLast())
        }
        if time.count > 6, "+-".utf8.contains(time[time.endIndex - 6]) {
            return isTime(time.dropLast(6)) && fields(time.suffix(5), ":", upTo: [23, 59])
        }
        return isTime(time)
    }

    private func isDate(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.prefix(4).count(where: \.isDigit) == 4,
            let year = Int(String(decoding: text.prefix(4), as: UTF8.self)),
            text.dropFirst(4).first == UInt8(ascii: "-"), fields(text.dropFirst(5), "-", upTo: [12, 31]),
            let month = Int(String(decoding: text.dropFirst(5).prefix(2), as: UTF8.self)),
            let day = Int(String(decoding: text.suffix(2), as: UTF8.self)), year > 0, month > 0, day > 0
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    private func isTime(_ text: ArraySlice<UInt8>) -> Bool {
        guard fields(text.prefix(8), ":", upTo: [23, 59, 59]) else { return false }
        let fraction = text.dropFirst(8)
        guard !fraction.isEmpty else { return true }
        return fraction.first == UInt8(ascii: ".") && fraction.count > 1 && fraction.dropFirst().allSatisfy(\.isDigit)
    }

    /// Whether a text is numbers of two digits, each with its greatest value, with a separator between them.
    private func fields(_ text: ArraySlice<UInt8>, _ separator: Unicode.Scalar, upTo greatest: [Int]) -> Bool {
        let parts = text.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
        return parts.count == greatest.count
            && zip(parts, greatest).allSatisfy { part, greatest in
                part.count == 2 && part.allSatisfy(\.isDigit)
                    && Int(String(decoding: part, as: UTF8.self)).map { $0 <= greatest } ?? false
            }
    }
}
