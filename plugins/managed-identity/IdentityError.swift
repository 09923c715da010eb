import Addresses
package import HTTP
import JSON
import OAuth
package import PluginWire
package import Secrets

/// What a platform's refusal to issue a token means, and how to fix it.
extension IdentityError {
    /// Returns the error for an answer without a token.
    static func refusal(
        _ answer: HTTPAnswer, to request: PlatformRequest, from source: any TokenSource, for demand: Demand
    ) -> IdentityError {
        let fault = source.translated(PlatformFault(answer, hiding: request.secrets))
        var error = error(answer, fault, source, demand)
        error.status = answer.status
        error.fault = fault
        error.retryAfter = answer.retryAfter
        // The host says when to try again.
        if error.kind == .throttled || error.kind == .unavailable, answer.retryAfter != nil { error.hint = nil }
        return error
    }

    private static func error(
        _ answer: HTTPAnswer, _ fault: PlatformFault, _ source: any TokenSource, _ demand: Demand
    ) -> IdentityError {
        let who = source.platform.words
        let words = fault.message.map { String($0.trimmed(of: " .")) } ?? fault.error ?? "HTTP \(answer.status)"
        if isUnreachable(answer) { return absent(from: source) }
        if lacksIdentity(fault) { return missing(demand.id, at: source) }
        if hasSeveral(fault) {
            return IdentityError(
                refusalKind(answer.status, source, demand), "this machine has several identities",
                hint: "name one identity, as client-id:ID; the ID is on the identity's page in Azure")
        }
        if isOther(answer, fault, source) {
            return IdentityError(
                .unavailable, "\(who) is none of Azure's (HTTP \(answer.status))", hint: absent(from: source).hint)
        }
        switch answer.status {
        case 429:
            return IdentityError(.throttled, "\(who) says that there were too many requests")
        case 404 where source.platform == .serviceFabric, 400:
            return IdentityError(
                refusalKind(answer.status, source, demand), "\(who) refuses: \(words)", hint: hint(for: fault, demand))
        case 401, 403:
            return IdentityError(
                .authenticationFailed, "\(who) refuses: \(words)",
                hint: "check that this runs where the platform's variables were set, and that they are still the same")
        case 410:
            return IdentityError(
                .unavailable, "\(who) is being updated, which takes up to 70 seconds", hint: "try again in a minute")
        // App Service also answers like this if the tenant doesn't know the resource.
        case 500 where source.platform == .appService:
            return IdentityError(
                .unavailable, "\(who) is not working at the moment (\(words))",
                hint: "try again in a few minutes; if it stays so, \(Self.hint(for: fault, demand))")
        case let status where isOutage(status):
            return IdentityError(
                .unavailable, "\(who) is not working at the moment (\(words))", hint: "try again in a few minutes")
        default:
            return IdentityError(
                .invalidResponse, "\(who) answered with something that is not a token (HTTP \(answer.status))",
                hint: "check that nothing else answers in its place")
        }
    }

    /// Returns the error if there is no token service.
    static func absent(from source: any TokenSource) -> IdentityError {
        guard source.platform == .imds else {
            return IdentityError(
                .unavailable, "\(source.platform.words) does not answer",
                hint: "check that this runs where the platform's variables were set, and that they are still the same")
        }
        return IdentityError(
            .unavailable, "this machine has no managed identity: its metadata service does not answer",
            hint: "only machines in Azure, and those with the agent of Azure Arc, have one; use another identity here")
    }

    /// Whether a status means that the service is temporarily unavailable.
    static func isOutage(_ status: Int) -> Bool { [404, 408, 410, 429].contains(status) || status >= 500 }

    /// Whether a proxy answered because it can't reach the service, as Docker Desktop does.
    static func isUnreachable(_ answer: HTTPAnswer) -> Bool {
        answer.status == 403 && (answer.text ?? "").lowercased().hasBytes("unreachable")
    }

    /// Whether another cloud's service answered at the address that all clouds share; Azure's would explain its
    /// refusal.
    private static func isOther(_ answer: HTTPAnswer, _ fault: PlatformFault, _ source: any TokenSource) -> Bool {
        source.platform == .imds && [401, 403].contains(answer.status) && fault == PlatformFault()
    }

    /// Returns the kind of error: a machine without a system-assigned identity may sign in another way, but a named
    /// identity is required.
    private static func refusalKind(_ status: Int, _ source: any TokenSource, _ demand: Demand) -> Kind {
        source.platform == .imds && status == 400 && demand.id == .system ? .unavailable : .invalidRequest
    }

    private static func missing(_ id: ManagedID, at source: any TokenSource) -> IdentityError {
        guard id == .system else {
            return IdentityError(
                .invalidRequest, "\(id.words) is not assigned to this machine",
                hint: "assign the identity to the machine in Azure, or correct its ID")
        }
        return IdentityError(
            source.platform == .imds ? .unavailable : .invalidRequest, "this machine has no identity of its own",
            hint: "turn on the machine's identity in Azure, or name one that is assigned to the machine")
    }

