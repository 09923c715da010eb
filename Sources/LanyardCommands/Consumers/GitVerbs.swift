import ArgumentParser
import ConsumerProtocols

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
    mutating func run() async throws { try await serve(.get, interaction.values) }
}

/// `lanyard store`.
struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep the password on stdin.", discussion: CredentialFormat.note)
    mutating func run() async throws { try await serve(.store, .init()) }
}

/// `lanyard erase`.
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget the password or token on stdin.", discussion: CredentialFormat.note)
    mutating func run() async throws { try await serve(.erase, .init()) }
}

/// `lanyard capability`.
struct Capability: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Tell what of git's protocol lanyard understands.")
    mutating func run() async throws { try await serve(.capability, .init()) }
}

/// Serves git for the argument parser.
private func serve(_ verb: GitConsumer.Verb, _ options: InteractionOptions.Values) async throws {
    var run = ConsumerRun(GitConsumer(verb), in: .current, options)
    let status = await run.toTheEnd()
    guard status == ExitStatus.done.rawValue else { throw ExitCode(status) }
}
