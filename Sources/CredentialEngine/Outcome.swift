internal import AnswerCache
public import Model
import Secrets

/// The engine's answer to a question.
public indirect enum Outcome: Sendable {
    case credential(Credential)
    /// The servers with the user name of each one's credential; no secrets.
    case list([String: String])
    /// There is no credential, and the tool may try another source; for `store` and `erase`, it is done.
    case nothing
    /// There is no credential, for this reason.
    case refused(EngineError)
}

/// How far the engine gets by itself.
public indirect enum EngineReply: Sendable {
    /// The question is answered.
    case outcome(Outcome)
    /// The engine has to wait for another process, the authority or the user, which this does.
    ///
    /// It is separate because waiting needs Swift's threads, and starting them takes longer than most answers.
    case later(@Sendable () async -> Outcome)

    static func waiting(for body: @escaping @Sendable () async throws(EngineError) -> Outcome) -> EngineReply {
        .later { do throws(EngineError) { return try await body() } catch { return .refused(error) } }
    }
}

extension Question.Refused {
    /// The fingerprints of everything in the secrets that may be a token; nil if there are no secrets.
    var fingerprints: Set<String>? {
        let secrets = [password, authorization].compactMap(\.self)
        return secrets.isEmpty ? nil : secrets.reduce(into: []) { $0.formUnion($1.fingerprints) }
    }
}
