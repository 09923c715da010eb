import Foundation

/// A version of git to test with.
package struct GitProgram: CustomStringConvertible, Sendable {
    /// The name in the tests.
    package let name: String
    /// The path of the program.
    package let path: String
    package var description: String { name }

    /// The machine's own git.
    package static let system = GitProgram(name: "the system's git", path: "/usr/bin/git")
    /// A git that accepts bearer tokens (2.46), which script/get git has; nil if script/test couldn't get it.
    package static let newer = ProcessInfo.processInfo.environment["LANYARD_NEWER_GIT"].map {
        GitProgram(name: "a newer git", path: $0 + "/exec/git")
    }

    /// All available versions.
    package static let all = [system] + [newer].compactMap(\.self)
}
