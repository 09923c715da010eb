import ArgumentParser
import Rules
import SettingsFile
import Terminal

/// Whose rules a command changes.
struct RulePlaceOptions: ParsableArguments {
    @Flag(help: "For all users of this machine, in /etc/lanyard/config.toml.")
    var system = false

    var scope: Session.Scope { system ? .system : .user }
}

extension Session {
    /// The file that rules are written to and taken from.
    var rulesFile: String { scope == .system ? Configuration.systemFile : userFile }

    /// The file, to be changed.
    ///
    /// - Throws: `SettingsError` if the environment has no place for one.
    func fileToChange() throws(SettingsError) -> String {
        guard scope == .system || Configuration.userFile(environment: context.environment) != nil else {
            throw SettingsError(
                file: userFile, line: nil, message: "there is no place for it", hint: "set HOME or LANYARD_CONFIG")
        }
        return rulesFile
    }

    /// Refuses to make a rule that could not be written, before anything is asked.
    ///
    /// - Throws: `Failure` also if the file has a rule for the same URLs.
    func requireRoom(for pattern: URLPattern) throws(Failure) {
        try requireRulesUnlocked()
        try changingRules { file throws(SettingsError) in
            try file.requireWritable()
            return file.rule(for: pattern)
        }.map { other throws(Failure) in throw taken(by: other) }
    }

    /// Writes a rule into the file, unless it has one for the same URLs.
    func write(_ rule: Rule) throws(Failure) {
        try requireRulesUnlocked()
        try changingRules { file throws(SettingsError) in
            if let other = file.rule(for: rule.pattern) { return other }
            try file.add(rule, schema: InstalledFiles(context).schema)
            return nil
        }.map { other throws(Failure) in throw taken(by: other) }
    }

    /// Takes the rule for a pattern out of the file.
    ///
    /// - Returns: whether there was one.
    func removeRule(for pattern: URLPattern) throws(Failure) -> Bool {
        try requireRulesUnlocked()
        let removed = try changingRules { file throws(SettingsError) in
            guard let rule = file.rule(for: pattern) else { return nil }
            try file.remove(rule)
            return rule
        }
        return removed != nil
    }

    /// The command that removes a rule of the file.
    func removal(of rule: Rule) -> ShellCommand {
        "lanyard rule remove\(flag: "--system", if: scope == .system) \(rule.pattern.text)"
    }

    /// How to be rid of the rule that a request comes from, to make it anew; nil if it is another's, or no rule's.
    func remaking(ruleOf request: TokenRequest) -> Hint? {
        guard case .rule(let pattern) = request.origin,
            let rule = configuration.rules.first(where: { $0.pattern.text == pattern }), rule.file == rulesFile
        else { return nil }
        return Hint("or to make the rule anew, remove it", run: removal(of: rule))
    }

    private func taken(by other: Rule) -> Failure {
        Failure(taken: other, context, hint: Hint("change it there, or remove it first", run: removal(of: other)))
    }

    private func changingRules(_ change: (RuleFile) throws(SettingsError) -> Rule?) throws(Failure) -> Rule? {
        do throws(SettingsError) {
            return try change(try RuleFile(reading: fileToChange()))
        } catch {
            guard scope == .system, error.lacksPermission else { throw Failure(error) }
            throw Failure(error.description, hints: [context.asRoot])
        }
    }

    /// Refuses to change rules of the user's that the system's policy locks.
    private func requireRulesUnlocked() throws(Failure) {
        guard scope == .user, configuration.isLocked("rule") else { return }
        throw Failure(
            "rules are locked by \(Configuration.systemFile)", hints: ["ask whoever administers this machine"])
    }
}
