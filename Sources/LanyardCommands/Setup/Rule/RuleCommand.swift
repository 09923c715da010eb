import ArgumentParser
import CredentialProtocol
import JSON
import Rules
import SettingsFile

/// `lanyard rule`.
struct RuleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rule", abstract: "Say which URL needs a token from where.",
        subcommands: [RuleAdd.self, RuleList.self, RuleRemove.self], aliases: ["rules"])
}

/// `lanyard rule add`.
struct RuleAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a rule to your configuration.", usage: "lanyard rule add [<options>] <url>",
        discussion: "What is not given is asked for on a terminal. The rest of the file stays as it is.")

    @Argument(help: "The URLs: scheme, host (* is one label), port, path by whole segments.")
    var url: String

    @OptionGroup var options: RuleOptions

    mutating func run() async throws {
        let session = try Session()
        try session.requireRulesUnlocked()
        let pattern = try session.pattern(url)
        let draft = RuleDraft(session: session, pattern: pattern, options: options, asking: Asking(session.context))
        try session.write(try await draft.rule())
        let console = session.context.console
        let shown = pattern.text.displayable(limit: 500)
        console.note("added a rule for \(shown) to \(session.context.short(session.userFile))")
        if await pattern.lacksPath(session) {
            console.note("git does not send the path of \(shown) yet; next: lanyard configure git")
        } else {
            console.note("next: lanyard login \(shown)")
        }
    }
}

extension URLPattern {
    /// Whether the pattern has a path that git would not send along.
    fileprivate func lacksPath(_ session: Session) async -> Bool {
        guard hasPath, session.context.program("git") != nil else { return false }
        return await !GitConfiguration.sendsPath(for: text)
    }
}

/// `lanyard rule list`.
struct RuleList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the rules.")

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let session = try Session()
        let rules = session.configuration.rules
        let console = session.context.console
        if json {
            console.print(JSONValue.array(rules.map { $0.json(session) }).encoded(pretty: true))
            return
        }
        guard !rules.isEmpty else {
            console.note("there are no rules; add one: lanyard rule add URL")
            return
        }
        for rule in rules {
            console.print(rule.pattern.text.displayable(limit: 500))
            for (name, value) in rule.facts(session) { console.print("    \(name)  \(value)") }
        }
    }
}

extension Rule {
    fileprivate func facts(_ session: Session) -> [(String, String)] {
        let client = clientID ?? session.configuration.clientID.map { "\($0) (the default)" } ?? "none"
        var facts = [
            ("authority", authority.displayable()), ("client id", client.displayable()),
            ("scopes   ", scopes.joined(separator: " ").displayable()),
        ]
        if let account { facts.append(("account  ", account.displayable())) }
        if let kind { facts.append(("kind     ", kind.displayable())) }
        if let domainHint { facts.append(("domain   ", domainHint.displayable())) }
        for (name, value) in queryParameters.sorted(by: { $0.key < $1.key }) {
            facts.append(("parameter", "\(name)=\(value)".displayable()))
        }
        if let redirectPort { facts.append(("port     ", "\(redirectPort)")) }
        if let resetPolicy { facts.append(("reset    ", resetPolicy.displayable())) }
        return facts + [("from     ", place(session.context))]
    }

    fileprivate func json(_ session: Session) -> JSONValue {
        .object([
            "url": .string(pattern.text), "authority": .string(authority),
            "clientId": (clientID ?? session.configuration.clientID).map(JSONValue.string) ?? .null,
            "scopes": JSONValue(strings: scopes), "account": account.map(JSONValue.string) ?? .null,
            "kind": kind.map(JSONValue.string) ?? .null,
            "domainHint": domainHint.map(JSONValue.string) ?? .null,
            "queryParameters": .object(queryParameters.mapValues(JSONValue.string)),
            "redirectPort": redirectPort.map { .integer(Int64($0)) } ?? .null,
            "resetPolicy": resetPolicy.map(JSONValue.string) ?? .null, "file": .string(file),
            "line": line.map { .integer(Int64($0)) } ?? .null,
        ])
    }
}

/// `lanyard rule remove`.
struct RuleRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a rule from your configuration.",
        discussion: "The comment right above it goes too; the rest of the file stays as it is.")

    @Argument(help: "The rule's URL, as `lanyard rule list` shows it.")
    var url: String

    mutating func run() async throws {
        let session = try Session()
        try session.requireRulesUnlocked()
        let pattern = try session.pattern(url)
        do throws(SettingsError) {
            let file = try RuleFile(reading: session.userFile)
            if let rule = file.rule(for: pattern) {
                try file.remove(rule)
                return tell(pattern, session)
            }
        } catch {
            throw Failure(error)
        }
        throw missing(pattern, session)
    }

    private func tell(_ pattern: URLPattern, _ session: Session) {
        session.context.console.note(
            "removed the rule for \(pattern.text.displayable(limit: 500)) from \(session.context.short(session.userFile))"
        )
    }

    private func missing(_ pattern: URLPattern, _ session: Session) -> Failure {
        let other = session.configuration.rules.first { $0.pattern.means(pattern) }
        let hint = other.map { "there is one at \($0.place(session.context)), which is not yours to change" }
        return Failure(
            "there is no rule for \(pattern.text.displayable(limit: 200)) in \(session.context.short(session.userFile))",
            hints: [hint ?? "see which there are: lanyard rule list"])
    }
}
