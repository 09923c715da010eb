import Foundation
import TestSupport

/// What `lanyard describe` prints.
struct Description: Decodable {
    struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }

            let names: [Name]?
            let shouldDisplay: Bool
        }

        struct Example: Decodable {
            let command: String
        }

        let commandName: String
        let shouldDisplay: Bool
        let subcommands: [Command]?
        let arguments: [Argument]?
        let examples: [Example]?
        let manual: String?

        var options: Set<String> {
            Set(
                (arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }.map {
                    ($0.kind == "long" ? "--" : "-") + $0.name
                })
        }

        /// The command and all below it, except lanyard's own, each with its words on the command line.
        func all(_ path: [String] = []) -> [(path: [String], command: Command)] {
            [(path, self)]
                + (subcommands ?? []).filter { $0.shouldDisplay || $0.examples?.isEmpty == false }.flatMap {
                    $0.all(path + [$0.commandName])
                }
        }
    }

    let command: Command

    init() async throws {
        let ended = try await run(Built.lanyard, ["describe"], environment: [:])
        self = try JSONDecoder().decode(Self.self, from: Data(ended.output.utf8))
    }

    /// Whether a line names an existing command with valid options.
    func accepts(_ line: String) -> Bool {
        var here = command
        // What follows belongs to another program's command line, and what is quoted is one word.
        let words = line.replacing(#/"[^"]*"/#, with: "TEXT").split(separator: " ").dropFirst().prefix {
            $0 != "--" && $0 != "|"
        }.map(String.init)
        for (index, word) in words.enumerated() where word != "help" || index > 0 {
            if let next = here.subcommands?.first(where: { $0.commandName == word }) {
                here = next
            } else if word.hasPrefix("-"), word != "-" {
                let name = String(word.prefix { $0 != "=" })
                if !here.options.union(["--help", "--version"]).contains(name) { return false }
            } else if index == 0 {
                return false
            }
        }
        return true
    }
}
