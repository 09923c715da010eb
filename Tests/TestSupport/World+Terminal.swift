import Foundation

extension World {
    /// Runs a program at a terminal of 80 columns, and answers its questions one after another.
    ///
    /// The terminal is the program's only input and output; the result's output is what it showed. `^C` and `^D` are
    /// keys.
    package func atTerminal(
        _ program: [String], answering dialogue: [(question: String, answer: String)],
        _ extra: [String: String] = [:]
    ) async throws -> Ended {
        let script = dialogue.flatMap { [$0.question, $0.answer] }
        return try await run(
            Built.checkout + "/Tests/TestSupport/Scripts/at-terminal", script + ["--"] + program,
            environment: environment.merging(extra) { $1 }, folder: folder + "/work")
    }

    /// Runs lanyard with this text as the system's configuration file.
    package func lanyard(
        _ arguments: [String], system file: String, _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        let path = folder + "/system.toml"
        try file.write(toFile: path, atomically: true, encoding: .utf8)
        return try await run(
            Built.checkout + "/Tests/TestSupport/Scripts/with-system-file",
            [path, "\(folder)/bin/lanyard"] + arguments, input: input,
            environment: environment.merging(extra) { $1 }, folder: folder + "/work")
    }

    /// Signs in accounts for the rule of a path, one after another.
    package func signIn(_ users: String..., path: String = "common/hello.git") async throws {
        for user in users {
            let login = try await lanyard(
                ["login", "\(sandbox.resource)/\(path)", "--account", user], browser(as: user))
            guard login.status == 0 else { throw WorldError.signIn("\(login)") }
        }
    }

    /// The path of the file with the selected accounts.
    package var selectionFile: String { folder + "/home/.local/state/lanyard/selection" }
}

/// The world isn't in the state that a test requires.
package enum WorldError: Error {
    case signIn(String)
    case rules(String)
    case server(String)
}
