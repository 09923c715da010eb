import ArgumentParser

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "See and remove what is stored.",
        discussion:
            "Passwords that git stored are neither shown nor removed; git's own `git credential reject` does that.",
        subcommands: [CacheListCommand.self, CacheClearCommand.self])
}
