import ArgumentParser
import CredentialEngine
import Files
import SystemPackage
import Terminal
import TokenAcquisition

/// `lanyard renew`, which lanyard starts by itself to renew a tool's credential ahead of time.
///
/// It has no visible output and asks nobody. Standard input says what to renew.
struct RenewCommand: Command {
    static let name = "renew"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Renew what a tool was given.", shouldDisplay: false)

    static let examples: KeyValuePairs<String, String> = [:]

    /// The time limit for everything, in seconds; it is longer than a plugin's.
    private static let longest: UInt32 = 180

    mutating func run(in context: CommandContext) async throws {
        UninterruptedProcess.begin(endingAfter: Self.longest)
        guard
            let renewal = try RenewalRequest(
                OpenFile.bytes(from: context.input.rawValue, atMost: RenewalRequest.longest + 1))
        else {
            throw ExitCode(ExitStatus.usage.rawValue)
        }
        let options = InteractionOptions.Values(isInteractive: false, timing: .ahead, mayRedeem: true)
        let engine = Engine(in: context.surroundings) { try Session(context, options: options).sources }
        guard await engine.renew(renewal.request, answeredBy: renewal.mark) else {
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }
}
