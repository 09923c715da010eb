import Addresses
package import Model
package import Rules
import Secrets
package import Terminal
package import Tools

/// The helpers that git asks, in order.
package struct GitHelpers: Sendable, Equatable {
    /// A helper and the file that names it.
    package struct Helper: Sendable, Equatable {
        package let value: String
        package let file: String

        package init(value: String, file: String) { (self.value, self.file) = (value, file) }

        /// The words of the command, which git has a shell run; words that can't be told apart if a quote isn't closed.
        fileprivate var words: [String] {
            let command = String(value.hasPrefix("!") ? value.dropFirst() : value[...])
            return ShellWords.split(command) ?? command.pieces(between: " ").map(String.init)
        }

        /// The name of the program, without its folder.
        private var program: String { words.first?.pieces(between: "/").last.map(String.init) ?? "" }

        /// Whether it is lanyard, with any options.
        package var isLanyard: Bool {
            program == "git-credential-lanyard" || program == "lanyard" && words.first?.hasPrefix("./") == false
        }

        /// Whether it may store what git passes to it; unknown programs may.
        package var mayKeep: Bool { !isLanyard && !getsOnly }

        /// Whether it ignores `store`, as git-credential-oauth and the command-line tools of GitHub and GitLab do.
        private var getsOnly: Bool {
            guard value.hasPrefix("!") else { return name == "oauth" }
            return ["gh", "glab"].contains(program) && words.dropFirst() == ["auth", "git-credential"]
        }

        /// The helper's name, without its options or a shell command, which may contain a secret.
        package var name: String {
            if value.hasPrefix("!") { return isLanyard ? "lanyard" : "a shell command" }
            let prefix = "git-credential-"
            return (program.hasPrefix(prefix) ? String(program.dropFirst(prefix.count)) : program)
                .displayable(limit: 60)
        }
    }

    package let all: [Helper]

    /// Finds the helpers for a URL, or those for every URL.
    ///
    /// An empty value discards the helpers before it (gitcredentials(7)).
    package init(_ entries: [GitConfiguration.Entry], for request: CredentialRequest?) {
        var helpers: [Helper] = []
        for entry in entries {
            guard let place = entry.place(of: "helper"), Self.applies(place, to: request) else { continue }
            if entry.value.isEmpty {
                helpers = []
            } else {
                helpers.append(Helper(value: entry.value, file: entry.file))
            }
        }
        all = helpers
    }

    /// Finds the helpers that git may ask about a host, whatever the path and the user are; nil stands for every host.
    ///
    /// An empty value discards the helpers before it only if it counts for the whole host.
    package init(_ entries: [GitConfiguration.Entry], anywhereAt host: URLPattern?) {
        var helpers: [Helper] = []
        for entry in entries {
            guard let place = entry.place(of: "helper"), Self.mayApply(place, at: host) else { continue }
            if !entry.value.isEmpty {
                helpers.append(Helper(value: entry.value, file: entry.file))
            } else if Self.applies(place, to: host?.request) {
                helpers = []
            }
        }
        all = helpers
    }

    package var hasLanyard: Bool { all.contains(where: \.isLanyard) }
    package var isLanyardAlone: Bool { hasLanyard && all.allSatisfy(\.isLanyard) }
    /// Returns the helpers that may store lanyard's tokens; git before 2.46 passes tokens to all helpers.
    package func keepers(_ version: ToolVersion) -> [Helper] {
        hasLanyard && !version.takesTokens ? all.filter(\.mayKeep) : []
    }

    /// The helpers that may answer before lanyard.
    package var beforeLanyard: [Helper] { Array(all.prefix { !$0.isLanyard }) }

    package var names: String { all.isEmpty ? "no helper" : all.map(\.name).joined(separator: ", ") }

    /// Whether git's sections for a place count for some URL of a host, or for some URL at all.
    package static func mayApply(_ place: String, at host: URLPattern?) -> Bool {
        guard let host, !applies(place, to: host.request) else { return true }
        guard let other = URLPattern(StrictURL.scheme(of: place) != nil ? place : "\(host.scheme)://\(place)"),
            other.scheme == host.scheme, other.host.port == host.host.port
        else { return false }
        let (labels, others) = (host.host.labels, other.host.labels)
        return labels.count == others.count && zip(labels, others).allSatisfy { $0 == $1 || $0 == "*" || $1 == "*" }
    }

    /// Whether git's sections for a place count for a request, or for every one.
    package static func applies(_ place: String, to request: CredentialRequest?) -> Bool {
        guard !place.isEmpty else { return true }
        guard let request else { return false }
        if place.hasSuffix("://") { return place.dropLast(3) == request.scheme ?? "" }
        let pattern = URLPattern(StrictURL.scheme(of: place) != nil ? place : "\(request.scheme ?? "https")://\(place)")
        return pattern?.fit(request) != nil
    }

    /// Returns the places for which git's configuration names lanyard.
    package static func lanyardPlaces(_ entries: [GitConfiguration.Entry]) -> [String] {
        entries.filter { Helper(value: $0.value, file: $0.file).isLanyard }
            .compactMap { $0.place(of: "helper") }.filter { !$0.isEmpty }
    }
}

extension GitHelpers {
    /// A lanyard that git is configured to run but can't find.
    package struct Missing: Sendable, Equatable {
        package let program: String
        /// The URL that it is configured for; nil for all.
        package let place: String?

        /// The command that writes lanyard's current path into git's configuration.
        package var remedy: ShellCommand {
            "lanyard unconfigure git\(last: place) && lanyard configure git\(last: place)"
        }
    }

    /// Returns the first lanyard that git can't find among the helpers for a URL, or for every URL.
    package static func missing(
        _ entries: [GitConfiguration.Entry], at place: String?, _ context: CommandContext
    ) async -> Missing? {
        let request = place.flatMap { try? CredentialRequest(url: $0) }
        for helper in GitHelpers(entries, for: request).all where helper.isLanyard {
            guard let program = await helper.missingProgram(context) else { continue }
            let isEverywhere = GitHelpers(entries, for: nil).all.contains(helper)
            return Missing(program: program, place: isEverywhere ? nil : place)
        }
        return nil
    }
}

extension GitHelpers.Helper {
    /// Returns the program that git would look for, on `PATH` and among its own, but not find; nil if it exists, or if
    /// a shell has to find it.
    fileprivate func missingProgram(_ context: CommandContext) async -> String? {
        guard !value.hasPrefix("!"), !value.utf8.contains(where: { "$`~*?[".utf8.contains($0) }), let word = words.first
        else { return nil }
        let isPath = word.hasPrefix("/")
        let program = isPath ? word : "git-credential-\(word)"
        guard context.program(program) == nil else { return nil }
        if !isPath, let own = try? await Git(context: context).run(["--exec-path"]).output.pieces(between: "\n").first,
            context.program("\(own)/\(program)") != nil
        {
            return nil
        }
        return program.displayable(limit: 200)
    }
}

extension GitConfiguration.Entry {
    /// Returns the text between `credential.` and a variable: a URL, or empty for all; nil for any other key.
    package func place(of variable: String) -> String? {
        let end = ".\(variable)"
        guard key.hasPrefix("credential."), key.hasSuffix(end) else { return nil }
        let place = key.utf8.dropFirst("credential.".utf8.count).dropLast(end.utf8.count)
        return String(Substring(place.drop { $0 == UInt8(ascii: ".") }))
    }
}
