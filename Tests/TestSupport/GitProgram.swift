import Foundation

/// A git to test with.
package struct GitProgram: CustomStringConvertible, Sendable {
    /// What tests call it.
    package let name: String
    /// Where it is.
    package let path: String
    package var description: String { name }

    /// The machine's own.
    package static let system = GitProgram(name: "the system's git", path: "/usr/bin/git")
    /// One that takes tokens as such (2.46), which script/newer-git makes; nil if script/test couldn't get it.
    package static let newer = ProcessInfo.processInfo.environment["LANYARD_NEWER_GIT"].map {
        GitProgram(name: "a newer git", path: $0)
    }

    /// All that there are.
    package static let all = [system] + [newer].compactMap(\.self)
}
