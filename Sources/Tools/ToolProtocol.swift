import JSON
public import Model
public import Secrets
public import Terminal

/// The protocol of one tool that asks for credentials, as a state machine without any input or output.
///
/// A tool is created from the program's arguments. The caller carries out each `Turn` and passes the result back,
/// until a turn ends the program. git and docker send one request, cargo is greeted and sends several, NuGet holds a
/// long session, and Go calls twice, the second time with its server's answer.
public protocol ToolProtocol: Sendable {
    /// The number of seconds that the tool waits for an answer; nil if it waits for a user.
    static var timeLimit: Int? { get }
    /// Whether the tool immediately runs a failed program again; if so, a user who was asked before isn't asked again.
    static var triesAgain: Bool { get }
    /// Whether the tool can send more of a URL than its host.
    static var sendsPath: Bool { get }
    /// Whether the tool stores every credential that worked, rather than only those that the user typed; if so, nobody
    /// relies on it being stored.
    static var storesWhatWorked: Bool { get }
    /// Whether the tool accepts stored passwords; some accept tokens or keys only.
    static var takesPasswords: Bool { get }
    /// Returns how a tool asks for a URL, which is its only argument unless the tool says otherwise.
    ///
    /// - Parameters:
    ///   - url: The URL, with its scheme.
    ///   - tool: The tool's name for users; several tools share some protocols.
    ///   - atTerminal: Whether the tool runs at a terminal.
    /// - Returns: The arguments, environment and input of the program that the tool runs.
    static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation
    /// Returns the first turn.
    mutating func begin() -> Turn
    /// Returns the next turn after an event.
    mutating func receive(_ event: ToolEvent) -> Turn
    /// Returns the next turn after a list: servers with the user name of each one's credential.
    mutating func receive(list: [String: String]) -> Turn
}

extension ToolProtocol {
    /// Most tools wait for the user.
    public static var timeLimit: Int? { nil }
    /// Most tools accept a failure as the answer.
    public static var triesAgain: Bool { false }

    /// Most tools store only what the user asks them to store.
    public static var storesWhatWorked: Bool { false }

    /// Most tools send the whole URL.
    public static var sendsPath: Bool { true }

    /// Most tools accept a password wherever they accept a token.
    public static var takesPasswords: Bool { true }

    /// Returns an invocation with the URL as the only argument.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        Invocation([url])
    }

    /// Treats a list as no credential; most tools never ask for one.
    public mutating func receive(list: [String: String]) -> Turn { receive(.nothing) }
}

/// The result of a turn.
public enum ToolEvent: Sendable, Equatable {
    /// Bytes from the tool; empty at the end of its input.
    case input([UInt8])
    /// The engine returned a credential.
    case credential(Credential)
    /// The engine has no credential, or has finished storing or erasing.
    case nothing
    /// The engine refused.
    case refused(Refusal)
}

/// The instructions for one step, carried out in this order: write, complain, take the next step.
public struct Turn: Sendable, Equatable {
    /// The bytes to write to the tool.
    public var output: [UInt8] = []
    /// The error to show on stderr.
    public var complaint: Complaint?
    /// A note to show on stderr although nothing failed.
    public var note: Message?
    /// The next step.
    public var next: Step

    /// The ways to continue.
    public enum Step: Sendable, Equatable {
        /// Reads more of the tool's bytes.
        case read
        /// Asks the engine.
        case ask(Question)
        /// Ends the program with this exit status.
        case end(Int32)
    }

    /// An error for the user.
    public enum Complaint: Sendable, Equatable {
        /// The engine's last refusal.
        case refusal
        /// The tool sent input that can't be read, or an invalid value.
        case unreadable(ProtocolError)
        /// The stored credential for this request can't be written in the tool's format.
        case unwritable(CredentialRequest)
        /// An error that only the tool's protocol knows, and its remedy.
        case other(Message, remedy: Message? = nil)
    }

    /// Creates a turn.
    public init(output: [UInt8] = [], complaint: Complaint? = nil, note: Message? = nil, _ next: Step) {
        self.output = output
        self.complaint = complaint
        self.note = note
        self.next = next
    }
    /// The tool's protocol ends with a complaint of its own.
    static func fail(_ message: Message, remedy: Message? = nil, status: Int32 = 1) -> Turn {
        Turn(complaint: .other(message, remedy: remedy), .end(status))
    }

    /// It ends with a document on a line of its own.
    static func answer(_ value: JSONValue) -> Turn { Turn(output: value.encoded() + [0x0A], .end(0)) }

    /// It ends with a text on a line of its own.
    static func answer(_ text: String) -> Turn { Turn(output: Array("\(text)\n".utf8), .end(0)) }
}

/// How a tool asks for a URL: the arguments, environment and input of the program that it runs.
public struct Invocation: Sendable, Equatable {
    /// The arguments.
    public var arguments: [String]
    /// The variables that the tool sets.
    public var environment: [String: String]
    /// Everything that the tool writes to stdin.
    public var input: String

    /// Creates an invocation.
    public init(_ arguments: [String] = [], environment: [String: String] = [:], input: String = "") {
        self.arguments = arguments
        self.environment = environment
        self.input = input
    }
}

extension ToolProtocol {
    /// Reads the whole invocation that the tool was created for; the turn asks the engine, or ends with all output so
    /// far.
    public mutating func begin(with invocation: Invocation) -> Turn {
        var turn = begin()
        var output: [UInt8] = []
        for bytes in [Array(invocation.input.utf8), []] where turn.next == .read {
            turn = receive(.input(bytes))
            output += turn.output
            turn.output = output
        }
        return turn
    }
}
