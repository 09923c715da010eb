import Secrets
import Terminal

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

extension FuzzTarget {
    /// Text that is quoted for a shell, and commands that are parsed as in a shell.
    static let words = FuzzTarget("words") { input in
        guard let text = input.text else { return }
        let quoted = Array(ShellWords.quote(text).utf8)
        // A shell's word can't contain NUL, and no input can bring one there.
        if !input.contains(0) {
            try require(
                OtherShell.words(quoted, isInteractive: false) == [input], "quoted, it is another thing to a shell")
        }
        let words = ShellWords.split(text).map { $0.map { Array($0.utf8) } }
        // What a shell would expand, or treat as an operator, is text here.
        if let other = OtherShell.words(input, isInteractive: false) {
            try require(words == other, "a shell splits it in another way")
        }
        let parts = ShellWords.list(text)
        try require(parts.allSatisfy { !$0.isEmpty }, "a list with an empty command")
    }

    /// A command line, its word breaks and a candidate, each terminated by NUL, as bash requests completions at the
    /// cursor.
    static let completion = FuzzTarget("completion") { input in
        let parts = input.parts(0).compactMap(\.text)
        guard parts.count == 3 else { return }
        let line = BashLine(parts[0], breaks: parts[1])
        try require(!line.words.isEmpty, "a line without the cursor's word")
        _ = CompletionPoint(line.words, in: tree)
        let candidate = parts[2]
        // Candidates are safe to show.
        guard candidate == candidate.displayable(limit: 1000), !candidate.isEmpty else { return }
        let typed = String(
            decoding: candidate.utf8.prefix(while: isTyped).prefix(parts[0].utf8.count % 8), as: UTF8.self)
        for (start, end) in [("x ", ""), ("x '", "'"), ("x \"", "\"")] {
            let breaks = parts[1].isEmpty ? "\"'@><=;|&(:" : parts[1]
            let line = BashLine(start + typed, breaks: breaks)
            guard let replacement = line.replacement(for: candidate) else { continue }
            let whole = Array((start + line.kept + replacement + end).utf8)
            try require(
                OtherShell.words(whole, isInteractive: true) == [Array("x".utf8), Array(candidate.utf8)],
                "bash reads another word: \(String(decoding: whole, as: UTF8.self))")
        }
    }

    /// Text that is shown to the user.
    static let display = FuzzTarget("display") { input in
        guard let limit = input.first.map({ Int($0) + 1 }), let text = Array(input.dropFirst()).text else { return }
        let shown = text.displayable(limit: limit)
        try require(shown.unicodeScalars.count <= limit + 1, "more is shown than asked for")
        for scalar in shown.unicodeScalars {
            let isBidirectional = (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            try require(
                scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !isBidirectional
                    && ![0x2028, 0x2029, 0x200E, 0x200F, 0x61C].contains(scalar.value),
                "U+\(String(scalar.value, radix: 16)) is shown")
        }
        try require(Array(shown.displayable(limit: limit + 1).utf8) == Array(shown.utf8), "what was made fit isn't")
    }

    private static let tree = CommandTree.lanyard

    /// Whether users type this byte without quotes.
    private static func isTyped(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "@%+=:,./_-".utf8.contains(byte)
        }
    }
}
