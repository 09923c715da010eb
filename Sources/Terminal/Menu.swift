import Addresses
import Glibc
import Secrets
package import SystemPackage

/// A list to choose from by arrow keys, by number, or by typing part of a choice; without any input or output.
///
/// It is redrawn with each key. No line is wider than the terminal, so the number of rows to redraw is known.
struct Menu {
    /// The effect of a byte.
    enum Effect: Equatable {
        case unchanged
        case changed
        /// Enter: the index of the choice.
        case chosen(Int)
        /// Ctrl-D.
        case end
    }

    private static let prompt = "lanyard: arrows, number or name; Enter picks the marked one: "
    /// Longer than any name.
    private static let longestFilter = 64

    private let choices: [String]
    private let columns: Int
    /// The number of choices shown at once.
    private let window: Int
    private var keys = KeyDecoder()
    private var typed: [UInt8] = []
    /// The indices of the choices that match the typed text.
    private var matches: [Int]
    /// The index of the marked choice in `matches`.
    private var marked = 0

    init(_ choices: [String], columns: Int, rows: Int) {
        self.choices = choices
        self.columns = columns
        // The question above and the prompt below need the other rows.
        window = max(rows - 4, 1)
        matches = Array(choices.indices)
    }

    // MARK: Keys

    mutating func receive(_ byte: UInt8) -> Effect {
        switch keys.receive(byte) {
        case nil, .other: .unchanged
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .first: move(by: -marked)
        case .last: move(by: matches.count - 1 - marked)
        case .byte(let byte): type(byte)
        }
    }

    private mutating func type(_ byte: UInt8) -> Effect {
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

    /// Moves the mark, wrapping around at the ends.
    private mutating func move(by steps: Int) -> Effect {
        guard !matches.isEmpty else { return .unchanged }
        marked = (marked + steps + matches.count) % matches.count
        return .changed
    }

    /// Marks the choice with the typed number, or keeps the choices that contain the typed text and marks the first
    /// that begins with it.
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

    /// The text to draw; it leaves the cursor after the prompt and the typed text.
    var text: String { lines.joined(separator: "\n") }

    /// The number of rows that `text` takes.
    var rows: Int { lines.count }

    /// Returns the escape codes that erase the given number of rows, with the cursor in the last one.
    static func erasing(rows: Int) -> String {
        (rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r") + "\u{1B}[J"
    }

    /// Returns a choice with its number.
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

    /// Cuts a line before the terminal's last column, where some terminals already begin the next row.
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

/// The terminal behind stderr, if there is one, and what it can show.
package struct Screen: Sendable {
    private let descriptor: FileDescriptor
    private let environment: [String: String]

    /// Creates the screen behind a stream.
    package init(_ descriptor: FileDescriptor, environment: [String: String]) {
        self.descriptor = descriptor
        self.environment = environment
    }

    /// Whether lines can be redrawn: it is a terminal, and not a dumb one.
    package var isTerminal: Bool { isatty(descriptor.rawValue) == 1 && hasAbilities }

    /// Whether to use colours: no if `NO_COLOR` is set, else yes if `CLICOLOR_FORCE` is, else if it is a terminal
    /// without `CLICOLOR=0`.
    package var hasColours: Bool {
        if variable("NO_COLOR") != nil { return false }
        if let force = variable("CLICOLOR_FORCE"), force != "0" { return true }
        return isTerminal && variable("CLICOLOR") != "0"
    }

    /// Whether links can be written; terminals without support ignore them, except for the kernel's console.
    package var hasLinks: Bool { isTerminal && variable("TERM") != "linux" }

    /// Whether UTF-8 text shows correctly.
    package var isUTF8: Bool {
        let locale = (variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? "").uppercased()
        return locale.hasSuffix("UTF-8") || locale.hasSuffix("UTF8")
    }

    /// The size in columns and rows; nil if it isn't known.
    package var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The width to lay lines out for, in columns; nil if it isn't a terminal, and its reader wants whole lines.
    package var columns: Int? { isatty(descriptor.rawValue) == 1 ? size?.columns : nil }

    private var hasAbilities: Bool { variable("TERM").map { $0 != "dumb" } ?? false }

    private func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
