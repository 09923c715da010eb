public import CredentialEngine
import JSON
public import Rules
public import Secrets

/// The protocol of one tool that asks for credentials, as a state machine without any input or output.
///
/// It is made of the program's arguments. Whoever runs it does what a `Turn` says, and gives it what came of that, until it
/// ends: git and docker need one request, cargo is greeted and then sends several, NuGet holds a long session, and Go calls
/// twice, the second time with what its server said.
public protocol Consumer: Sendable {
    /// How many seconds the tool waits for an answer; nil if it waits for a person.
    static var timeLimit: Int? { get }
    /// Whether the tool runs what failed again at once; then a person who was asked before it failed isn't asked again.
    static var triesAgain: Bool { get }
    /// Whether the tool can name more of a URL than its host.
    static var sendsPath: Bool { get }
    /// Whether the tool has whatever worked stored, so that nobody counts on it; others store what a person has typed.
    static var storesWhatWorked: Bool { get }
    /// Whether the tool is given stored passwords; some take tokens or keys only.
    static var takesPasswords: Bool { get }
    /// How the tool asks for a URL; some ask for its host only.
    ///
    /// - Parameters:
    ///   - url: the URL, with its scheme.
    ///   - tool: what people call the tool; several tools share some protocols.
    ///   - atTerminal: whether the tool runs at a terminal.
    /// - Returns: what its program is run with.
    static func inquiry(for url: String, of tool: String, atTerminal: Bool) -> Inquiry
    /// How every tool of the protocol asks for a URL.
    static func inquiry(for url: String, atTerminal: Bool) -> Inquiry
    /// What is done first.
    mutating func begin() -> Turn
    /// What is done next, now that this has come.
    mutating func take(_ event: ConsumerEvent) -> Turn
    /// What is done next, now that there is a list: servers, and whose what is kept for each is.
    mutating func take(list: [String: String]) -> Turn
}

extension Consumer {
    /// Most tools wait.
    public static var timeLimit: Int? { nil }
    /// Most tools take a failure for an answer.
    public static var triesAgain: Bool { false }

    /// Most tools store only what a person has them store.
    public static var storesWhatWorked: Bool { false }

    /// Most tools name the whole URL.
    public static var sendsPath: Bool { true }

    /// Most tools take a password where they take a token.
    public static var takesPasswords: Bool { true }

    /// Tools of one protocol mostly ask alike.
    public static func inquiry(for url: String, of tool: String, atTerminal: Bool) -> Inquiry {
        inquiry(for: url, atTerminal: atTerminal)
    }

    /// Some tools pass the URL alone.
    public static func inquiry(for url: String, atTerminal: Bool) -> Inquiry { Inquiry([url]) }

    /// Most tools never ask for a list.
    public mutating func take(list: [String: String]) -> Turn { take(.nothing) }
}

/// What comes of a turn.
public enum ConsumerEvent: Sendable, Equatable {
    /// The tool's bytes that were read; none at their end.
    case input([UInt8])
    /// The engine has this.
    case credential(Credential)
    /// The engine has nothing, or nothing to say.
    case nothing
    /// The engine refuses.
    case refused(ReportedRefusal)
}

/// A refusal as the tool's protocol may tell of it.
public struct ReportedRefusal: Sendable, Equatable {
    /// Where it lies.
    public var cause: Refusal.Cause
    /// What people read, for protocols that carry it; nothing in it is secret.
    public var message: String
    /// What people can do about it, each on one line; empty if nothing.
    public var remedies: [String]
    /// The exit status of a program that ends by it.
    public var status: Int32

    /// Makes a report.
    public init(cause: Refusal.Cause, message: String, remedies: [String] = [], status: Int32) {
        self.cause = cause
        self.message = message
        self.remedies = remedies
        self.status = status
    }

    /// Message and remedies in one line, for protocols that carry a single text.
    public var text: String { ([message] + remedies).joined(separator: "; ") }
}

/// What is to be done, in this order: write, complain, and then the next step.
public struct Turn: Sendable, Equatable {
    /// What the tool reads.
    public var output: [UInt8] = []
    /// What a person is told on stderr.
    public var complaint: Complaint?
    /// What a person is told there though nothing failed.
    public var note: String?
    /// How it goes on.
    public var next: Step

    /// How it goes on.
    public enum Step: Sendable, Equatable {
        /// With more of the tool's bytes.
        case read
        /// With what the engine says to this.
        case ask(Question)
        /// Not at all: the program ends with this status.
        case end(Int32)
    }

    /// What a person is told.
    public enum Complaint: Sendable, Equatable {
        /// The engine's refusal, which came last.
        case refusal
        /// The tool sent what can't be read.
        case unreadable(ProtocolError)
        /// The tool sent a value that can't be one.
        case invalid(RequestError)
        /// What is stored for this request can't be written in the tool's format.
        case unwritable(CredentialRequest)
        /// Something that only the tool's protocol knows: what is wrong, and what to do about it.
        case other(String, remedy: String? = nil)
    }

    /// Makes a turn.
    public init(output: [UInt8] = [], complaint: Complaint? = nil, note: String? = nil, _ next: Step) {
        self.output = output
        self.complaint = complaint
        self.note = note
        self.next = next
    }
    /// The tool's protocol ends with a complaint of its own.
    static func fail(_ message: String, remedy: String? = nil, status: Int32 = 1) -> Turn {
        Turn(complaint: .other(message, remedy: remedy), .end(status))
    }

    /// It ends with a document on a line of its own.
    static func answer(_ value: JSONValue) -> Turn { Turn(output: value.encoded() + [0x0A], .end(0)) }

    /// It ends with a text on a line of its own.
    static func answer(_ text: String) -> Turn { Turn(output: Array("\(text)\n".utf8), .end(0)) }
}
