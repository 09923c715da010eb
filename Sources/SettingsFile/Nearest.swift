extension Sequence<String> {
    /// Returns the member that is nearest to a mistyped word; nil if none is near.
    ///
    /// Of several, it is the one with the longest common prefix.
    public func nearest(to word: String) -> String? {
        guard word.utf8.count <= 128 else { return nil }
        let ranked = map { name in
            let start = zip(name.utf8, word.utf8).prefix { $0 == $1 }.count
            return (name: name, distance: name.editDistance(to: word), start: start)
        }.min { ($0.distance, -$0.start) < ($1.distance, -$1.start) }
        // Of a two-letter word, at least one letter must remain.
        guard let ranked, ranked.distance <= Swift.max(2, ranked.name.count / 3), ranked.distance < ranked.name.count
        else { return nil }
        return ranked.name
    }
}

extension String {
    /// Returns the Levenshtein distance: the fewest letters to insert, delete or replace.
    package func editDistance(to other: String) -> Int {
        let columns = Array(other)
        var row = Array(0...columns.count)
        for (index, letter) in enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, otherLetter) in columns.enumerated() {
                let replaced = diagonal + (letter == otherLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[columns.count]
    }
}
