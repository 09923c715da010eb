import Rules
import Secrets
import Terminal

extension ConfigurationTables {
    /// Throws if a rule couldn't be written, before the user is asked anything.
    ///
    /// - Throws: `Failure` also if the file has a rule for the same URLs.
    func requireRoom(for pattern: URLPattern) throws(Failure) {
        if let other: Rule = try table(where: { $0.pattern.means(pattern) }) { throw taken(by: other) }
    }

    /// Whether the file has a rule for the same URLs.
    func has(_ pattern: URLPattern) -> Bool {
        (try? table { (rule: Rule) in rule.pattern.means(pattern) }) != nil
    }

    /// Adds a rule to the file, unless it has one for the same URLs that isn't to be replaced.
    func write(_ rule: Rule, replacing isReplaced: Bool = false) throws(Failure) {
        if isReplaced { _ = try removeTable { (old: Rule) in old.pattern.means(rule.pattern) } }
        if let other = try add(rule, unless: { $0.pattern.means(rule.pattern) }) { throw taken(by: other) }
    }

    /// Returns the command that removes a rule in the file.
    func removal(of rule: Rule) -> ShellCommand {
        "lanyard rule remove\(flag: "--system", if: scope == .system) \(rule.pattern.text)"
    }

    /// Returns a hint to remove a request's rule and add it again; nil if there is no rule, or if it is in another
    /// file.
    func remaking(ruleOf request: TokenRequest) -> Hint? {
        guard case .rule(let pattern) = request.origin,
            let rule = configuration.rules.first(where: { $0.pattern.text == pattern }), rule.file == file
        else { return nil }
        return Hint("or to replace the rule, remove it", run: removal(of: rule))
    }

    private func taken(by other: Rule) -> Failure {
        Failure(taken: other, context, hint: Hint("change it there, or remove it first", run: removal(of: other)))
    }
}

extension Failure {
    /// Creates the error for an existing rule where a new one was requested.
    init(taken other: Rule, _ context: CommandContext, hint: Hint) {
        let url = other.pattern.text.displayable(limit: 200)
        self.init("there is a rule for \(url) already, at \(other.place(context))", hints: [hint])
    }
}
