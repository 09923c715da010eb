import TestSupport

/// The shell commands in a Markdown page.
///
/// They are the blocks fenced as `sh`, and indented blocks that start with the name of a command for users of lanyard.
struct MarkdownCommands {
    /// Consecutive commands.
    struct Block {
        /// The number of the first line, from 1.
        let line: Int
        let commands: [String]
    }

    let blocks: [Block]

    init(_ page: String) async throws {
        var blocks: [Block] = []
        for (line, text) in Self.texts(of: page) {
            blocks.append(Block(line: line, commands: try await Self.commands(of: text)))
        }
        self.blocks = blocks
    }

    /// Returns the code spans in the text, such as `lanyard doctor`, each on one line.
    static func spans(of page: String) -> [String] {
        var isFenced = false
        var text = ""
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            if isFence { isFenced.toggle() }
            text += isFence || isFenced || line.hasPrefix("    ") ? "\n" : line + "\n"
        }
        return text.split(separator: "\n\n").flatMap { paragraph in
            paragraph.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { $0.element.split { $0.isWhitespace }.joined(separator: " ") }
        }
    }

    private static let programs: Set<Substring> = ["lanyard", "git", "sudo", "curl", "printf", "echo", "export"]

    private static func texts(of page: String) -> [(line: Int, text: [Substring])] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        var found: [(Int, [Substring])] = []
        var index = 0
        while index < lines.count {
            let indent = lines[index].prefix { $0 == " " }.count
            let mark = lines[index].dropFirst(indent)
            if mark.hasPrefix("```") {
                let inside = lines[(index + 1)...].prefix { $0.dropFirst(indent) != "```" }
                // A displayed file isn't a command.
                let text = inside.map { $0.dropFirst(indent) }
                if mark == "```sh", text.first?.hasPrefix("#!") == false { found.append((index + 2, text)) }
                index += inside.count + 2
            } else if indent >= 4, index == 0 || lines[index - 1].isEmpty {
                let inside = lines[index...].prefix { $0.hasPrefix("    ") }
                let word = mark.prefix { $0 != " " }
                if programs.contains(word) || word.hasPrefix("script/") {
                    found.append((index + 1, inside.map { $0.dropFirst(indent) }))
                }
                index += inside.count
            } else {
                index += 1
            }
        }
        return found
    }

    /// Splits a block at the points where bash has complete commands.
    private static func commands(of lines: [Substring]) async throws -> [String] {
        var commands: [String] = []
        var pending = ""
        for line in lines where !(pending.isEmpty && (line.isEmpty || line.hasPrefix("#"))) {
            pending += pending.isEmpty ? String(line) : "\n\(line)"
            guard !pending.hasSuffix("\\") else { continue }
            let read = try await run("/bin/bash", ["-n"], input: pending + "\n", environment: [:])
            if read.status == 0 {
                commands.append(pending)
                pending = ""
            }
        }
        return pending.isEmpty ? commands : commands + [pending]
    }
}
