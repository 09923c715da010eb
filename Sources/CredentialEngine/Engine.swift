import Rules

/// Answers consumers' questions from the answer cache, from the keyring as the rules say, or by asking the authority
/// and the user.
///
/// It knows no consumer's protocol, no terminal and none of the process's streams.
public struct Engine: Sendable {
    let surroundings: Surroundings
    private let terms: RelayTerms
    private let reading: @Sendable () throws -> CredentialSources

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - surroundings: The parts of the process that the engine depends on.
    ///   - terms: How to ask an agent, if one is configured.
    ///   - reading: Reads the settings; a remembered answer never needs them.
    public init(
        in surroundings: Surroundings, terms: RelayTerms = .init(),
        reading: @escaping @Sendable () throws -> CredentialSources
    ) {
        self.surroundings = surroundings
        self.terms = terms
        self.reading = reading
    }

    /// Answers a question as far as possible from what is stored, or by asking an agent.
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

    /// Asks an agent instead of using this machine's rules and keyring; nothing is stored on this machine.
    func relay(_ question: Question, to agent: String) throws(Refusal) -> Outcome {
        try Relay(agent: agent, terms: terms).outcome(of: question)
    }

    /// Reads the settings that answers depend on.
    func readSources() throws(Refusal) -> CredentialSources {
        do { return try reading() } catch { throw .settings(error) }
    }
}
