import JSON

/// A claims request as Entra takes it (OpenID Connect Core 1.0, 5.5), checked as MSAL for Objective-C checks it.
///
/// Only `id_token` and `access_token` can be asked, and a claim is null or says at least one of `essential`, `value` and
/// `values`.
public struct ClaimsRequest: Sendable, Equatable {
    /// The claims asked for, by target and name.
    private var targets: [String: [String: JSONValue]] = [:]

    /// What can be asked for claims.
    static let targetNames: Set<String> = ["id_token", "access_token"]

    /// The longest request that is read, in bytes: longer ones fit into no authorization request.
    public static let longest = 16_384

    /// Makes a request that asks for nothing.
    public init() {}

    /// Reads a request.
    ///
    /// - Throws: `ClaimsError`, which says what is wrong.
    public init(_ text: String) throws(ClaimsError) {
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        guard let members = JSONValue(bytes: text.utf8, atMost: Self.longest)?.members else { throw .notAnObject }
        for (target, claims) in members {
            guard Self.targetNames.contains(target) else { throw .unknownTarget(target) }
            guard let claims = claims.members else { throw .malformedTarget(target) }
            var checked: [String: JSONValue] = [:]
            for (name, claim) in claims { checked[name] = try Self.check(claim, name: name) }
            targets[target] = checked
        }
    }

    /// Whether no claim is asked for.
    var isEmpty: Bool { targets.values.allSatisfy(\.isEmpty) }

    /// The request as JSON on one line, with `essential` as true or false.
    public var encoded: String { JSONValue.object(targets.mapValues { .object($0) }).encodedText }

    /// The request as JSON, or nil if it asks for no claim and there is nothing to send.
    public var text: String? { isEmpty ? nil : encoded }

    /// Asks for one more claim; what it says is laid over what the request says of that claim already.
    mutating func ask(_ target: String, _ name: String, _ members: [String: JSONValue]) {
        let known = targets[target]?[name]?.members ?? [:]
        let all = known.merging(members) { $1 }
        targets[target, default: [:]][name] = all.isEmpty ? .null : .object(all)
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
