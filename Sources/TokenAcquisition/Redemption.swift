import Claims
import JSON
import Keyring
import Model
public import PluginWire
import Secrets

/// A refresh token to redeem and what its result is for: the order that one process gives another through a pipe.
///
/// Many authorities accept a refresh token once only. From the moment at which the request is on its way, the result
/// must be awaited and stored, whatever becomes of whoever needs it: a signal, a time limit or a hang-up would otherwise
/// cost the user the sign-in.
public struct Redemption: Sendable {
    /// The token that is needed.
    ///
    /// Of its sign-in, only what also decides about stored tokens and renewals is passed on.
    var request: TokenRequest
    var token: RefreshTokenRecord
    var isAnew: Bool
    /// When the run began, as in `AcquisitionRun`.
    var began: Int
    /// The refresh tokens that were of no use.
    var tried: Set<Secret>
    /// The timing by which the caller decided.
    public private(set) var timing: RenewalTiming
    /// Seconds to wait for another process that redeems the same token.
    var patience: Double
    /// Whether the keyring's provider may ask the user.
    public private(set) var mayPrompt: Bool

    /// The highest number of bytes of an order.
    public static let longest = 1 << 20
    /// In milliseconds, far above what anyone waits.
    private static let longestPatience = 3_600_000

    init(_ token: RefreshTokenRecord, _ run: AcquisitionRun, _ timing: RenewalTiming, patience: Double, mayPrompt: Bool)
    {
        (request, self.token, self.timing, self.patience) = (run.request, token, timing, patience)
        (isAnew, began, tried, self.mayPrompt) = (run.isAnew, run.began, run.tried, mayPrompt)
    }
}

/// What came of a redemption.
public enum RedemptionOutcome: Sendable, Equatable {
    /// This token can be handed out.
    case token(AcquiredToken)
    /// Only the user can help; with the reason, if the authority gave one.
    case nobody(PluginError?)
    /// The store holds something else by now, and has to be read again.
    case changed
    /// It failed, and the account's next refresh token may be tried.
    case failed(PluginError)
    /// There is no token, for this reason.
    case refused(AcquisitionError)
}

/// What the redeeming process tells the one that waits for it: a line of JSON each, the outcome last.
public enum RedemptionMessage: Sendable, Equatable {
    case progress(AcquisitionProgress)
    /// A line of the conversation with the plugin, for `LANYARD_TRACE`.
    case trace(String)
    case outcome(RedemptionOutcome)
}

/// Has refresh tokens redeemed by a process that no signal, time limit or hang-up of this one reaches.
public protocol Redeemer: Sendable {
    /// Starts such a process, and waits for its outcome for some seconds at most; it goes on without this one.
    func outcome(
        of redemption: Redemption, within seconds: Double, tell: @Sendable (AcquisitionProgress) -> Void
    ) async -> RedeemerAnswer
}

/// The answer of a `Redeemer`.
public enum RedeemerAnswer: Sendable {
    case outcome(RedemptionOutcome)
    /// The process needs longer.
    case late
    /// A signal ends this process.
    case interrupted
    /// The process ended without an outcome.
    case lost
    /// No process can be started.
    case unavailable
}

// MARK: - JSON

extension Redemption {
    /// Parses an order; nil if the bytes are something else.
    public init?(_ bytes: [UInt8]) {
        guard let json = JSONValue(bytes: bytes, atMost: Self.longest), let wanted = json["request"]?.members,
            let members = json["token"]?.members,
            case .refreshToken(let token)? = CredentialRecord(kind: .refreshToken, members: members),
            let timing = json["timing"]?.string.flatMap(RenewalTiming.init), let began = json["began"]?.wholeNumber,
            let patience = json["patience"]?.wholeNumber, (0...Self.longestPatience).contains(patience),
            let request = TokenRequest(redemption: wanted)
        else { return nil }
        (self.request, self.token, self.timing, self.began) = (request, token, timing, began)
        self.patience = Double(patience) / 1000
        isAnew = json["anew"] == true
        mayPrompt = json["prompts"] == true
        tried = Set(json["tried"]?.elements.compactMap(\.string).map(Secret.init) ?? [])
    }

    /// The order as JSON, with the refresh token.
    public var encoded: [UInt8] {
        JSONValue.object([
            "request": .object(request.redemptionMembers), "timing": .string(timing.rawValue),
            "token": .object(CredentialRecord.refreshToken(token).members), "began": .integer(Int64(began)),
            "patience": .integer(Int64((patience * 1000).rounded())), "anew": .bool(isAnew),
            "prompts": .bool(mayPrompt),
            "tried": JSONValue(strings: tried.map { $0.reveal() }.sorted()),
        ]).encoded()
    }
}

extension TokenRequest {
    private static var texts: [(String, WritableKeyPath<TokenRequest, String?>)] {
        [
            ("kind", \.kind), ("host", \.host), ("path", \.path), ("account", \.account), ("hint", \.userHint),
            ("claims", \.claims), ("prompt", \.prompt),
        ]
    }

