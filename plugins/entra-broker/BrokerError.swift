import JSON
import MicrosoftIdentity
import OAuth
import PluginWire
import Secrets
import SessionBus

/// The reason why the broker returned no token, and what the host should do about it.
struct BrokerError: Error, Equatable, Sendable {
    /// The consequence of the failure.
    enum Outcome: String, Sendable {
        /// There is no broker.
        case absent
        /// The broker is just starting.
        case retrySoon = "retry-soon"
        /// The broker hangs, crashed or sent an invalid answer.
        case failed
        /// The broker's answer must not be used.
        case refused
        /// The broker can't help.
        case nextWay = "next-way"
        /// The broker needs the user.
        case interaction
        /// The broker can't help now.
        case retryLater = "retry-later"
        /// The broker can't help until something is configured differently.
        case never
        /// The sign-in was cancelled.
        case cancelled
    }

    let outcome: Outcome
    /// The message for the user.
    let message: String
    /// The broker's own error; nil if it sent none.
    var error: BrokerErrorReply?

    init(_ outcome: Outcome, _ message: String) {
        self.outcome = outcome
        self.message = message
    }

    /// The token belongs to another account.
    static let otherAccount = BrokerError(.refused, "the broker returned a token for another account")
    /// What isn't there.
    static let absent = BrokerError(.absent, "there is no broker on the session bus")

    /// Creates the failure for a broker's error.
    init(_ error: BrokerErrorReply) {
        self.init(error.outcome, error.message)
        self.error = error
    }

    /// Creates the failure for a bus error.
    init(_ failure: BusError) {
        switch failure.reason {
        case .noLibrary: self.init(.absent, "the session bus can't be used: GIO is not installed")
        case .noBus: self.init(.absent, "there is no session bus")
        case .cancelled: self.init(.cancelled, "the wait for the broker was cancelled")
        case .timedOut: self.init(.failed, "the broker did not answer in time")
        case .broken: self.init(.failed, "the broker returned no usable answer")
        case .answered: self.init(busError: failure.name ?? "", failure.detail)
        }
    }

    private init(busError name: String, _ detail: String) {
        let prefix = "org.freedesktop.DBus.Error."
        let short = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.utf8.count)) : ""
        switch short {
        case "ServiceUnknown", "NameHasNoOwner": self = .absent
        case _ where short.hasPrefix("Spawn."): self.init(.absent, "the broker could not be started")
        case "UnknownObject": self.init(.retrySoon, "the broker is still starting")
        case "NoReply", "Timeout", "TimedOut", "Disconnected": self.init(.failed, "the broker ended without an answer")
        case "AccessDenied": self.init(.nextWay, "the session bus doesn't allow calls to the broker")
        default: self.init(.nextWay, "the broker can't help: \(detail.displayable(limit: 300))")
        }
    }
}

/// A broker's error.
struct BrokerErrorReply: Equatable, Sendable {
    /// The broker's number for the kind of error.
    let status: Int
    let subStatus: Int
    /// The authority's message, or the broker's.
    let context: String

    /// The kinds of error by number: Microsoft's name, and the consequence.
    private static let kinds: [Int: (name: String, outcome: BrokerError.Outcome)] = [
        // himmelblau always sends 0.
        0: ("Unexpected", .nextWay), 1: ("Reserved", .nextWay), 2: ("InteractionRequired", .interaction),
        3: ("NoNetwork", .retryLater), 4: ("NetworkTemporarilyUnavailable", .retryLater),
        5: ("ServerTemporarilyUnavailable", .retryLater), 6: ("ApiContractViolation", .never),
        7: ("UserCanceled", .cancelled), 8: ("ApplicationCanceled", .cancelled), 9: ("IncorrectConfiguration", .never),
        10: ("InsufficientBuffer", .nextWay), 11: ("AuthorityUntrusted", .never), 12: ("UserSwitch", .nextWay),
        13: ("AccountUnusable", .interaction), 14: ("UserDataRemovalRequired", .nextWay),
        15: ("TransientError", .retryLater), 16: ("AccountSwitch", .nextWay),
        17: ("DeviceNotRegistered", .nextWay), 18: ("KeyNotFound", .nextWay), 19: ("AccountNotFound", .nextWay),
        20: ("RequiredBrokerMissing", .nextWay), 21: ("FallbackToNativeMsal", .nextWay),
    ]
    private static let declinedScopes = 6401

    /// Parses the error in a reply, which takes precedence over a token in it; nil if there is none.
    init?(_ reply: JSONValue) {
        guard let error = reply["brokerTokenResponse"]?["error"] ?? reply["error"], error.members != nil else {
            return nil
        }
        status = error["status"]?.wholeNumber ?? 0
        subStatus = error["subStatus"]?.wholeNumber ?? 0
        context = error["context"]?.string ?? ""
    }

    /// Microsoft's name for the kind; nil if it is unknown.
    var name: String? { Self.kinds[status]?.name }

    /// The consequence of the error.
    var outcome: BrokerError.Outcome { Self.kinds[status]?.outcome ?? .nextWay }

    /// Whether some of the scopes were declined.
    var isAboutScopes: Bool { status == 6 && subStatus == Self.declinedScopes }

    /// The authority's refusal in the message; nil if there is none.
    var refusal: EntraRefusal? {
        let refusal = EntraRefusal(ErrorResponse(error: "interaction_required", description: context))
        return refusal.codes.isEmpty ? nil : refusal
    }

    /// The AADSTS numbers for an application that lacks the broker's redirect URI.
    private static let unregistered: Set<Int> = [50011, 7_000_218, 500_113]

    /// The hint for the user.
    var advice: String? {
        guard let refusal else { return nil }
        guard Self.unregistered.isDisjoint(with: refusal.codes) else {
            return
                "register \(BrokerRequest.redirectURI) among the app's redirect URIs for mobile and desktop applications"
        }
        return refusal.pluginError(.refresh).hint
    }

    var message: String {
        if isAboutScopes { return "the broker was refused some of the scopes" }
        if let refusal { return "the authority refuses the broker: \(refusal.summary)" }
        let kind = name ?? "status \(status)"
        let words = context.displayable(limit: 300)
        return "the broker can't help: \(words.isEmpty ? kind : "\(kind): \(words)")"
    }
}

extension BrokerError {
    /// Seconds before a broker that hangs is asked again.
    private static let rest = 60

    /// The failure as an error of the plugin protocol.
    var pluginError: PluginError {
        var result = PluginError(code, message, hint: error?.advice)
        if outcome == .failed { result.retryAfter = Self.rest }
        guard let error else { return result }
        result.error = error.name
        if let refusal = error.refusal {
            let same = refusal.pluginError(.refresh)
            result.errorCodes = same.errorCodes
            result.correlationID = same.correlationID
            result.reasons = same.reasons.subtracting([.deadToken])
        }
        return result
    }

    private var code: PluginError.Code {
        switch outcome {
        case .absent, .nextWay, .refused: .unsupported
        case .interaction: .interactionRequired
        case .failed, .retrySoon, .retryLater: .unavailable
        case .never: .invalidRequest
        case .cancelled: .cancelled
        }
    }
}
