import OAuth

/// Scopes as requests write them and answers grant them (RFC 6749, 3.3), compared without regard to case as Entra does.
package enum Scopes {
    /// What every request asks for besides the caller's: an ID token, who it is, and a refresh token.
    static let openID = ["openid", "profile", "offline_access"]
    /// Microsoft Graph's scopes may be written without their resource.
    private static let graph = "https://graph.microsoft.com/"

    /// The `scope` value of a request for these scopes.
    package static func requested(_ scopes: [String]) -> String {
        let further = openID.filter { name in !scopes.contains { $0.lowercased() == name } }
        return (scopes + further).joined(separator: " ")
    }

    /// The scopes asked for that were not granted.
    ///
    /// OpenID Connect's own and `email` are no one's to decline: the authority grants them by what it puts into the id
    /// token. A resource's `/.default` is granted with any scope of that resource.
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

    /// The scopes that an access token is for: what the authority says, in the words of the request if it
    /// says the same in others, so that the same request finds the token again.
    ///
    /// - Parameters:
    ///   - scope: the answer's `scope`; nil means all that was asked for (RFC 6749, 5.1).
    ///   - requested: the scopes asked for.
    /// - Returns: the scopes, each once.
    package static func granted(_ scope: String?, requested: [String]) -> [String] {
        guard let scope else { return requested }
        let granted = ScopeText.split(scope)
        let names = Set(granted.map { $0.lowercased() })
        let declined = Set(declined(requested: requested, granted: granted))
        return granted + requested.filter { !declined.contains($0) && !names.contains($0.lowercased()) }
    }

    /// The granted scopes worth telling a person: without OpenID Connect's own.
    package static func reported(_ granted: [String]) -> [String] {
        granted.filter { !isOpenID($0.lowercased()) }
    }

    /// Whether a scope, lower case, is OpenID Connect's own, and so of no resource.
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
