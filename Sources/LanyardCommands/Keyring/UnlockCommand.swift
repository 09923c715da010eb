import ArgumentParser
import Files
import Glibc
import Rules
import Secrets
import SystemPackage
import Terminal
import TokenStore

struct UnlockCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Unlock the keyring without a desktop.",
        discussion: """
            Asks for the password at a terminal, or reads it from standard input. Creates the keyring if there is none. \
            For gnome-keyring only; other keyring services unlock in a window of their own.
            """)

    static let examples: KeyValuePairs = [
        "Unlock it at a terminal, such as over SSH": "lanyard unlock",
        "In a systemd service, with a credential as the password": #"lanyard unlock <"$CREDENTIALS_DIRECTORY/keyring""#,
    ]

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true))
        let console = session.context.console
        guard session.configuration.deviceMode != .shared else {
            console.note("this device is shared: its keyring is in memory and needs no password")
            return
        }
        let state = session.store.state()
        switch state {
        case .unlocked: console.note("the keyring is unlocked already")
        case .locked:
            let door = try KeyringDoor(session.context, group: session.configuration.group)
            try door.unlock(with: try await password(session.context, ["password of the keyring"]))
            console.note("the keyring is unlocked")
        case .noDefaultCollection:
            let door = try KeyringDoor(session.context, group: session.configuration.group)
            try await door.make(
                with: try await password(session.context, ["password of the new keyring", "repeat the password"]))
            console.note("the keyring was created and is unlocked")
        default: throw Failure(StoreError(state: state) ?? StoreError(.broken))
        }
    }

    /// The password: what a person answers to each of the questions, or what is on stdin.
    private func password(_ context: CommandContext, _ questions: [String]) async throws(Failure) -> Secret {
        guard isatty(context.input.rawValue) == 1 else { return try context.readPassword() }
        guard let terminal = ControllingTerminal(context.console) else { throw Self.noPassword }
        var answers: [String] = []
        for question in questions {
            let answer = await terminal.ask("lanyard: \(question): ", echo: false)
            guard let answer, !answer.isEmpty else { throw Self.noPassword }
            answers.append(answer)
        }
        guard answers.allSatisfy({ Array($0.utf8) == Array(answers[0].utf8) }) else {
            throw Failure("the two passwords differ", hints: [Hint("try again", run: "lanyard unlock")])
        }
        return Secret(answers[0])
    }

    fileprivate static let noPassword = Failure(
        "no password was given",
        hints: [Hint("type it at a terminal, or pass it on standard input", run: "lanyard unlock")])
}

extension CommandContext {
    /// The longest password that is read from stdin, in bytes.
    private static let longestPassword = 4096

    /// Reads a password from stdin: all of it, less a line feed at its end.
    fileprivate func readPassword() throws(Failure) -> Secret {
        guard var bytes = try? OpenFile.bytes(from: input.rawValue, atMost: Self.longestPassword + 2) else {
            throw Failure("standard input cannot be read")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw UnlockCommand.noPassword }
        guard bytes.count <= Self.longestPassword, !bytes.contains(0), !bytes.contains(UInt8(ascii: "\n")),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw Failure(
                "standard input holds no valid password",
                hints: ["it must be one line of UTF-8, of at most \(Self.longestPassword) bytes"])
        }
        return Secret(text)
    }
}
