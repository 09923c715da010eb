import Addresses
import AnswerCache

/// What is sealed in an item's file.
///
/// The format is a list of fields, each a length of four bytes and as many bytes: the time of the last change in
/// milliseconds since 1970, the label, the secret, then the names and values of the attributes; zeros fill it up, so that
/// lengths tell less.
struct ItemContent: Equatable {
    var attributes: [String: String]
    var label: String
    var secret: [UInt8]
    var modified: UInt64

    /// The longest file, in bytes; more than the longest line of git's protocol.
    static let longest = 1 << 20
    private static let step = 256

    init(_ attributes: [String: String], label: String, secret: [UInt8], modified: UInt64) {
        (self.attributes, self.label, self.secret, self.modified) = (attributes, label, secret, modified)
    }

    /// Parses a content; nil if it has another format.
    init?(_ bytes: [UInt8]) {
        var fields: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        guard let count = Self.number(&rest), count >= 3, count % 2 == 1, count < 1000 else { return nil }
        for _ in 0..<count {
            guard let length = Self.number(&rest), length <= rest.count else { return nil }
            fields.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        guard fields[0].count == 8, rest.allSatisfy({ $0 == 0 }) else { return nil }
        var texts: [String] = []
        for field in fields[3...] + [fields[1]] {
            guard let text = String(validating: field, as: UTF8.self) else { return nil }
            texts.append(text)
        }
        label = texts.removeLast()
        attributes = [:]
        for index in stride(from: 0, to: texts.count, by: 2) { attributes[texts[index]] = texts[index + 1] }
        guard attributes.count * 2 == texts.count else { return nil }
        modified = UInt64(bigEndianBytes: fields[0])
        secret = Array(fields[2])
    }

    var encoded: [UInt8] {
        var fields = [modified.bigEndianBytes, Array(label.utf8), secret]
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            fields += [Array(name.utf8), Array(value.utf8)]
        }
        var bytes = UInt32(fields.count).bigEndianBytes
        for field in fields { bytes += UInt32(field.count).bigEndianBytes + field }
        return bytes + [UInt8](repeating: 0, count: (Self.step - bytes.count % Self.step) % Self.step)
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 4 else { return nil }
        defer { bytes = bytes.dropFirst(4) }
        return Int(UInt32(bigEndianBytes: bytes.prefix(4)))
    }
}

/// Which items there are and what marks their attributes have, so that a search opens no file.
///
/// It can be made anew from the items at any time. It holds the state of their folder for which it is valid, then for
/// each item the name, the number of attributes, and their marks.
struct ItemIndex: Equatable {
    static let nameLength = 16
    /// The last change of the items' folder, in nanoseconds since 1970.
    var stamp: UInt64
    private var entries: [UInt8] = []

    init(stamp: UInt64 = 0) { self.stamp = stamp }

    /// Parses an index; nil if it has another format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        stamp = UInt64(bigEndianBytes: bytes[..<8])
        entries = Array(bytes[8...])
        var place = 0
        while place < entries.count {
            guard place + Self.nameLength < entries.count else { return nil }
            place = end(ofEntryAt: place)
        }
        guard place == entries.count else { return nil }
    }

    var encoded: [UInt8] { stamp.bigEndianBytes + entries }

    /// The names of all items.
    var names: [String] { names(with: []) }

    /// Returns the names of the items with at least the attributes of these marks.
    func names(with marks: [UInt64]) -> [String] {
        entries.withUnsafeBytes { bytes in
            var names: [String] = []
            var place = 0
            while place < bytes.count {
                let start = place + Self.nameLength + 1
                place = start + 8 * Int(bytes[start - 1])
                let hasAll = marks.allSatisfy { mark in
                    stride(from: start, to: place, by: 8).contains {
                        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) == mark
                    }
                }
                if hasAll { names.append(Array(bytes[start - 1 - Self.nameLength..<start - 1]).hexadecimal) }
            }
            return names
        }
    }

    /// Adds an item, or does nothing if there may be one with this name, which then has the same attributes.
    mutating func add(_ name: String, _ marks: [UInt64], isNew: Bool = false) {
        guard let bytes = Self.bytes(ofName: name), isNew || entry(bytes) == nil else { return }
        entries += bytes + [UInt8(clamping: marks.count)]
        for mark in marks.prefix(255) { entries += mark.bigEndianBytes }
    }

    mutating func remove(_ name: String) {
        guard let bytes = Self.bytes(ofName: name), let range = entry(bytes) else { return }
        entries.removeSubrange(range)
    }

    /// Returns the bytes of an item's name; nil if it is another file's.
    static func bytes(ofName name: String) -> [UInt8]? {
        let digits = Array(name.utf8)
        guard digits.count == 2 * nameLength else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private func entry(_ name: [UInt8]) -> Range<Int>? {
        entries.withUnsafeBytes { bytes in
            var place = 0
            while place < bytes.count {
                let start = place
                place += Self.nameLength + 1 + 8 * Int(bytes[start + Self.nameLength])
                if bytes[start..<start + Self.nameLength].elementsEqual(name) { return start..<place }
            }
            return nil
        }
    }

    private func end(ofEntryAt place: Int) -> Int {
        place + Self.nameLength + 1 + 8 * Int(entries[place + Self.nameLength])
    }
}
