import Addresses
import Secrets

/// A list to choose from by arrow keys, by number, or by typing a part of what is meant; without any input or output.
///
/// It is drawn anew with each key. No line of it is wider than the terminal, so that it is known how many rows to draw over.
struct Menu {
    /// What a byte comes to.
    enum Outcome: Equatable {
        case unchanged
        case changed
        /// Enter: the place of the choice.
        case chosen(Int)
        /// Ctrl-D.
        case end
    }

    private static let prompt = "lanyard: arrows, number or name; Enter picks the marked one: "
    /// More than any name needs.
    private static let longestFilter = 64

    private let choices: [String]
    private let columns: Int
    /// How many choices are shown at once.
    private let window: Int
    private var keys = KeyDecoder()
    private var typed: [UInt8] = []
    /// The choices that what was typed may mean.
    private var matches: [Int]
    /// Which of the matches is marked.
    private var marked = 0

    init(_ choices: [String], columns: Int, rows: Int) {
        self.choices = choices
        self.columns = columns
        // Besides the question above and the prompt below.
        window = max(rows - 4, 1)
        matches = Array(choices.indices)
    }

    // MARK: Keys

    mutating func take(_ byte: UInt8) -> Outcome {
        switch keys.take(byte) {
        case nil, .other: .unchanged
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .first: move(by: -marked)
        case .last: move(by: matches.count - 1 - marked)
        case .byte(let byte): type(byte)
        }
    }

    private mutating func type(_ byte: UInt8) -> Outcome {
        switch byte {
        case 0x0A, 0x0D: return matches.isEmpty ? .unchanged : .chosen(matches[marked])
        case 0x04: return typed.isEmpty ? .end : .unchanged
        case 0x10: return move(by: -1)
        case 0x0E, 0x09: return move(by: 1)
        case 0x15, 0x17: typed = []
        case 0x08, 0x7F:
            while let last = typed.popLast(), last & 0xC0 == 0x80 {}
        case ..<0x20: return .unchanged
        default:
            guard typed.count < Self.longestFilter else { return .unchanged }
            typed.append(byte)
        }
        filter()
        return .changed
    }

    /// Moves the mark, around the ends.
    private mutating func move(by steps: Int) -> Outcome {
        guard !matches.isEmpty else { return .unchanged }
        marked = (marked + steps + matches.count) % matches.count
        return .changed
    }

    /// A number marks its choice; a text leaves those that have it, and marks the first that begins with it.
    private mutating func filter() {
        let text = String(String(decoding: typed, as: UTF8.self).trimmed()).lowercased()
        if let number = Int(text), choices.indices.contains(number - 1) {
            matches = Array(choices.indices)
            marked = number - 1
            return
        }
        matches = choices.indices.filter { choices[$0].lowercased().hasBytes(text) }
        marked = matches.firstIndex { choices[$0].lowercased().utf8.starts(with: text.utf8) } ?? 0
    }

    // MARK: Lines

    /// What is drawn; the cursor is left behind the prompt and what was typed.
    var text: String { lines.joined(separator: "\n") }

    /// How many rows that is.
    var rows: Int { lines.count }

    /// What takes so many rows away, the cursor being in the last of them.
    static func erasing(rows: Int) -> String {
        (rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r") + "\u{1B}[J"
    }

    /// A choice with its number.
    func line(of choice: Int) -> String { cut("  \(numbered(choice))") }

    private var lines: [String] {
        let start = min(max(marked - window / 2, 0), max(matches.count - window, 0))
        let shown = matches.indices.dropFirst(start).prefix(window).map { index in
            cut((index == marked ? "> " : "  ") + numbered(matches[index]))
        }
        let words = String(decoding: typed, as: UTF8.self).displayable(limit: Self.longestFilter)
        return (shown.isEmpty ? [cut("  no match")] : shown) + [cut(Self.prompt + words)]
    }

    private func numbered(_ choice: Int) -> String {
        let number = String(choice + 1)
        let gap = String(repeating: " ", count: String(choices.count).utf8.count - number.utf8.count)
        return "\(gap)\(number)) \(choices[choice])"
    }

    /// A line that doesn't reach the terminal's last column, where some begin the next.
    private func cut(_ line: String) -> String {
        let room = max(columns - 1, 10)
        var used = 0
        var kept = ""
        for character in line {
            used += character.columns
            guard used <= room else { return String(kept.dropLast()) + "…" }
            kept.append(character)
        }
        return kept
    }
}
