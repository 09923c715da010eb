import Addresses
import Secrets

/// A release of git or another tool, as far as lanyard's behaviour depends on it.
package struct ToolVersion: Sendable, Comparable, CustomStringConvertible {
    private let numbers: [Int]

    package init(_ numbers: Int...) { self.numbers = numbers }

    package var description: String { numbers.map(String.init).joined(separator: ".") }

    package static func < (one: ToolVersion, other: ToolVersion) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }
}

extension ToolVersion {
    /// Parses what a tool prints: `git version 2.39.5 (Apple Git-154)`, `git version 2.46-rc1`, `go version go1.24.1 linux/amd64`.
    package init?(_ text: String) {
        for word in text.pieces(between: "\n").first?.pieces(between: " ") ?? [] {
            var numbers: [Int] = []
            for piece in Substring(word.utf8.drop(while: \.isLetter)).pieces(between: ".") {
                let digits = Substring(piece.utf8.prefix(while: \.isDigit))
                guard let number = Int(digits) else { break }
                numbers.append(number)
                // A release candidate's number has more after its digits.
                if digits.utf8.count < piece.utf8.count { break }
            }
            guard numbers.count > 1 else { continue }
            self.numbers = Array(numbers.prefix(3))
            return
        }
        return nil
    }
}
