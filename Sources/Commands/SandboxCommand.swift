import Addresses
import ArgumentParser
import CommandKit
import Glibc
import Terminal

struct SandboxCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "sandbox", abstract: "Run a local Entra to try things without a tenant.",
        discussion: "Serves git repositories that need a token, until Ctrl-C. For its options: lanyard sandbox --help")

    static let examples: KeyValuePairs = ["Start it, then follow what it prints": "lanyard sandbox"]

    @Argument(parsing: .captureForPassthrough, help: "The sandbox's arguments.")
    var arguments: [String] = []

    mutating func run(in context: CommandContext) async throws {
        let folder = context.executable.pieces(between: "/").dropLast().joined(separator: "/")
        let places = ["/\(folder)/lanyard-sandbox", "/\(folder)/../lib/lanyard/lanyard-sandbox"]
        guard let program = places.first(where: { access($0, X_OK) == 0 }) else {
            throw CommandError(
                "lanyard-sandbox is not installed",
                hints: [
                    Package.sandbox.hint(),
                    Hint("from the sources", run: "script/install --with-sandbox"),
                ])
        }
        let passed = arguments.first == "--" ? Array(arguments.dropFirst()) : arguments
        // Its help lists its commands; any other option is one of serve's.
        let isServing = passed.first.map { $0.hasPrefix("-") && !["-h", "--help"].contains($0) } ?? true
        let words = [program] + (isServing ? ["serve"] : []) + passed
        try ProgramInPlace(words: words, variables: [:]).run()
    }
}
