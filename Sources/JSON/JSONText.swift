/// The JSON text of an object, for edits of single members that leave everything else unchanged, byte for byte.
public struct JSONText: Sendable {
    private let bytes: [UInt8]
    /// The text without comments.
    private let plain: [UInt8]

    /// Parses a text, which may have comments and trailing commas if these are allowed; nil if it isn't a JSON object.
    public init?(_ text: String, allowingComments: Bool = false) {
        bytes = Array(text.utf8)
        plain = allowingComments ? JSONComments.blanked(bytes) : bytes
        guard JSONValue(bytes: plain)?.members != nil else { return nil }
    }

    /// Returns the line, counted from 1, where a text stops being JSON; nil if it is JSON.
    public static func faultyLine(of text: String, allowingComments: Bool = false) -> Int? {
        let bytes = allowingComments ? JSONComments.blanked(Array(text.utf8)) : Array(text.utf8)
        return JSONReader.fault(in: bytes).map { place in 1 + bytes[..<place].count { $0 == UInt8(ascii: "\n") } }
    }

    /// Returns the value at a path of names, as written; nil if there is none.
    public func value(at path: [String]) -> String? {
        let place = Location(path, in: plain)
        guard place.missing.isEmpty, let value = place.value else { return nil }
        return String(decoding: bytes[value], as: UTF8.self)
    }

    /// Returns a name on a path that its object has more than once, and the line of the second, counted from 1; nil if
    /// there is none.
    ///
    /// Programs don't agree on which of the two counts.
    public func repeated(on path: [String]) -> (name: String, line: Int)? {
        guard let second = Location(path, in: plain).repeated else { return nil }
        return (second.name, 1 + bytes[..<second.start].count { $0 == UInt8(ascii: "\n") })
    }

    /// Returns the text with a value, in JSON syntax, at a path; nil if something on the path isn't an object.
    ///
    /// Missing objects on the path are created.
    public func setting(_ value: String, at path: [String]) -> String? {
        let place = Location(path, in: plain)
        if place.missing.isEmpty { return place.value.map { replacing($0, with: value) } }
        guard let object = place.object else { return nil }
        let depth = path.count - place.missing.count
        var member = value
        for (index, name) in place.missing.enumerated().reversed() {
            member = "\(JSONValue.string(name).encodedText): \(member)"
            guard index > 0 else { break }
            member = braces(around: member, depth: depth + index)
        }
        guard let last = object.members.last else {
            guard let comment = object.range.last(where: { bytes[$0] != plain[$0] }) else {
                return replacing(object.range, with: braces(around: member, depth: depth))
            }
            let indent = String(repeating: unit, count: depth + 1)
            return replacing(comment + 1..<comment + 1, with: "\n\(indent)\(member)")
        }
        // Separate the new member like the last one.
        let blanks = Array(bytes[..<last.start].reversed().prefix { $0.isJSONBlank }.reversed())
        // Blanks before the end of a row are of what is before.
        let start = blanks.contains(0x0A) ? blanks.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? 0 : 0
        let gap = String(decoding: blanks[start...], as: UTF8.self)
        let end = last.value.upperBound
        let rest = end..<object.range.upperBound
        // A comment behind the last member stays there, if the new one gets a row of its own.
        let comma = trailingComma(behind: end)
        guard gap.utf8.contains(0x0A), let comment = rest.last(where: { bytes[$0] != plain[$0] }), comment != comma
        else {
            return replacing(end..<end, with: ",\(gap)\(member)")
        }
        let behind = String(decoding: bytes[end...comment], as: UTF8.self)
        return replacing(
            end..<comment + 1, with: comma == nil ? ",\(behind)\(gap)\(member)" : "\(behind)\(gap)\(member),")
    }

    /// Returns the object to which a new value at a path would be added, if it is empty; nil if it isn't, or has comments.
    public func emptyObject(on path: [String]) -> String? {
        guard let object = Location(path, in: plain).object, object.members.isEmpty, !isCommented(object.range) else {
            return nil
        }
        return String(decoding: bytes[object.range], as: UTF8.self)
    }

