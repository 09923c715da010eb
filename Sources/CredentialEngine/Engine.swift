import Rules

/// Answers consumers' questions from the answer cache, from the keyring as the rules say, or by asking the authority
/// and the user.
///
/// It knows no consumer's protocol, no terminal and none of the process's streams.
public struct Engine: Sendable {
    let surroundings: Surroundings
    let terms: AgentTerms
    private let reading: @Sendable () throws -> CredentialSources

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - surroundings: The parts of the process that the engine depends on.
    ///   - terms: How to ask an agent, if one is configured.
    ///   - reading: Reads the settings; a remembered answer never needs them.
    public init(
        in surroundings: Surroundings, terms: AgentTerms = .init(),
        reading: @escaping @Sendable () throws -> CredentialSources
    ) {
        self.surroundings = surroundings
        self.terms = terms
        self.reading = reading
    }

    /// Answers a question as far as possible from what is stored, or by asking an agent.
    public func attempt(_ question: Question) -> Attempt {
        do throws(Refusal) {
            if let agent = surroundings.agent { return try relay(question, to: agent) }
            return switch question {
            case .get(let request): try get(request)
            case .store(let credential, let request): try store(credential, for: request)
            case .erase(let request, let refused): try erase(request, refused)
            case .list(let prefix): try list(labelled: prefix)
            }
        } catch {
            return .settled(.refused(error))
        }
    }

    /// Answers a question from this machine's rules and keyring, or by asking the agent that the settings name.
    ///
    /// Only this function and `attempt` know about agents; the work for each question is the same without one.
    func answer(
        _ question: Question, here: (CredentialSources) throws(Refusal) -> Attempt
    ) throws(Refusal) -> Attempt {
        let sources = try readSources()
        guard let agent = sources.configuration.agent else { return try here(sources) }
        return try relay(question, to: agent)
    }

    /// Asks an agent instead of using this machine's rules and keyring; nothing is stored on this machine.
    private func relay(_ question: Question, to agent: String) throws(Refusal) -> Attempt {
        .settled(try AgentClient(agent: agent, terms: terms).outcome(of: question))
    }

    /// Reads the settings that answers depend on.
    func readSources() throws(Refusal) -> CredentialSources {
        do { return try reading() } catch { throw .settings(error) }
    }
}
