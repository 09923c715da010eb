import Model
import Secrets

/// git's credential helper protocol (gitcredentials(7), git-credential(1)): one verb, one request on stdin, one answer
/// on stdout.
public struct GitProtocol: ToolProtocol {
    /// The operations of a credential helper.
    public enum Verb: String, Sendable, CaseIterable {
        case get, store, erase, capability
    }

    /// git stores every credential that worked, typed or not.
    public static let storesWhatWorked = true

    /// The version of the format of the answer to `capability`.
    public static let formatVersion = 0
    /// The capabilities of git's protocol that lanyard supports.
    public static let understood = GitRequest.Capability.allCases.map(\.rawValue)
    /// The longest request that is read, in bytes.
    static let longestRequest = 1 << 20

    private let verb: Verb
    private var parser = AttributeParser(longestInput: longestRequest)
    private var request = GitRequest()

    /// Creates a tool for one operation.
    public init(_ verb: Verb) {
        self.verb = verb
    }

    /// Returns the invocation of git 2.46 and later, which send the URL and their capabilities.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let lines = ["url=\(url)"] + understood.map { "capability[]=\($0)" }
        return Invocation(input: lines.map { $0 + "\n" }.joined())
    }

    /// Answers `capability`, which has no input (git 2.46), with the format's version and lanyard's capabilities.
    public mutating func begin() -> Turn {
        guard verb == .capability else { return Turn(.read) }
        let lines = ["version \(Self.formatVersion)"] + Self.understood.map { "capability \($0)" }
        return Turn(output: lines.flatMap { Array($0.utf8) + [0x0A] }, .end(Self.done))
    }

    /// Reads the request, asks the engine once, and answers.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .input(let bytes): read(bytes)
        case .credential(let credential): answer(credential)
        case .nothing: Turn(.end(Self.done))
        case .refused(let refusal): tell(refusal)
        }
    }

    // git ignores the status, but people who run the helper by hand don't.
    private static let done: Int32 = 0
    private static let failed: Int32 = 1

    /// Reads up to a blank line or the end of the input.
    private mutating func read(_ bytes: [UInt8]) -> Turn {
        do throws(ProtocolError) {
            if let block = try parser.consume(bytes).first { return try ask(block) }
            return bytes.isEmpty ? try ask(parser.finish() ?? Attributes()) : Turn(.read)
        } catch {
            return Turn(complaint: .unreadable(error), .end(Self.failed))
        }
    }

    private mutating func ask(_ block: Attributes) throws(ProtocolError) -> Turn {
        request = try GitRequest(block)
        switch verb {
        case .get: return Turn(.ask(.get(request.wanted)))
        case .erase: return Turn(.ask(.erase(request.wanted, .init(request.password, request.credential))))
        case .store:
            guard !request.isEphemeral, let credential = request.brought else { break }
            return Turn(.ask(.store(credential, request.wanted)))
        case .capability: break
        }
        return Turn(.end(Self.done))
    }

    private func answer(_ credential: Credential) -> Turn {
        do throws(ProtocolError) {
            return Turn(output: try request.answer(credential).encoded, .end(Self.done))
        } catch {
            return Turn(complaint: .unwritable(request.wanted), .end(Self.failed))
        }
    }

    /// What keeps git from asking its other helpers, and then the user at its own prompt.
    public static let quit = Array("quit=1\n".utf8)

    /// Reports a refusal on stderr.
    ///
    /// After an error for a URL that a rule maps, git must not ask for a user name and a password that no server there
    /// takes. If the keyring fails where only a password could be, `get` ends with status 0, so git asks its next helper.
    private func tell(_ refusal: Refusal) -> Turn {
        guard verb == .get else { return Turn(complaint: .refusal, .end(refusal.status)) }
        if refusal.isFinal, request.wanted.host != nil {
            return Turn(output: Self.quit, complaint: .refusal, .end(refusal.status))
        }
        return Turn(complaint: .refusal, .end(refusal.cause == .keyring ? Self.done : refusal.status))
    }
}