    fileprivate var redemptionMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "authority": .string(authority), "configured": .bool(authorityIsConfigured), "client": .string(clientID),
            "scopes": JSONValue(strings: scopes), "resources": JSONValue(strings: resourceIndicators),
            "hint_is_account": .bool(userHintIsAccount), "token": .string(token.rawValue),
            "port": JSONValue(signIn.redirectPort),
        ]
        if let exchange {
            members["exchange"] = [
                "name": .string(exchange.name), "audience": .string(exchange.audience),
                "path": exchange.isPerPath ? .string(exchange.path) : .null,
                "parameters": .object(exchange.parameters.mapValues(JSONValue.string)),
            ]
        }
        for (name, member) in Self.texts { members[name] = self[keyPath: member].map(JSONValue.string) }
        return members
    }

    fileprivate init?(redemption members: [String: JSONValue]) {
        guard let authority = members["authority"]?.string, let client = members["client"]?.string else { return nil }
        self.init(
            authority, isConfigured: members["configured"] == true, clientID: client,
            scopes: members["scopes"]?.elements.compactMap(\.string) ?? [])
        resourceIndicators = members["resources"]?.elements.compactMap(\.string) ?? []
        userHintIsAccount = members["hint_is_account"] == true
        token = members["token"]?.string.flatMap(Kind.init) ?? .access
        signIn.redirectPort = members["port"]?.wholeNumber
        for (name, member) in Self.texts { self[keyPath: member] = members[name]?.string }
        if let named = members["exchange"], let name = named["name"]?.string, let host = named["audience"]?.string {
            exchange = TokenExchange(name, for: host, path: named["path"]?.string)
            exchange?.parameters = named["parameters"]?.members?.compactMapValues(\.string) ?? [:]
        }
    }
}

extension RedemptionMessage {
    /// Parses a line; nil if it is none of these.
    public init?(_ line: some Sequence<UInt8>) {
        guard let json = JSONValue(bytes: line, atMost: Redemption.longest) else { return nil }
        if let text = json["trace"]?.string {
            self = .trace(text)
        } else if let step = json["step"]?.string, let progress = AcquisitionProgress(redemption: step, json) {
            self = .progress(progress)
        } else if let outcome = RedemptionOutcome(json) {
            self = .outcome(outcome)
        } else {
            return nil
        }
    }

    /// The message as JSON with a line feed; nil if it isn't passed on.
    public var line: [UInt8]? {
        let json: JSONValue? =
            switch self {
            case .trace(let text): ["trace": .string(text)]
            case .progress(let progress): progress.redemptionJSON
            case .outcome(let outcome): outcome.json
            }
        return json.map { $0.encoded() + [UInt8(ascii: "\n")] }
    }
}

extension AcquisitionProgress {
    fileprivate var redemptionJSON: JSONValue? {
        switch self {
        case .usingKeyring: ["step": "keyring"]
        case .waitingForAnother(let process, let work):
            ["step": "waiting", "pid": JSONValue(process.map(Int.init)), "work": .string(work.rawValue)]
        case .renewing(let authority): ["step": "renewing", "authority": .string(authority)]
        case .authenticating, .exchanging, .askingBroker, .startingSignIn, .signedIn, .skippingDamaged,
            .withoutUserInfo:
            nil
        }
    }

    fileprivate init?(redemption step: String, _ json: JSONValue) {
        switch step {
        case "keyring": self = .usingKeyring
        case "waiting":
            let process = json["pid"]?.wholeNumber.flatMap(Int32.init(exactly:))
            self = .waitingForAnother(process, json["work"]?.string.flatMap(SharedWork.init) ?? .renewal)
        case "renewing":
            guard let authority = json["authority"]?.string else { return nil }
            self = .renewing(authority)
        default: return nil
        }
    }
}

extension RedemptionOutcome {
    fileprivate var json: JSONValue {
        switch self {
        case .token(let token): ["outcome": "token", "token": .object(token.members)]
        case .nobody(let error): ["outcome": "nobody", "error": error.map { .object($0.members) } ?? .null]
        case .changed: ["outcome": "changed"]
        case .failed(let error): ["outcome": "failed", "error": .object(error.members)]
        case .refused(.plugin(let error, let name)):
            ["outcome": "plugin", "error": .object(error.members), "name": .string(name)]
        case .refused(.store(let error)):
            [
                "outcome": "store", "reason": .string(error.reason.rawValue), "detail": .string(error.detail),
                "provider": JSONValue(error.provider),
            ]
        case .refused(.scopesDeclined(let granted, let declined)):
            [
                "outcome": "declined", "granted": JSONValue(strings: granted),
                "declined": JSONValue(strings: declined),
            ]
        case .refused(.busy(let process, let work)):
            ["outcome": "busy", "pid": JSONValue(process.map(Int.init)), "work": .string(work.rawValue)]
        // The caller decides anew, and finds the same reason.
        case .refused: ["outcome": "changed"]
        }
    }

