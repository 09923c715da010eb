import Foundation

/// Commands that a document shows together, for a reader to copy.
package struct DocumentedCommands: Sendable, CustomStringConvertible {
    /// The document.
    package let source: String
    /// The commands as a shell takes them.
    package let script: String
    /// What the document says they print; empty if it doesn't say.
    package let output: [String]

    package var description: String { "\(source): \(script)" }

    /// A block of lines: commands, or commands behind `$ ` and what they print.
    package init(_ lines: [String], in source: String) {
        self.source = source
        let isSession = lines.contains { $0.hasPrefix("$ ") }
        script = lines.filter { !isSession || $0.hasPrefix("$ ") }.map { isSession ? String($0.dropFirst(2)) : $0 }
            .joined(separator: "\n")
        output = isSession ? lines.filter { !$0.isEmpty && !$0.hasPrefix("$ ") } : []
    }

    /// The examples of a manual page in mdoc(7).
    package static func all(inManualPage text: String, named source: String) -> [DocumentedCommands] {
        var found: [DocumentedCommands] = []
        var block: [String]?
        for line in text.section(from: ".Sh EXAMPLES", to: ".Sh ") {
            let shown = line.replacing("\\e", with: "\\").replacing("\\&", with: "")
            if line.hasPrefix(".Bd -literal") {
                block = []
            } else if line == ".Ed", let lines = block {
                found.append(DocumentedCommands(lines, in: source))
                block = nil
            } else if block != nil {
                block?.append(shown)
            } else if line.hasPrefix(".Dl ") {
                found.append(DocumentedCommands([String(shown.dropFirst(4))], in: source))
            }
        }
        return found
    }

    /// The examples at the end of a command's help.
    package static func all(inHelp text: String, named source: String) -> [DocumentedCommands] {
        let indent = "    "
        var blocks: [[String]] = []
        for line in text.section(from: "EXAMPLES:", to: "  See 'man ") {
            if line.hasPrefix(indent) {
                blocks[blocks.count - 1].append(String(line.dropFirst(indent.count)))
            } else if !line.isEmpty {
                blocks.append([])
            }
        }
        return blocks.map { DocumentedCommands($0, in: source) }
    }
}

extension String {
    /// The lines between one and the next that begins so.
    fileprivate func section(from head: String, to end: String) -> [String] {
        let lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return Array(lines.drop { $0 != head }.dropFirst().prefix { !$0.hasPrefix(end) })
    }
}
