package import Addresses
package import JSON
import Secrets

/// A claims request (OpenID Connect Core 1.0, 5.5), validated like in MSAL for Objective-C.
///
/// A claim is either null or has at least one of `essential`, `value` and `values`.
public struct ClaimsRequest: Sendable, Equatable {
    /// The requested claims, by target and name.
    private var targets: [String: [String: JSONValue]] = [:]

    /// The possible targets: OpenID Connect's, and Microsoft's `access_token`.
    public static let targetNames: Set<String> = ["id_token", "userinfo", "access_token"]

    /// The longest request that is accepted, in bytes; longer ones don't fit into an authorization request.
    public static let longest = 16_384

    /// Creates a request without claims.
    public init() {}

    /// Parses a request; an authority may know fewer targets.
    ///
    /// - Throws: `ParameterError` with the reason if the text is invalid.
    public init(_ text: String, targets known: Set<String> = targetNames) throws(ParameterError) {
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        guard let members = JSONValue(bytes: text.utf8, atMost: Self.longest)?.members else { throw .notAnObject }
        for (target, claims) in members {
            guard known.contains(target) else { throw .unknownTarget(target) }
            guard let claims = claims.members else { throw .malformedTarget(target) }
            var checked: [String: JSONValue] = [:]
            for (name, claim) in claims { checked[name] = try Self.check(claim, name: name) }
            targets[target] = checked
        }
    }

    var isEmpty: Bool { targets.values.allSatisfy(\.isEmpty) }

    /// The request as JSON on one line, with `essential` as true or false.
    public var encoded: String { JSONValue.object(targets.mapValues { .object($0) }).encodedText }

    /// The request as JSON; nil if it has no claims, so that there is nothing to send.
    public var text: String? { isEmpty ? nil : encoded }

    /// Adds a claim, merging it with an existing request for the same claim.
    mutating func ask(_ target: String, _ name: String, _ members: [String: JSONValue]) {
        let known = targets[target]?[name]?.members ?? [:]
        let all = known.merging(members) { $1 }
        targets[target, default: [:]][name] = all.isEmpty ? .null : .object(all)
    }

    private static func check(_ claim: JSONValue, name: String) throws(ParameterError) -> JSONValue {
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

    /// Adds a claim in the short form that users type.
    ///
    /// `TARGET.NAME` requests the claim, `=essential` says that it is required, `=value:V` and `=values:A,B` say which
    /// values are wanted. If a claim is requested several times, all of this applies. The target ends at the first dot
    /// and the name at the first `=`, so a name may be a URL.
    ///
    /// - Throws: `ParameterError` if the text has none of these forms.
    public mutating func ask(_ shortForm: String) throws(ParameterError) {
        guard let (first, rest) = shortForm.cut(at: ".") else { throw .malformedShortForm(shortForm) }
        let target = String(first)
        guard Self.targetNames.contains(target) else { throw .unknownTarget(target) }
        let (name, wanted) = rest.cut(at: "=") ?? (rest, nil)
        guard !name.isEmpty else { throw .malformedShortForm(shortForm) }
        guard let wanted else { return ask(target, String(name), [:]) }
        guard let members = Self.members(wanted) else { throw .malformedShortForm(shortForm) }
        ask(target, String(name), members)
    }

    /// Parses the part after `=`; nil if it is invalid.
    private static func members(_ text: Substring) -> [String: JSONValue]? {
        if text == "essential" { return ["essential": .bool(true)] }
        guard let (form, value) = text.cut(at: ":"), !value.isEmpty else { return nil }
        switch form {
        case "value": return ["value": .string(String(value))]
        case "values":
            let values = value.pieces(between: ",", omittingEmpty: false)
            guard values.allSatisfy({ !$0.isEmpty }) else { return nil }
            return ["values": .array(values.map { .string(String($0)) })]
        default: return nil
        }
    }
}

/// The reason why claims can't be requested, or why another parameter of a sign-in is invalid.
public enum ParameterError: Error, Sendable, Equatable {
    /// The text has more than `ClaimsRequest.longest` bytes.
    case tooLong
    /// The text isn't a JSON object.
    case notAnObject
    /// A member is none of the targets.
    case unknownTarget(String)
    /// A target isn't an object.
    case malformedTarget(String)
    /// A claim is neither null nor an object with a known member of the right type.
    case malformedClaim(String)
    /// A claim in short form isn't `TARGET.NAME`, alone or with `=essential`, `=value:V` or `=values:A,B`.
    case malformedShortForm(String)
    /// Another parameter is invalid, in words for the user, and what to do about it.
    case invalid(String, hint: String)

    /// The reason, in words for the user.
    public var reason: String {
        switch self {
        case .tooLong: "it is longer than \(ClaimsRequest.longest) bytes"
        case .notAnObject: "it is not a JSON object"
        case .unknownTarget(let name): "`\(name.displayable(limit: 60))` is none of id_token, userinfo and access_token"
        case .malformedTarget(let name): "`\(name.displayable(limit: 60))` is not an object of claims"
        case .malformedClaim(let name):
            "the claim `\(name.displayable(limit: 60))` is neither null nor an object with essential, value or values"
        case .malformedShortForm(let text): "`\(text.displayable(limit: 100))` is not of the form TARGET.NAME"
        case .invalid(let reason, _): reason
        }
    }

    /// What to do about it.
    public var hint: String {
        switch self {
        case .malformedShortForm:
            "write it like id_token.auth_time=essential, access_token.acrs=value:c1 or id_token.acr=values:a,b"
        case .notAnObject:
            #"write it like {"id_token":{"auth_time":{"essential":true}}}; decode a server's claims first"#
        case .tooLong, .unknownTarget, .malformedTarget, .malformedClaim:
            #"write it like {"id_token":{"auth_time":{"essential":true}}}"#
        case .invalid(_, let hint): hint
        }
    }
}

extension WebToken {
    /// Returns the claims of a token, which nothing has verified; nil if it isn't a token, or if they are encrypted.
    package static func claims(of token: String) -> JSONValue? {
        WebToken(token)?.payload.flatMap { JSONValue(bytes: $0) }
    }
}
