import ArgumentParser
import ConsumerProtocols

/// What stdin and stdout hold.
private enum CredentialFormat {
    static let note = "In git's key=value format; see git-credential-lanyard(1)."
}

struct GetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Answer the credential request on stdin.", usage: "lanyard get [<options>]",
        discussion: CredentialFormat.note)
    @OptionGroup var interaction: InteractionOptions
    mutating func run(in context: CommandContext) async throws { try await serve(.get, interaction.values, context) }
}

struct StoreCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Keep the password on stdin.", discussion: CredentialFormat.note)
    mutating func run(in context: CommandContext) async throws { try await serve(.store, .init(), context) }
}

struct EraseCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Forget the password or token on stdin.", discussion: CredentialFormat.note)
    mutating func run(in context: CommandContext) async throws { try await serve(.erase, .init(), context) }
}

struct CapabilityCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "capability", abstract: "Tell what of git's protocol lanyard understands.")
    mutating func run(in context: CommandContext) async throws { try await serve(.capability, .init(), context) }
}

/// Serves git for the argument parser.
private func serve(
    _ verb: GitConsumer.Verb, _ options: InteractionOptions.Values, _ context: CommandContext
) async throws {
    var run = ConsumerRun(GitConsumer(verb), in: context, options)
    let status = await run.toTheEnd()
    guard status == ExitStatus.done.rawValue else { throw ExitCode(status) }
}