    private static func lacksIdentity(_ fault: PlatformFault) -> Bool {
        let text = [fault.error, fault.suberror, fault.message].compactMap(\.self).joined(separator: " ").lowercased()
        return [
            "identity not found", "identity_not_found", "managedidentitynotfound", "no managed identity",
            "no user assigned or delegated managed identity", "no msi found",
            "unable to load the proper managed identity",
        ].contains { text.hasBytes($0) }
    }

    private static func hasSeveral(_ fault: PlatformFault) -> Bool {
        (fault.message ?? "").lowercased().hasBytes("multiple user assigned identities")
    }

    private static func hint(for fault: PlatformFault, _ demand: Demand) -> String {
        if fault.error == "bad_request_102" { return "check that nothing on the way removes headers" }
        let resource = demand.resource.displayable(limit: 200)
        return "check that \(resource) is a resource that the tenant knows, and that the identity exists"
    }
}

extension PlatformRequest {
    /// The parts of the request that only the service may see: the header values, and the part of each after its
    /// scheme.
    fileprivate var secrets: [Secret] {
        headers.values.flatMap { [$0, Secret(String($0.reveal().cut(at: " ")?.1 ?? ""))] }
    }
}

/// A platform's error response, in any of the platforms' formats.
package struct PlatformFault: Sendable, Equatable {
    /// The error code; nil if there is none.
    package var error: String?
    /// A more specific code.
    package var suberror: String?
    /// The message, on one line; nil if there is none.
    package var message: String?
    /// The request's ID in the platform's logs.
    package var correlationID: String?

    /// Creates an empty fault.
    package init() {}

    /// Parses an answer; unknown members are ignored, and secrets of the request are removed.
    ///
    ///     {"error": CODE, "error_description": WORDS}                           IMDS, Arc
    ///     {"statusCode": 500, "message": WORDS, "correlationId": ID}            App Service
    ///     {"error": {"code": CODE, "message": WORDS, "correlationId": ID}}      Service Fabric, Cloud Shell
    package init(_ answer: HTTPAnswer, hiding secrets: [Secret] = []) {
        guard let members = PlatformToken.members(of: answer) else { return }
        let outer = Self.lowerCased(members)
        let inner = outer["error"]?.members.map(Self.lowerCased) ?? [:]
        func words(_ names: String...) -> String? {
            let found = names.lazy.compactMap { inner[$0]?.string ?? outer[$0]?.string }.first { !$0.isEmpty }
            return found.map { Self.line($0, hiding: secrets) }
        }
        let code = (inner["code"] ?? outer["error"] ?? outer["code"])?.string.map { Self.line($0, hiding: secrets) }
        error = code?.plain(limit: 256)
        // A string in place of a code is the message.
        message = words("error_description", "message") ?? (error == nil ? code : nil)
        correlationID = words("correlationid", "correlation_id")?.plain(limit: 64)
    }

    private static func lowerCased(_ members: [String: JSONValue]) -> [String: JSONValue] {
        Dictionary(members.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Returns the first line of a text, without secrets.
    ///
    /// Secrets of a few characters aren't removed: that would damage unrelated words.
    private static func line(_ text: String, hiding secrets: [Secret]) -> String {
        var text = text
        for secret in secrets where secret.reveal().utf8.count >= 6 {
            text = text.replacing(bytes: secret.reveal(), with: "<redacted>")
        }
        let line = Substring(text.utf8.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        return String(line.trimmed()).displayable(limit: 300)
    }
}

/// The reason why a platform issued no token, with a message for the user.
package struct IdentityError: Error, Sendable, Equatable {
    /// The kind of failure.
    package enum Kind: String, Sendable {
        /// The platform is missing, lacks this identity or doesn't work; another way to sign in may succeed.
        case unavailable
        /// The request or a variable is wrong; trying again doesn't help.
        case invalidRequest = "invalid-request"
        /// The platform rejects the caller's proof.
        case authenticationFailed = "authentication-failed"
        /// The answer can't be the platform's, or isn't for this caller.
        case invalidResponse = "invalid-response"
        /// Too many requests.
        case throttled
        /// The host cancelled the request.
        case cancelled
    }

    /// The kind of failure.
    package var kind: Kind
    /// One sentence for the user: lower case, no full stop, no secret.
    package var message: String
    /// How the user can fix it; nil if unknown.
    package var hint: String?
    /// The status of the platform's answer; nil if there was no answer.
    package var status: Int?
    /// The platform's error response.
    package var fault = PlatformFault()
    /// Seconds to wait before the next attempt.
    package var retryAfter: Int?

    /// Creates an error.
    package init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// The error as one of the plugin protocol.
    package var plain: PluginError {
        var error = PluginError(code, message, hint: hint)
        error.error = fault.error
        error.suberror = fault.suberror
        error.correlationID = fault.correlationID
        error.retryAfter = retryAfter
        return error
    }

    private var code: PluginError.Code {
        switch kind {
        case .unavailable: .unavailable
        case .invalidRequest, .authenticationFailed: .invalidRequest
        case .invalidResponse: .internal
        case .throttled: .throttled
        case .cancelled: .cancelled
        }
    }
}
