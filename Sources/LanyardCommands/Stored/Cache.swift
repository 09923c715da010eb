import ArgumentParser

/// `lanyard cache`.
struct Cache: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "See and remove what is stored.",
        discussion:
            "Passwords that git stored are neither shown nor removed; git's own `git credential reject` does that.",
        subcommands: [CacheList.self, CacheClear.self])
}