    fileprivate init?(_ json: JSONValue) {
        let error = json["error"]?.members.flatMap(PluginError.init(members:))
        switch json["outcome"]?.string {
        case "token":
            guard let token = json["token"]?.members.flatMap(AcquiredToken.init(members:)) else { return nil }
            self = .token(token)
        case "nobody": self = .nobody(error)
        case "changed": self = .changed
        case "failed":
            guard let error else { return nil }
            self = .failed(error)
        case "plugin":
            guard let error, let name = json["name"]?.string else { return nil }
            self = .refused(.plugin(error, name: name))
        case "store":
            var error = KeyringError(
                json["reason"]?.string.flatMap(KeyringError.Reason.init) ?? .broken,
                detail: json["detail"]?.string ?? "")
            error.provider = json["provider"]?.string
            self = .refused(.store(error))
        case "declined":
            let lists = ["granted", "declined"].map { json[$0]?.elements.compactMap(\.string) ?? [] }
            self = .refused(.scopesDeclined(granted: lists[0], declined: lists[1]))
        case "busy":
            let process = json["pid"]?.wholeNumber.flatMap(Int32.init(exactly:))
            self = .refused(.busy(process, json["work"]?.string.flatMap(SharedWork.init) ?? .renewal))
        default: return nil
        }
    }
}

extension AcquiredToken {
    private static var numbers: [(String, WritableKeyPath<AcquiredToken, Int?>)] {
        [("expires_on", \.expiresOn), ("refresh_on", \.refreshOn), ("due_on", \.dueOn)]
    }

    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "access_token": .string(accessToken.reveal()), "token_type": .string(tokenType),
            "scopes": JSONValue(strings: scopes), "realm": .string(realm), "source": .string(source.rawValue),
            "account": account.map { .object(CredentialRecord.account($0).members) } ?? .null,
            "basic_username": JSONValue(basicUsername), "exchanged": .bool(isExchanged),
            "fields": .object(fields.mapValues { .string($0.reveal()) }),
        ]
        for (name, member) in Self.numbers { members[name] = JSONValue(self[keyPath: member]) }
        return members
    }

    fileprivate init?(members: [String: JSONValue]) {
        guard let token = members["access_token"]?.string, let type = members["token_type"]?.string,
            let realm = members["realm"]?.string, let source = members["source"]?.string.flatMap(Source.init)
        else { return nil }
        self.init(forwarded: Secret(token), expiresOn: nil, realm: realm, basicUsername: nil)
        (tokenType, self.source) = (type, source)
        scopes = members["scopes"]?.elements.compactMap(\.string) ?? []
        basicUsername = members["basic_username"]?.string
        isExchanged = members["exchanged"] == true
        fields = members["fields"]?.members?.compactMapValues { $0.string.map(Secret.init) } ?? [:]
        for (name, member) in Self.numbers { self[keyPath: member] = members[name]?.wholeNumber }
        if let known = members["account"]?.members,
            case .account(let record)? = CredentialRecord(kind: .account, members: known)
        {
            account = record
        }
    }
}

extension PluginError {
    private static var texts: [(String, WritableKeyPath<PluginError, String?>)] {
        [
            ("hint", \.hint), ("error", \.error), ("suberror", \.suberror), ("correlation_id", \.correlationID),
            ("claims", \.claims),
        ]
    }

    /// The error as JSON's members; the message may be another than its own.
    func members(message: String? = nil) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "code": .string(code.rawValue), "message": .string(message ?? self.message),
            "error_codes": JSONValue(strings: errorCodes),
            "reasons": JSONValue(strings: reasons.map(\.rawValue).sorted()),
        ]
        for (name, member) in Self.texts { members[name] = self[keyPath: member].map(JSONValue.string) }
        return members
    }

    fileprivate var members: [String: JSONValue] {
        members().merging([
            "retry_after": JSONValue(retryAfter), "granted": JSONValue(strings: grantedScopes),
            "declined": JSONValue(strings: declinedScopes), "timeout": .bool(isTimeout),
        ]) { $1 }
    }

    /// Reads the members; nil if they aren't an error's.
    init?(members: [String: JSONValue]) {
        guard let code = members["code"]?.text.flatMap(Code.init) else { return nil }
        self.init(code, members["message"]?.text ?? code.rawValue)
        for (name, member) in Self.texts { self[keyPath: member] = members[name]?.text }
        errorCodes = members["error_codes"]?.elements.compactMap(\.text) ?? []
        reasons = Set(members["reasons"]?.elements.compactMap(\.text).compactMap(Reason.init) ?? [])
        retryAfter = members["retry_after"]?.wholeNumber
        grantedScopes = members["granted"]?.elements.compactMap(\.string) ?? []
        declinedScopes = members["declined"]?.elements.compactMap(\.string) ?? []
        isTimeout = members["timeout"] == true
    }
}
