import ArgumentParser

struct CacheCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "List and remove stored tokens and accounts.",
        discussion:
            "Passwords that git stored are neither listed nor removed; `git credential reject` removes them.",
        subcommands: [CacheListCommand.self, CacheClearCommand.self])

    static let examples: KeyValuePairs = ["See what is stored": "lanyard cache list"]
}
