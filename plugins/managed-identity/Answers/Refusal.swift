import Addresses
import HTTP
import OAuth
import Secrets

/// Interprets a platform's refusal to issue a token, and how to fix it.
enum Refusal {
    /// Returns the error for an answer without a token.
    static func error(
        _ answer: HTTPAnswer, to request: PlatformRequest, from source: any TokenSource, for demand: Demand
    ) -> IdentityError {
        let fault = source.translated(Fault(answer, hiding: request.secrets))
        var error = error(answer, fault, source, demand)
        error.status = answer.status
        error.fault = fault
        error.retryAfter = answer.retryAfter
        // The host says when to try again.
        if error.kind == .throttled || error.kind == .unavailable, answer.retryAfter != nil { error.hint = nil }
        return error
    }

    private static func error(
        _ answer: HTTPAnswer, _ fault: Fault, _ source: any TokenSource, _ demand: Demand
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
    private static func isOther(_ answer: HTTPAnswer, _ fault: Fault, _ source: any TokenSource) -> Bool {
        source.platform == .imds && [401, 403].contains(answer.status) && fault == Fault()
    }

    /// Returns the kind of error: a machine without a system-assigned identity may sign in another way, but a named
    /// identity is required.
    private static func refusalKind(_ status: Int, _ source: any TokenSource, _ demand: Demand) -> IdentityError.Kind {
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

    private static func lacksIdentity(_ fault: Fault) -> Bool {
        let text = [fault.error, fault.suberror, fault.message].compactMap(\.self).joined(separator: " ").lowercased()
        return [
            "identity not found", "identity_not_found", "managedidentitynotfound", "no managed identity",
            "no user assigned or delegated managed identity", "no msi found",
            "unable to load the proper managed identity",
        ].contains { text.hasBytes($0) }
    }

    private static func hasSeveral(_ fault: Fault) -> Bool {
        (fault.message ?? "").lowercased().hasBytes("multiple user assigned identities")
    }

    private static func hint(for fault: Fault, _ demand: Demand) -> String {
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
