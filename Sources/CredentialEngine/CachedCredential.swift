import Addresses
import Claims
import PluginHost
public import Rules
import Secrets
import TokenAcquisition
import TokenStore

/// The token that one request was answered with before, whichever consumer asked.
///
/// It is found by all that decides it: the request, the variables and the state of the files of configuration and
/// selection. How a person would be asked doesn't decide it, and so doesn't count.
public struct CachedCredential: Sendable {
    private let request: CredentialRequest
    private let surroundings: Surroundings
    private let name: AnswerCacheKey

    /// Looks at what decides the answer; nil if each answer must be made anew.
    public init?(_ request: CredentialRequest, in surroundings: Surroundings) {
        guard !Configuration.turnsOffAnswerCache(environment: surroundings.environment) else { return nil }
        guard request.wish.claims == nil, request.wish.signIn[.prompt] == nil, request.refusedToken == nil,
            !request.wwwAuthenticate.contains(where: \.bringsClaims)
        else { return nil }
        self.request = request
        self.surroundings = surroundings
        // Which of the two counts is in the configuration, which isn't read for this.
        let selections = [false, true].map { SelectionFile(environment: surroundings.environment, isShared: $0)?.path }
        name = surroundings.answers.name(
            fields: Self.fields(of: request) + Self.fields(of: surroundings),
            files: Self.settings(in: surroundings) + selections.compactMap(\.self))
    }

    /// The token, if it was given before and still counts.
    public var credential: Credential? {
        surroundings.answers.answer(name, now: surroundings.now).flatMap {
            Credential(remembered: $0, in: surroundings.environment)
        }
    }

    /// What a token that is about to be found is kept under; nil if it can't be kept.
    ///
    /// To be asked for before anything is read that decides the answer.
    func place() -> Place? {
        surroundings.answers.key().map { Place(remembered: self, key: $0, settings: settings) }
    }

    /// Where a token is kept that is on its way.
    struct Place: Sendable {
        fileprivate let remembered: CachedCredential
        fileprivate let key: AnswerEncryptionKey
        /// The state of the settings before they were read.
        fileprivate let settings: AnswerCacheKey

        /// Keeps the token for as long as it needs no renewal.
        ///
        /// Getting it anew was itself a change, which replaced the key: only another look at the keyring tells what counts
        /// since. After a sign-in it is taken at once, because the person has chosen an account as well, and after an exchange,
        /// because docker and skopeo ask several times for one command; what a renewal brought is left to the next request, which
        /// looks anyway, unless it was ahead of time, which nobody waits for.
        func keep(
            _ token: AcquiredToken, at issuer: PluginIssuer?, for wanted: TokenRequest, from sources: CredentialSources,
            isAhead: Bool = false
        ) {
            let now = remembered.surroundings.now
            guard sources.configuration.answerCache, wanted.claims == nil, token.freshUntil(now: now) > now
            else { return }
            switch token.source {
            case .cache: remembered.write(token, at: issuer, by: wanted.variables(in: sources), key)
            case .renewed where !token.isExchanged && !isAhead: return
            case .renewed, .signedIn, .authenticated, .broker: keepStored(wanted, at: issuer, from: sources)
            }
        }

        /// Keeps what is stored by now.
        ///
        /// What was asked for comes from the configuration of before: if that has been edited since, it is nobody's answer.
        private func keepStored(
            _ wanted: TokenRequest, at issuer: PluginIssuer?, from sources: CredentialSources
        ) {
            guard let after = CachedCredential(remembered.request, in: remembered.surroundings),
                after.settings == settings, let key = remembered.surroundings.answers.key(),
                case .answer(let stored) = sources.acquirer.decide(wanted).step
            else { return }
            after.write(stored, at: issuer, by: wanted.variables(in: sources), key)
        }
    }

    /// Keeps a token that counts as long as these variables are as they are now.
    private func write(
        _ token: AcquiredToken, at issuer: PluginIssuer?, by variables: Set<String>, _ key: AnswerEncryptionKey
    ) {
        let decisive = DecisiveVariables(variables, in: surroundings.environment)
        guard let bytes = Credential(token, at: issuer).remembered(by: decisive) else { return }
        let now = surroundings.now
        surroundings.answers.keep(bytes, as: name, now: now, until: token.freshUntil(now: now), key: key)
    }

    /// What stands for the present state of the files that nothing here writes.
    private var settings: AnswerCacheKey {
        surroundings.answers.name(fields: [], files: Self.settings(in: surroundings))
    }

    /// The configuration's files and the plugins' folders.
    private static func settings(in surroundings: Surroundings) -> [String] {
        let userFile = Configuration.userFile(environment: surroundings.environment)
        return [Configuration.systemFile] + [userFile].compactMap(\.self)
            + PluginRegistry.folders(environment: surroundings.environment, executable: surroundings.executable)
    }

    /// What of a request decides which token it gets.
    static func fields(of request: CredentialRequest) -> [String?] {
        let wish = request.wish
        let challenges = request.wwwAuthenticate.filter(\.namesAuthority)
        return [
            request.scheme, request.host?.text, request.path, request.username, wish.authority, wish.tenant,
            wish.clientID, wish.account, wish.identity, String(wish.scopes.count), String(challenges.count),
        ] + wish.scopes + challenges
    }

    /// What of the surroundings does: lanyard's own version and variables, and where files and plugins are looked for.
    private static func fields(of surroundings: Surroundings) -> [String?] {
        let variables = surroundings.environment.filter { $0.key.hasPrefix("LANYARD_") }
            .map { "\($0.key)=\($0.value)" }.sorted()
        return [surroundings.version, surroundings.executable, String(variables.count)] + variables
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

extension TokenRequest {
    /// The variables that decide who an identity is and what it gets; none of a person's request.
    fileprivate func variables(in sources: CredentialSources) -> Set<String> {
        guard let identity else { return [] }
        return sources.plugins.registry.identityVariables.union([identity.secretVariable].compactMap(\.self))
    }
}
