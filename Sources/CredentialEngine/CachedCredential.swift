import Addresses
import AnswerCache
import Claims
import Files
import JSON
import Keyring
public import Model
import PluginHost
import Rules
import Secrets
import TokenAcquisition

/// The remembered answer to a request, whichever tool asked.
///
/// Its cache key covers everything that decides the answer: the request, the environment, and the state of the
/// configuration and account selection files. How the user would be asked doesn't affect the answer, so it isn't part
/// of the key.
public struct CachedCredential: Sendable {
    private let request: CredentialRequest
    private let surroundings: Surroundings
    private let name: AnswerCacheKey

    /// Computes the cache key for a request; nil if the request needs a fresh answer.
    public init?(_ request: CredentialRequest, in surroundings: Surroundings) {
        guard !Configuration.turnsOffAnswerCache(environment: surroundings.environment) else { return nil }
        guard request.explicit.claims == nil, request.explicit.signIn[.prompt] == nil, request.refusedToken == nil,
            !request.wwwAuthenticate.contains(where: \.bringsClaims)
        else { return nil }
        self.request = request
        self.surroundings = surroundings
        // The configuration says which of the two files applies, but it isn't read for this.
        let selections = [false, true].map { SelectionFile(environment: surroundings.environment, isShared: $0)?.path }
        name = surroundings.answers.name(
            fields: Self.fields(of: request) + Self.fields(of: surroundings),
            files: Self.settings(in: surroundings) + selections.compactMap(\.self))
    }

    /// The remembered token; nil if there is none or it is no longer valid.
    public var credential: Credential? {
        surroundings.answers.answer(name, now: surroundings.now).flatMap {
            Credential(remembered: $0, in: surroundings.environment)
        }
    }

    /// Returns the place to remember a token that is about to be acquired; nil if it can't be remembered.
    ///
    /// Call this before reading anything that decides the answer.
    func slot() -> Slot? {
        surroundings.answers.key().map { Slot(remembered: self, key: $0, settings: settings) }
    }

    /// The place to remember a token that is being acquired.
    struct Slot: Sendable {
        fileprivate let remembered: CachedCredential
        fileprivate let key: AnswerEncryptionKey
        /// The state of the settings before they were read.
        fileprivate let settings: AnswerCacheKey

        /// Remembers the token until it needs renewal.
        ///
        /// A token that didn't come from the cache has changed the keyring, which replaced the encryption key, so the
        /// keyring has to be read again. After a sign-in this happens at once, because the user has also chosen an
        /// account. After an exchange it happens at once because docker and skopeo ask several times per command, and
        /// after a renewal ahead of time because nobody waits for it. After any other renewal it is left to the next
        /// request, which reads the keyring anyway.
        func keep(
            _ token: AcquiredToken, at issuer: PluginIssuer?, for wanted: TokenRequest, from sources: CredentialSources,
            isAhead: Bool = false
        ) {
            let now = remembered.surroundings.now
            guard sources.configuration.answerCache, wanted.claims == nil, token.freshUntil(now: now) > now
            else { return }
            switch token.source {
            case .cache, .source: remembered.write(token, at: issuer, by: wanted.variables(in: sources), key)
            case .renewed where !token.isExchanged && !isAhead: return
            case .renewed, .signedIn, .authenticated, .broker: keepStored(wanted, at: issuer, from: sources)
            }
        }

        /// Remembers what the keyring holds now.
        ///
        /// `wanted` was resolved with the old configuration. If that has been edited since, nothing is remembered.
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

    /// Remembers a token for as long as these variables keep their values.
    private func write(
        _ token: AcquiredToken, at issuer: PluginIssuer?, by variables: Set<String>, _ key: AnswerEncryptionKey
    ) {
        let decisive = DecisiveVariables(variables, in: surroundings.environment)
        guard let bytes = Credential(token, at: issuer).remembered(by: decisive) else { return }
        let now = surroundings.now
        surroundings.answers.keep(bytes, as: name, now: now, until: token.freshUntil(now: now), key: key)
    }

    /// The present state of the files that the engine never writes.
    private var settings: AnswerCacheKey {
        surroundings.answers.name(fields: [], files: Self.settings(in: surroundings))
    }

