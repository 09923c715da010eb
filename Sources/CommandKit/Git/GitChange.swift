import Addresses

/// A value that `configure git` writes.
package struct GitChange: Sendable, Hashable {
    /// The URL that it applies to; empty for all.
    package let place: String
    package let variable: String
    package let value: String

    package init(place: String, variable: String, value: String) {
        self.place = place
        self.variable = variable
        self.value = value
    }

    package var section: String { place.isEmpty ? "credential" : "credential.\(place)" }
    package var key: String { "\(section).\(variable)" }

    /// Whether a file has this value.
    package func stands(as entry: GitConfiguration.Entry) -> Bool {
        entry.place(of: variable.lowercased()) == place && entry.value == value
    }

    /// Returns the changes as they look in git's configuration file.
    package static func text(_ changes: [GitChange]) -> [String] {
        var lines: [String] = []
        for place in changes.map(\.place).uniqued {
            lines.append(place.isEmpty ? "[credential]" : "[credential \"\(place)\"]")
            for change in changes where change.place == place {
                let line = "    \(change.variable) = \(change.value)"
                lines.append(line.hasSuffix(" ") ? String(line.dropLast()) : line)
            }
        }
        return lines
    }
}
