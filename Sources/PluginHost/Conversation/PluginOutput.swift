import Addresses
import PluginWire
package import Secrets
import SettingsFile

/// Splits what a plugin writes into blocks, and knows which line is wrong.
package struct PluginOutput {
    /// A part of the output, in the order in which it ends.
    package enum Part {
        /// A whole line, whatever it holds.
        case line(String)
        /// A block; `line` is the number of its first line, from 1.
        case block(Attributes, line: Int)
    }

    private var parser: AttributeParser
    /// The line that has no end yet.
    private var line: [UInt8] = []
    private var lines = 0
    private var lastKey: String?
    /// The whole lines of the block that has no end yet.
    private var open = 0

    /// - Parameter longest: The most bytes that are accepted, over all blocks.
    package init(longest: Int = PluginProtocol.longestConversation) {
        parser = AttributeParser(longestInput: longest)
    }

    /// Whether nothing was written, not even half a line.
    package var isEmpty: Bool { lines == 0 && line.isEmpty }

    /// What is left after the last whole block, in words; nil if nothing is.
    package var rest: String? {
        guard open > 0 || !line.isEmpty else { return nil }
        if !line.isEmpty { return "it wrote “\(Self.shown(line))” without a line feed" }
        return "it wrote \(open == 1 ? "a line" : "\(open) lines") without the blank line that ends a block"
    }

    /// Takes bytes; what they complete is added to the parts, including what comes before an error.
    ///
    /// - Returns: What is wrong, and where; nil if nothing is.
    package mutating func consume(_ bytes: [UInt8], into parts: inout [Part]) -> String? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let piece = rest[..<(end.map { $0 + 1 } ?? rest.endIndex)]
            rest = rest[piece.endIndex...]
            line += end == nil ? piece : piece.dropLast()
            var blocks: [Attributes] = []
            do throws(ProtocolError) { try parser.consume(piece, into: &blocks) } catch {
                parts.append(.line(Self.text(line)))
                return text(error)
            }
            guard end != nil else { break }
            lines += 1
            parts.append(.line(Self.text(line)))
            if let block = blocks.first {
                if !block.isEmpty { parts.append(.block(block, line: lines - open)) }
                (open, lastKey) = (0, nil)
            } else {
                open += 1
                lastKey = line.firstIndex(of: UInt8(ascii: "=")).map { Self.text(Array(line[..<$0])) }
            }
            line.removeAll()
        }
        return nil
    }

    /// Takes the end of the output; whether it came in the middle of a block.
    package mutating func endsEarly() -> Bool {
        do throws(ProtocolError) { return try parser.finish() != nil } catch { return true }
    }

    private func text(_ error: ProtocolError) -> String {
        guard error != .inputTooLong, error != .lineTooLong else { return error.text }
        let place = lastKey.map { ", after `\($0.displayable(limit: 40))=`" } ?? ""
        return "\(error.text) (line \(lines + 1)\(place)): “\(Self.shown(line))”"
    }

    private static func text(_ line: [UInt8]) -> String {
        String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...], as: UTF8.self)
    }

    private static func shown(_ line: [UInt8]) -> String { shown(text(line), limit: 100) }

    /// Returns a line of a plugin's, whatever it holds, without what is or may be secret.
    package static func shown(_ line: String, limit: Int = 300) -> String {
        TraceMask.stray(line).displayable(limit: limit)
    }

    /// What is to be said of an event that the host doesn't know.
    package static func remark(on name: String, _ block: Attributes) -> String {
        let shown = name.displayable(limit: 64)
        if PluginEvent.names.contains(name) {
            let kinds = PluginEvent.PromptKind.allCases.map(\.rawValue).joined(separator: ", ")
            return
                "its `\(shown)` has the unknown kind `\((block["kind"] ?? "").displayable(limit: 64))`; kinds are \(kinds)"
        }
        let near =
            PluginEvent.names.nearest(to: name.lowercased()).map { "; did it mean `\($0)`?" }
            ?? "; events are \(PluginEvent.names.joined(separator: ", "))"
        return "its event `\(shown)` is unknown\(near)"
    }
}
