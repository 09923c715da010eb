import ArgumentParser
import CredentialEngine
import Glibc
import SystemPackage
import TokenAcquisition

/// `lanyard renew`, which lanyard starts by itself: renews ahead of time what a tool was given.
///
/// Nobody sees it, and nobody is asked. What is to be renewed is on standard input.
struct RenewCommand: Command {
    static let name = "renew"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Renew what a tool was given.", shouldDisplay: false)

    static let examples: KeyValuePairs<String, String> = [:]

    /// Seconds after which it ends, whatever it waits for: longer than a plugin has.
    private static let longest: UInt32 = 180

    mutating func run(in context: CommandContext) async throws {
        alarm(Self.longest)
        guard let renewal = try RenewalRequest(Self.bytes(from: context.input)) else {
            throw ExitCode(ExitStatus.usage.rawValue)
        }
        let options = InteractionOptions.Values(isInteractive: false, timing: .ahead)
        let engine = CredentialEngine(in: context.surroundings) { try Session(context, options: options).sources }
        guard await engine.renew(renewal.request, answeredBy: renewal.mark) else {
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }

    private static func bytes(from input: FileDescriptor) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= RenewalRequest.longest {
            let more = try [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
                count = try input.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}
