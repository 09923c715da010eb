import Addresses
package import Claims
import JSON
import OAuth

/// Scopes of requests and responses (RFC 6749, 3.3), compared case-insensitively as in Entra.
package enum Scopes {
    /// The scopes that every request adds to the caller's, for an ID token, profile claims and a refresh token.
    static let openID = ["openid", "profile", "offline_access"]
    /// Microsoft Graph's scopes may be written without their resource.
    private static let graph = "https://graph.microsoft.com/"

    /// Returns the `scope` value of a request for these scopes.
    package static func requested(_ scopes: [String]) -> String {
        let further = openID.filter { name in !scopes.contains { $0.lowercased() == name } }
        return (scopes + further).joined(separator: " ")
    }

    /// Returns the requested scopes that weren't granted.
    ///
    /// OpenID Connect's own scopes and `email` never count as declined: the authority grants them through the contents
    /// of the ID token. A resource's `/.default` is granted with any scope of that resource.
    package static func declined(requested: [String], granted: [String]) -> [String] {
        let granted = Set(granted.map(normalized))
        return requested.filter { scope in
            let name = normalized(scope)
            if isOpenID(name) || granted.contains(name) { return false }
            guard name.hasSuffix("/.default") else { return true }
            let resource = String(name.dropLast(".default".count))
            return !granted.contains { resource == graph ? isGraphs($0) : $0.hasPrefix(resource) }
        }
    }

    /// Returns the scopes that an access token is valid for.
    ///
    /// They are the response's scopes, but spelt as in the request if they mean the same, so that the same request
    /// finds the token in the cache.
    ///
    /// - Parameters:
    ///   - scope: The response's `scope`; nil means all requested scopes (RFC 6749, 5.1).
    ///   - requested: The requested scopes.
    /// - Returns: The scopes, each once.
    package static func granted(_ scope: String?, requested: [String]) -> [String] {
        guard let scope else { return requested }
        let granted = ScopeText.split(scope)
        let names = Set(granted.map { $0.lowercased() })
        let declined = Set(declined(requested: requested, granted: granted))
        return granted + requested.filter { !declined.contains($0) && !names.contains($0.lowercased()) }
    }

    /// Whether a scope, in lower case, is OpenID Connect's own and belongs to no resource.
    static func isOpenID(_ name: String) -> Bool {
        openID.contains(name) || name == "email"
    }

    /// Whether a normalized scope is of Microsoft Graph, whose name is gone from it.
    private static func isGraphs(_ name: String) -> Bool { !isOpenID(name) && !name.utf8.contains(UInt8(ascii: "/")) }

    private static func normalized(_ scope: String) -> String {
        let name = scope.lowercased()
        return name.hasPrefix(graph) && !name.hasSuffix("/.default") ? String(name.dropFirst(graph.count)) : name
    }
}

extension ClaimsRequest {
    /// Returns the `claims` parameter (OpenID Connect Core 1.0, 5.5): claims, with later ones taking precedence, and the client's
    /// capabilities.
    ///
    /// - Parameters:
    ///   - claims: JSON objects; nil and empty ones are ignored.
    ///   - capabilities: The client's capabilities, such as `CP1`; they replace an `xms_cc` in the claims.
    /// - Returns: JSON, or nil if there is nothing to send.
    /// - Throws: `ParameterError.notAnObject` if a text isn't a JSON object, for example because it is still
    ///   base64-encoded.
    package static func parameter(_ claims: [String?], capabilities: [String] = []) throws(ParameterError) -> String? {
        var merged: JSONValue?
        for case .some(let text) in claims where !text.isEmpty {
            guard let value = JSONValue(bytes: text.utf8, atMost: 65_536), value.members != nil else {
                throw .notAnObject
            }
            merged = merged?.merging(value) ?? value
        }
        if !capabilities.isEmpty {
            let value: JSONValue = ["access_token": ["xms_cc": ["values": JSONValue(strings: capabilities)]]]
            merged = merged?.merging(value) ?? value
        }
        return merged?.encodedText
    }
}

extension SignInParameters {
    /// What the plugins' manifests call `reserved-parameters`: `p` would name another policy.
    private static let reserved: Set = ["client_info", "p", "x-anchormailbox"]

    /// Checks that no further parameter is one that only the plugin sets; the host has checked it, too.
    ///
    /// - Throws: `ParameterError.reserved`.
    package func requireUnreserved() throws(ParameterError) {
        if let name = first(of: Self.reserved) { throw .reserved(name) }
    }
}

/// `X-AnchorMailbox`, which routes a request to the account's data centre.
enum AnchorMailbox {
    static let name = "x-anchormailbox"

    static func header(uid: String, utid: String) -> String? {
        uid.isPathName && utid.isPathName ? "Oid:\(uid)@\(utid)" : nil
    }

    /// Returns the header for a home account ID.
    static func header(account: String?) -> String? {
        guard let halves = account?.pieces(between: "."), halves.count == 2 else { return nil }
        return header(uid: String(halves[0]), utid: String(halves[1]))
    }

    /// Returns the header for an authorization response's `client_info`.
    static func header(response: AuthorizationResponse) -> String? {
        guard let info = response["client_info"].flatMap(ClientInfo.init), let uid = info.uid,
            let utid = info.utid
        else { return nil }
        return header(uid: uid, utid: utid)
    }
}
