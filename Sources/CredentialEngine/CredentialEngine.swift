import Rules

/// Answers what consumers ask: with what was answered before, else with what the rules say is stored, else by the authority
/// and the person.
///
/// It knows no consumer's protocol, and neither the terminal nor the process's streams.
public struct CredentialEngine: Sendable {
    let surroundings: Surroundings
    private let terms: RelayTerms
    private let reading: @Sendable () throws -> CredentialSources

    /// Makes an engine.
    ///
    /// - Parameters:
    ///   - surroundings: what of the process counts.
    ///   - terms: how an agent is asked, if one is.
    ///   - reading: reads the settings, which an answer from before never needs.
    public init(
        in surroundings: Surroundings, terms: RelayTerms = .init(),
        reading: @escaping @Sendable () throws -> CredentialSources
    ) {
        self.surroundings = surroundings
        self.terms = terms
        self.reading = reading
    }

    /// Goes as far as what is stored goes, or an agent.
    public func attempt(_ question: Question) -> Attempt {
        do throws(Refusal) {
            if let agent = surroundings.agent { return .settled(try relay(question, to: agent)) }
            switch question {
            case .get(let request): return try get(request)
            case .store(let credential, let request): try store(credential, for: request)
            case .erase(let request, let refused): try erase(request, refused)
            case .list(let prefix): return .settled(.list(try servers(labelled: prefix)))
            }
            return .settled(.nothing)
        } catch {
            return .settled(.refused(error))
        }
    }

    /// Has an agent answer instead of this machine, which keeps nothing then.
    func relay(_ question: Question, to agent: String) throws(Refusal) -> Outcome {
        try Relay(agent: agent, terms: terms).outcome(of: question)
    }

    /// What answers come from; reads the settings.
    func readSources() throws(Refusal) -> CredentialSources {
        do { return try reading() } catch { throw .settings(error) }
    }
}