    /// Returns the paths of the configuration files and the plugin folders.
    private static func settings(in surroundings: Surroundings) -> [String] {
        let userFile = Configuration.userFile(environment: surroundings.environment)
        return [Configuration.systemFile, Configuration.appsFolder] + ((try? Configuration.appsFiles()) ?? [])
            + [userFile].compactMap(\.self)
            + PluginRegistry.folders(environment: surroundings.environment, executable: surroundings.executable)
    }

    /// Returns the parts of a request that decide which token it gets.
    static func fields(of request: CredentialRequest) -> [String?] {
        let explicit = request.explicit
        let challenges = request.wwwAuthenticate.filter(\.namesAuthority)
        return [
            request.scheme, request.host?.text, request.path, request.username, explicit.authority, explicit.tenant,
            explicit.clientID, explicit.account, explicit.identity, explicit.tokenName, String(explicit.scopes.count),
            String(challenges.count),
        ] + explicit.scopes + challenges
    }

    /// Returns the parts of the surroundings that decide the answer: lanyard's version and variables, and where it
    /// finds files and plugins.
    private static func fields(of surroundings: Surroundings) -> [String?] {
        let variables = surroundings.environment.filter { $0.key.hasPrefix("LANYARD_") }
            .map { "\($0.key)=\($0.value)" }.sorted()
        return [surroundings.version, surroundings.executable, String(variables.count)] + variables
    }
}

extension String {
    /// Whether a challenge asks for claims, as in continuous access evaluation.
    fileprivate var bringsClaims: Bool { lowercased().hasBytes("claims") }

    /// Whether a challenge names an authority, and so perhaps a tenant.
    ///
    /// The parameters in question are `authority`, `authorization` and `authorization_uri`.
    fileprivate var namesAuthority: Bool { lowercased().hasBytes("authori") }
}

extension TokenRequest {
    /// Returns the variables that decide which identity is used and what it gets; empty for a user's request.
    fileprivate func variables(in sources: CredentialSources) -> Set<String> {
        guard let identity else { return [] }
        return sources.plugins.registry.identityVariables.union([identity.secretVariable].compactMap(\.self))
    }
}

/// A note that the last request found no password, for example because another helper stores this host's passwords.
///
/// With such a note, the next `get` still searches, but opens a session with the keyring only if it finds an item: a
/// session takes the provider longer than everything else. An outdated note costs as much time as a valid one saves.
struct PasswordAbsence {
    private let key: String
    private let notes: SharedNotes
    private let keyring: any Keyring
    private let isNoted: Bool

    init(_ request: CredentialRequest, in surroundings: Surroundings) {
        // A tool that sends whole URLs has more of them than there is room for notes.
        let path = request.reach == .place ? request.path : nil
        let parts = [request.scheme, request.host?.text, path, request.username]
        key = "vain\n" + parts.map { $0.map { "\($0.utf8.count) \($0)" } ?? "-" }.joined(separator: "\n")
        keyring = surroundings.keyring
        notes = SharedNotes(runtimeFolderOf: surroundings.environment)
        isNoted = notes.note(about: key) != nil
    }

    /// Opens a session with the keyring if secrets are likely to be read.
    func prepare() {
        if !isNoted { keyring.open() }
    }

    func note(isMiss: Bool) {
        guard isMiss != isNoted else { return }
        if isMiss { notes.write(.bool(true), about: key) } else { notes.remove(about: key) }
    }
}

/// The variables and files that decide an answer, and a digest of the variables' values, and of the state of the files and of those
/// that the variables name; the answer is valid only while the digest is the same.
struct DecisiveVariables: Sendable {
    let names: [String]
    let digest: String

    init(_ names: Set<String>, in environment: [String: String]) {
        self.names = names.sorted()
        let values = self.names.map { name in
            let (folder, file) = name.cut(at: "/") ?? (name[...], "")
            let value = environment[String(folder)] ?? ""
            let path = value.hasPrefix("~/") ? (environment["HOME"] ?? "") + value.dropFirst() : value
            return "\(name)=\(value)\(Self.state(ofFile: file.isEmpty ? path : "\(path)/\(file)"))"
        }
        digest = values.joined(separator: "\0").shortDigest
    }

    /// What differs once a file has been replaced; empty if the value names none.
    private static func state(ofFile path: String) -> String {
        guard path.utf8.first == UInt8(ascii: "/"), let file = FileStatus(of: path), file.isRegular else { return "" }
        return "\0\(file.inode) \(file.size) \(file.modifiedNanoseconds)"
    }
}
