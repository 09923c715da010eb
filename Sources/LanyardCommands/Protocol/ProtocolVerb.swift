import ArgumentParser
import CredentialProtocol
import Secrets
import SystemPackage

/// git's verbs.
enum ProtocolVerb: String, CaseIterable {
    case get, store, erase, capability

    /// How far a verb came without waiting for anybody.
    enum Beginning {
        case ended(ExitStatus)
        case pending(any PendingVerb)
    }

    /// Runs the verb on stdin and stdout as far as what is stored goes, and reports what goes wrong on stderr.
    func begin(_ options: InteractionOptions.Values) -> Beginning {
        let context = CommandContext.current
        do throws(Failure) {
            switch self {
            case .get:
                if let rest = try CredentialGet(context, options).answerFromStore() { return .pending(rest) }
            case .store: try CredentialStore(context).run()
            case .erase: try CredentialErase(context).run()
            case .capability: context.console.write(Array(Self.capabilities.utf8))
            }
            return .ended(.done)
        } catch {
            context.console.report(error)
            return .ended(error.status)
        }
    }

    /// The answer to `capability`: the format's version, then what lanyard understands (git 2.46).
    private static var capabilities: String {
        (["version \(formatVersion)"] + understood.map { "capability \($0)" }).map { $0 + "\n" }.joined()
    }

    /// The version of the format of `capability`'s answer.
    static let formatVersion = 0

    /// The capabilities of git's protocol that lanyard understands.
    static let understood = ["authtype", "state"]
}

/// What remains of a verb once it has to wait for somebody.
protocol PendingVerb: Sendable {
    /// Does the rest, and reports what goes wrong on stderr.
    func finish() async -> ExitStatus
}

/// What stdin and stdout hold.
private enum CredentialFormat {
    static let note = "In git's key=value format; see git-credential-lanyard(1)."
}

/// `lanyard get`.
struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer the credential request on stdin.", usage: "lanyard get [<options>]",
        discussion: CredentialFormat.note)
    @OptionGroup var interaction: InteractionOptions
    mutating func run() async throws { try await ProtocolVerb.get.finish(interaction.values) }
}

/// `lanyard store`.
struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep the password on stdin.", discussion: CredentialFormat.note)
    mutating func run() async throws { try await ProtocolVerb.store.finish(.init()) }
}

/// `lanyard erase`.
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget the password or token on stdin.", discussion: CredentialFormat.note)
    mutating func run() async throws { try await ProtocolVerb.erase.finish(.init()) }
}

/// `lanyard capability`.
struct Capability: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Tell what of git's protocol lanyard understands.")
    mutating func run() async throws { try await ProtocolVerb.capability.finish(.init()) }
}

extension ProtocolVerb {
    /// Runs the verb for the argument parser.
    fileprivate func finish(_ options: InteractionOptions.Values) async throws {
        let status: ExitStatus
        switch begin(options) {
        case .ended(let end): status = end
        case .pending(let get): status = await get.finish()
        }
        guard status == .done else { throw ExitCode(status.rawValue) }
    }
}

extension CommandContext {
    /// The longest request that is read: 1 MiB.
    private static let longestRequest = 1 << 20

    /// Reads a request from stdin, up to a blank line or its end.
    func readRequest() throws(Failure) -> CredentialRequest {
        do {
            var parser = AttributeParser(longestInput: Self.longestRequest)
            var buffer = [UInt8](repeating: 0, count: 8192)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try input.read(into: $0) }
                if let block = try parser.consume(buffer[..<count]).first { return try CredentialRequest(block) }
                if count == 0 { return try CredentialRequest(try parser.finish() ?? Attributes()) }
            }
        } catch let error as ProtocolError {
            throw Failure(error)
        } catch let error as RequestError {
            throw Failure(error)
        } catch {
            throw Failure("stdin cannot be read")
        }
    }
}
