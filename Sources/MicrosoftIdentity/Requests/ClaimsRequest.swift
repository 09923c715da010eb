import JSON

/// A claims request as Entra takes it (OpenID Connect Core 1.0, 5.5), checked as MSAL for Objective-C checks it.
///
/// Only `id_token` and `access_token` can be asked, and a claim is null or says at least one of `essential`, `value` and
/// `values`.
package struct ClaimsRequest: Sendable, Equatable {
    private let value: JSONValue

    /// The request as JSON, with `essential` as true or false.
    package var encoded: String { value.encodedText }

    /// Reads a request.
    ///
    /// - Throws: `ClaimsError`, which says what is wrong.
    package init(_ text: String) throws(ClaimsError) {
        guard let members = JSONValue(bytes: text.utf8, atMost: Claims.longest)?.members else { throw .notAnObject }
        var targets: [String: JSONValue] = [:]
        for (target, claims) in members {
            guard target == "id_token" || target == "access_token" else { throw .unknownTarget(target) }
            guard let claims = claims.members else { throw .malformedTarget(target) }
            var checked: [String: JSONValue] = [:]
            for (name, claim) in claims { checked[name] = try Self.check(claim, name: name) }
            targets[target] = .object(checked)
        }
        value = .object(targets)
    }

    private static func check(_ claim: JSONValue, name: String) throws(ClaimsError) -> JSONValue {
        if claim == .null { return claim }
        guard let members = claim.members else { throw .malformedClaim(name) }
        var checked: [String: JSONValue] = [:]
        switch members["essential"] {
        case nil: break
        case .bool(let isEssential): checked["essential"] = .bool(isEssential)
        case .integer(let number): checked["essential"] = .bool(number != 0)
        default: throw .malformedClaim(name)
        }
        switch members["values"] {
        case nil: break
        case .array(let values): checked["values"] = .array(values)
        default: throw .malformedClaim(name)
        }
        checked["value"] = members["value"]
        guard !checked.isEmpty else { throw .malformedClaim(name) }
        return .object(checked)
    }
}
