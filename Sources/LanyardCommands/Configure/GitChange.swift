import Addresses

/// A value that `configure git` writes.
struct GitChange: Sendable, Hashable {
    /// The URL that it applies to; empty for all.
    let place: String
    let variable: String
    let value: String

    var section: String { place.isEmpty ? "credential" : "credential.\(place)" }
    var key: String { "\(section).\(variable)" }

    /// Whether a file has this value.
    func stands(as entry: GitConfiguration.Entry) -> Bool {
        entry.place(of: variable.lowercased()) == place && entry.value == value
    }

    /// Returns the changes as they look in git's configuration file.
    static func text(_ changes: [GitChange]) -> [String] {
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