    /// Returns the text without the value at a path, and without objects on the path that this would leave empty,
    /// unless they are kept; the first one that stays is then as given.
    public func removing(
        _ path: [String], keepingObjects isKept: Bool = false, empty: String = "{}"
    ) -> String {
        let place = Location(path, in: plain)
        guard place.missing.isEmpty, let object = place.object,
            let index = object.members.firstIndex(where: { $0.value == place.value })
        else { return String(decoding: bytes, as: UTF8.self) }
        let members = object.members
        let member = members[index]
        if members.count == 1 {
            let start = object.range.lowerBound + 1
            guard !isCommented(start..<object.range.upperBound, but: member.start..<member.value.upperBound) else {
                let end = trailingComma(behind: member.value.upperBound).map { $0 + 1 } ?? member.value.upperBound
                let isBare = bytes[member.value.upperBound..<end].dropLast().allSatisfy(\.isJSONBlank)
                let rest = isBare ? end : member.value.upperBound
                return replacing(startOfBlanks(before: member.start, and: rest)..<rest, with: "")
            }
            return path.count > 1 && !isKept
                ? removing(path.dropLast(), empty: empty) : replacing(object.range, with: empty)
        }
        guard index == members.count - 1 else {
            return replacing(member.start..<startOfNext(than: index, of: members), with: "")
        }
        let gap = members[index - 1].value.upperBound..<member.start
        let end = member.value.upperBound
        guard isCommented(gap) else { return replacing(gap.lowerBound..<end, with: "") }
        let isComma = trailingComma(behind: end) == end
        let rest = isComma ? end + 1 : end
        let blanks = member.start - startOfBlanks(before: member.start, and: rest)
        let kept = gap.dropLast(blanks).filter { isComma || plain[$0] != UInt8(ascii: ",") }.map { bytes[$0] }
        return replacing(gap.lowerBound..<rest, with: String(decoding: kept, as: UTF8.self))
    }

    /// Returns the position of a comma behind the last member, with comments before it or not; nil if there is none.
    private func trailingComma(behind end: Int) -> Int? {
        var index = end
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: ",") { return index }
            if let next = JSONComments.endOfComment(bytes, from: index), bytes[index] == UInt8(ascii: "/") {
                index = next
            } else if bytes[index].isJSONBlank {
                index += 1
            } else {
                return nil
            }
        }
        return nil
    }

    /// Returns where the blanks before a position begin, or the position itself if what follows another one would become
    /// part of a comment without them.
    private func startOfBlanks(before place: Int, and end: Int) -> Int {
        let isLastOfRow = bytes[end...].first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D } == 0x0A
        let start = place - bytes[..<place].reversed().prefix(while: \.isJSONBlank).count
        let isInBlock = start > 1 && bytes[start - 2..<start].elementsEqual("*/".utf8)
        return isLastOfRow || isInBlock || bytes[start - 1] == plain[start - 1] ? start : place
    }

    /// Whether a part of the text, except for another part, has comments or trailing commas.
    private func isCommented(_ range: Range<Int>, but other: Range<Int> = 0..<0) -> Bool {
        range.contains { bytes[$0] != plain[$0] && !other.contains($0) }
    }

    /// Returns the position after everything that belongs to a member: that of the next member, or of the comment
    /// before it.
    private func startOfNext(than index: Int, of members: [JSONReader.Member]) -> Int {
        let end = members[index].value.upperBound
        let comma = plain[end...].firstIndex(of: UInt8(ascii: ",")) ?? end
        return bytes[(comma + 1)...].firstIndex { !$0.isJSONBlank } ?? members[index + 1].start
    }

    private func replacing(_ range: Range<Int>, with new: String) -> String {
        String(decoding: bytes[..<range.lowerBound] + Array(new.utf8) + bytes[range.upperBound...], as: UTF8.self)
    }

    private func braces(around member: String, depth: Int) -> String {
        func indent(_ depth: Int) -> String { String(repeating: unit, count: depth) }
        return "{\n\(indent(depth + 1))\(member)\n\(indent(depth))}"
    }

    /// The indentation of one level: that of the first indented line, or else docker's.
    private var unit: String {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).dropFirst()
        let blanks = lines.lazy.map { $0.prefix(while: \.isJSONBlank) }.first { !$0.isEmpty }
        return blanks.map { String(decoding: $0, as: UTF8.self) } ?? "\t"
    }

    /// The place that a path leads to.
    private struct Location {
        struct Object {
            let members: [JSONReader.Member]
            let range: Range<Int>
        }

        /// The last object on the path; nil if something on the path isn't an object.
        private(set) var object: Object?
        /// The range of the value; nil if it is missing.
        private(set) var value: Range<Int>?
        /// The names on the path that are missing.
        private(set) var missing: [String]
        /// The second member with the same name on the path; nil if there is none.
        private(set) var repeated: JSONReader.Member?

        init(_ path: [String], in bytes: [UInt8]) {
            var reader = JSONReader(bytes)
            missing = path
            var start = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
            while let name = missing.first {
                object = reader.members(at: start).map { Object(members: $0.all, range: start..<$0.end) }
                // Of members with the same name, the first counts, as for JSONValue.
                let named = object?.members.filter { $0.name == name } ?? []
                repeated = repeated ?? named.dropFirst().first
                guard let member = named.first else { return }
                missing.removeFirst()
                value = member.value
                start = member.value.lowerBound
            }
        }
    }
}
