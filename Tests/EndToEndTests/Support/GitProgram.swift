import Foundation
import Testing

/// A git to test with.
struct GitProgram: CustomTestStringConvertible, Sendable {
    let name: String
    let path: String
    var testDescription: String { name }

    /// The machine's own.
    static let system = GitProgram(name: "the system's git", path: "/usr/bin/git")
    /// One that takes tokens as such (2.46), which script/newer-git makes; nil if script/test couldn't get it.
    static let newer = ProcessInfo.processInfo.environment["LANYARD_NEWER_GIT"].map {
        GitProgram(name: "a newer git", path: $0)
    }

    static let all = [system] + [newer].compactMap(\.self)
}
