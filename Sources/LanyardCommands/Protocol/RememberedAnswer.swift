import Addresses
import CredentialProtocol
import PluginHost
import Rules
import Secrets
import TokenAcquisition
import TokenStore

/// The answer to one request of `get` as it was given before.
///
/// It is found by all that decides it: the request, the variables and the state of the files of configuration and
/// selection. The options of `get` decide only how a person is asked, and so don't count.
struct RememberedAnswer: Sendable {
    private let request: CredentialRequest
    private let context: CommandContext
    private let name: AnswerName

    /// Looks at what decides the answer; nil where each answer must be made anew.
    init?(_ request: CredentialRequest, in context: CommandContext) {
        guard Self.mayBeKept(in: context), request.wish.claims == nil, request.wish.prompt == nil else { return nil }
        guard request.refusedToken == nil, !request.wwwAuthenticate.contains(where: \.bringsClaims) else { return nil }
        self.request = request
        self.context = context
        // Which of the two counts is in the configuration, which isn't read for this.
        let selections = [false, true].map { SelectionFile(environment: context.environment, isShared: $0)?.path }
        name = context.answers.name(
            fields: Self.fields(of: request) + Self.fields(of: context),
            files: Self.settings(in: context) + selections.compactMap(\.self))
    }

    private static func mayBeKept(in context: CommandContext) -> Bool {
        !Configuration.turnsOffAnswerCache(environment: context.environment)
    }

    /// The answer, where it was given before and still counts.
    var recalled: [UInt8]? { context.answers.answer(name, now: Int(context.now)) }

    /// Starts to find the answer, before anything is read that decides it; nil where it can't be kept.
    func begun() -> Begun? {
        context.answers.key().map { Begun(remembered: self, key: $0, settings: settings) }
    }

    /// An answer on its way.
    struct Begun: Sendable {
        fileprivate let remembered: RememberedAnswer
        fileprivate let key: AnswerKey
        /// The state of the settings before they were read.
        fileprivate let settings: AnswerName

        /// Keeps the answer for as long as its token needs no renewal.
        ///
        /// Where getting the token was itself a change, which replaced the key, what counts is what is stored after it.
        func keep(_ token: AcquiredToken, for wanted: TokenRequest, in session: Session) {
            let now = Int(remembered.context.now)
            guard session.configuration.answerCache, wanted.claims == nil, token.freshUntil > now else { return }
            guard token.source != .cache else { return remembered.write(token, key) }
            // The person may have chosen an account as well, which makes it another answer. What was asked for comes from
            // the configuration of before, though: where that has been edited since, it is nobody's answer.
            guard let renewed = RememberedAnswer(remembered.request, in: remembered.context),
                renewed.settings == settings, let key = remembered.context.answers.key(),
                case .token(let stored) = try? session.acquirer.stored(for: wanted)
            else { return }
            renewed.write(stored, key)
        }
    }

    private func write(_ token: AcquiredToken, _ key: AnswerKey) {
        guard let lines = try? token.answer.attributes(for: request) else { return }
        context.answers.keep(
            lines.encoded, as: name, now: Int(context.now), until: token.freshUntil, key: key)
    }

    /// What stands for the present state of the files that nothing here writes.
    private var settings: AnswerName { context.answers.name(fields: [], files: Self.settings(in: context)) }

    /// The configuration's files and the plugins' folders.
    private static func settings(in context: CommandContext) -> [String] {
        let userFile = Configuration.userFile(environment: context.environment)
        return [Configuration.systemFile] + [userFile].compactMap(\.self)
            + PluginRegistry.folders(environment: context.environment, executable: context.executable)
    }

    /// What of a request decides its answer.
    static func fields(of request: CredentialRequest) -> [String?] {
        let wish = request.wish
        let challenges = request.wwwAuthenticate.filter(\.namesAuthority)
        return [
            request.scheme, request.host?.text, request.path, request.username,
            request.capabilities.contains(.authtype) ? "authtype" : nil, request.mayContinue ? "state" : nil,
            wish.authority, wish.clientID, wish.account,
            String(wish.scopes.count), String(challenges.count),
        ] + wish.scopes + challenges
    }

    /// What of the surroundings does: lanyard's own version and variables, and where files and plugins are looked for.
    private static func fields(of context: CommandContext) -> [String?] {
        let variables = context.environment.filter { $0.key.hasPrefix("LANYARD_") }
            .map { "\($0.key)=\($0.value)" }.sorted()
        return [Version.current, context.executable, String(variables.count)] + variables
    }
}

extension String {
    /// Whether a challenge asks for claims, as continuous access evaluation does.
    fileprivate var bringsClaims: Bool { lowercased().contains("claims") }

    /// Whether a challenge names an authority, and so perhaps the tenant.
    ///
    /// The parameters that are heeded for it are `authority`, `authorization` and `authorization_uri`.
    fileprivate var namesAuthority: Bool { lowercased().contains("authori") }
}
