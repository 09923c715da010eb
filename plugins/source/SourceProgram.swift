import Addresses
import PluginWire
import Secrets
import Subprocess
import SystemPackage

/// A run of a source's program.
struct SourceProgram: Sendable {
    let words: [String]
    let lookup: PluginLookup

    /// More than any password and its notes.
    private static let longest = 64 * 1024

    /// Runs the program, with what the user typed on its standard input, and returns its output.
    ///
    /// - Throws: `unavailable` if it isn't installed, or fails: then it is locked, or has no such entry, and its standard error
    ///   says which.
    func output(given input: Secret?) async throws(PluginError) -> String {
        do {
            let text = input.map { $0.reveal() + "\n" } ?? ""
            let program: Executable = words[0].hasBytes("/") ? .path(FilePath(words[0])) : .name(words[0])
            let result = try await run(
                program, arguments: Arguments(Array(words.dropFirst())), input: .string(text),
                output: .bytes(limit: Self.longest), error: .string(limit: Self.longest))
            guard result.terminationStatus.isSuccess else {
                throw failure(result.standardError, result.terminationStatus)
            }
            guard let output = String(validating: result.standardOutput, as: UTF8.self) else {
                throw PluginError(
                    .unavailable,
                    "\(words[0].displayable(limit: 100)) printed something that is not UTF-8 for \(lookup.entry)",
                    hint: "change the entry, or have the program print UTF-8")
            }
            return output
        } catch let error as PluginError {
            throw error
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw PluginError(
                .unavailable, "\(words[0].displayable(limit: 100)) is not installed",
                hint: "install it, or change the rule's `source`")
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            throw PluginError(
                .unavailable, "\(words[0].displayable(limit: 100)) printed more than \(Self.longest / 1024) KiB")
        } catch {
            throw PluginError(
                .unavailable, "\(words[0].displayable(limit: 100)) could not be run",
                hint: "see whether it is there and executable: ls -l \(words[0].quotedForShell)")
        }
    }

    /// The error with what the program says: its reason may be in any line.
    private func failure(_ text: String, _ status: TerminationStatus) -> PluginError {
        let lines = text.pieces(between: "\n").map { $0.trimmed(of: " \t\r") }.filter { !$0.isEmpty }
        var reason = lines.joined(separator: " ").displayable(limit: 300)
        if reason.isEmpty, case .exited(let code) = status { reason = "exit status \(code)" }
        return PluginError(
            .unavailable,
            "\(lookup.source) has nothing for \(lookup.entry), or is locked\(reason.isEmpty ? "" : ": \(reason)")",
            hint: lookup.unlocking)
    }
}
