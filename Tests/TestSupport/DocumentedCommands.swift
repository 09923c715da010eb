import Foundation

/// A group of commands that a document shows for copying.
package struct DocumentedCommands: Sendable, CustomStringConvertible {
    /// The document.
    package let source: String
    /// The commands as a shell script.
    package let script: String
    /// The documented output; empty if there is none.
    package let output: [String]

    package var description: String { "\(source): \(script)" }

    /// Parses a block of lines: commands, or commands after `$ ` followed by their output.
    package init(_ lines: [String], in source: String) {
        self.source = source
        let isSession = lines.contains { $0.hasPrefix("$ ") }
        script = lines.filter { !isSession || $0.hasPrefix("$ ") }.map { isSession ? String($0.dropFirst(2)) : $0 }
            .joined(separator: "\n")
        output = isSession ? lines.filter { !$0.isEmpty && !$0.hasPrefix("$ ") } : []
    }

    /// Returns the examples of a manual page in mdoc(7).
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
}

extension String {
    /// Returns the lines between one heading and the next line with this prefix.
    fileprivate func section(from head: String, to end: String) -> [String] {
        let lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return Array(lines.drop { $0 != head }.dropFirst().prefix { !$0.hasPrefix(end) })
    }
}
