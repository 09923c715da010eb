import Addresses

/// A value that `configure git` writes, and notes as written beside it.
struct GitChange: Sendable, Equatable {
    /// The URL it counts for; empty for all.
    let place: String
    let variable: String
    let value: String

    /// The variable that notes what was written, so that `unconfigure` takes back that and nothing else.
    static let note = "lanyardWrote"

    init(_ variable: String, _ value: String, at place: String = "") {
        self.place = place
        self.variable = variable
        self.value = value
    }

    /// Reads a note; nil if it says nothing that this lanyard knows.
    init?(_ entry: GitConfiguration.Entry) {
        guard let place = entry.place(of: Self.note.lowercased()) else { return nil }
        let parts = entry.value.pieces(between: "=", maxSplits: 1, omittingEmpty: false).map(String.init)
        guard parts.count == 2, ["helper", "useHttpPath"].contains(parts[0]) else { return nil }
        self.init(parts[0], parts[1], at: place)
    }

    var section: String { place.isEmpty ? "credential" : "credential.\(place)" }
    var key: String { "\(section).\(variable)" }
    var noteKey: String { "\(section).\(Self.note)" }
    var noteValue: String { "\(variable)=\(value)" }

    /// The changes as they look in git's file.
    static func text(_ changes: [GitChange], withNotes: Bool) -> [String] {
        var lines: [String] = []
        var places: [String] = []
        for change in changes where !places.contains(change.place) { places.append(change.place) }
        for place in places {
            lines.append(place.isEmpty ? "[credential]" : "[credential \"\(place)\"]")
            for change in changes where change.place == place {
                lines.append("    \(change.variable) = \(change.value)".trimmedAtEnd)
                if withNotes { lines.append("    \(note) = \(change.noteValue)") }
            }
        }
        return lines
    }
}

extension String {
    fileprivate var trimmedAtEnd: String { hasSuffix(" ") ? String(dropLast()) : self }
}
