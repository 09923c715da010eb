// Text is broken between words where a terminal has an end, never within a word; a command stays whole, so that it can be copied:
// what the terminal itself breaks it takes for one line. What goes elsewhere is never broken.

extension String {
    /// Breaks the text into lines no wider than a screen.
    ///
    /// - Parameters:
    ///   - columns: how wide the screen is; nil where it has no end.
    ///   - indent: where the lines after the first begin.
    ///   - start: where the first line begins; as the others unless given.
    ///   - keepsCommands: whether what is to be copied is told apart from prose.
    /// - Returns: the lines as one text; as it is where the screen has no end, or the text has lines of its own.
    func wrapped(columns: Int?, indent: Int, from start: Int? = nil, keepsCommands: Bool = false) -> String {
        guard let columns, columns > indent + 20, (start ?? indent) + count > columns, !contains("\n") else {
            return self
        }
        var words = split(separator: " ", omittingEmptySubsequences: false)
        if keepsCommands { words = Self.withWholeCommands(words) }
        var text = ""
        var column = start ?? indent
        for (index, word) in words.enumerated() {
            let isFirst = index == 0
            if !isFirst, column + 1 + word.count > columns {
                text += "\n" + String(repeating: " ", count: indent)
                column = indent
            } else if !isFirst {
                text += " "
                column += 1
            }
            text += word
            column += word.count
        }
        return text
    }

    /// The words, those of a command and of a line of the configuration as one.
    private static func withWholeCommands(_ words: [Substring]) -> [Substring] {
        let isAllCommand = !words.contains { $0.hasSuffix(":") } && words.first.map(isProgram) == true
        var result: [Substring] = []
        var rest = words[...]
        while let word = rest.first {
            let isSetting = rest.dropFirst().first == "="
            let isCommand = result.last?.hasSuffix(":") == true && isProgram(word)
            guard isAllCommand || isSetting || isCommand else {
                result.append(rest.removeFirst())
                continue
            }
            let whole = rest.prefix(through: endOfCommand(rest))
            result.append(whole.joined(separator: " ")[...])
            rest = rest.dropFirst(whole.count)
        }
        return result
    }

    /// Where prose goes on after a command: as in `lanyard use alice, or to sign it out: lanyard logout alice`.
    private static func endOfCommand(_ words: ArraySlice<Substring>) -> Int {
        let end = words.indices.first { index in
            let next = index + 1 < words.endIndex ? words[index + 1] : ""
            return words[index].hasSuffix(";")
                || words[index].hasSuffix(",") && ["and", "or", "then"].contains(next)
        }
        return end ?? words.endIndex - 1
    }

    /// Whether a word is one of the programs that remedies name.
    private static func isProgram(_ word: Substring) -> Bool { programs.contains(String(word)) || word.hasPrefix("/") }

    private static let programs: Set = [
        "apt", "az", "chmod", "dbus-run-session", "docker", "env", "export", "git", "gnome-keyring-daemon", "lanyard",
        "ls",
        "pkill", "printf", "script/install", "secret-tool", "sudo", "systemctl", "timedatectl", "unset",
    ]
}
