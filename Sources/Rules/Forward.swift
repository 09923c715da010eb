import Addresses
import Secrets
public import SettingsFile

/// A far side that may ask the agent on this machine: a host that was reached with ssh, or a container.
public struct Forward: Sendable, Equatable {
    /// What people call the far side; its socket has the same name.
    public var name: String
    /// Which URLs it may ask for.
    public var urls: [URLPattern]
    /// Whether the person is asked each time before it gets something.
    public var confirms = false
    /// The file that holds its table; empty for one that is yet to be written.
    public var file = ""
    /// The line that the table begins at, from 1.
    public var line: Int?

    /// The keys of a forward.
    public static let keys = ["name", "urls", "confirm"]

    /// Describes a far side that is to be written.
    public init(name: String, urls: [URLPattern], confirms: Bool) {
        self.name = name
        self.urls = urls
        self.confirms = confirms
    }

    /// Reads a `[[forward]]` table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or wrong.
    public init(_ table: SettingsTable) throws(SettingsError) {
        try table.allow(only: Self.keys, of: "forward")
        guard let name = try table.string("name") else { throw table.error(nil, "a forward needs `name`") }
        guard Self.isName(name) else {
            throw table.error(
                "name", "`name` must be a short word of letters, digits, `.`, `_` and `-`", hint: "such as \"devbox\"")
        }
        let texts = try table.strings("urls") ?? []
        guard !texts.isEmpty else {
            throw table.error(
                "urls", "a forward needs `urls`: what it may ask for", hint: "such as urls = [\"\(Example.url)\"]")
        }
        var urls: [URLPattern] = []
        for (index, text) in texts.enumerated() {
            guard let pattern = URLPattern(text), !pattern.hasPassword else {
                throw table.error(
                    "urls", element: index, "this is not a URL: \(text.displayable(limit: 200))",
                    hint: "write it like \"\(Example.url)\"")
            }
            urls.append(pattern)
        }
        self.init(name: name, urls: urls, confirms: try table.boolean("confirm") ?? false)
        file = table.file
        line = table.line
    }

    /// Whether a text can name a far side: as an identity's name, but not `.` first, for it names a file.
    public static func isName(_ text: String) -> Bool {
        Identity.isName(text) && text.utf8.first != UInt8(ascii: ".")
    }
}

extension Forward {
    /// Why a far side isn't given what it asks for.
    public enum Objection: Sendable, Equatable {
        /// No pattern of its list matches.
        case notListed
        /// Only patterns with a path would match, and it names none.
        case needsPath
        /// It asks for scopes that are no resource's default, and so for no URL.
        case namesScopes
        /// It asks for a token by more than its place, which a list of URLs says nothing about.
        case namesToken
        /// It names no place.
        case noPlace
    }

    /// Why this far side isn't given what it asks for; nil if it may have it.
    ///
    /// A token by scopes counts as one for the URLs of the resources whose default scopes they are: SDKs ask so.
    public func objection(to request: CredentialRequest) -> Objection? {
        var wish = request.wish
        (wish.scopes, wish.tenant) = ([], nil)
        guard wish.isEmpty else { return .namesToken }
        guard request.scheme != nil || request.host != nil else {
            guard !request.wish.scopes.isEmpty else { return .noPlace }
            let urls = request.wish.scopes.map(\.urlOfDefaultScope)
            guard urls.allSatisfy({ $0 != nil }) else { return .namesScopes }
            return urls.compactMap(\.self).allSatisfy { covers(CredentialRequest($0)) } ? nil : .notListed
        }
        guard request.wish.isEmpty else { return .namesToken }
        guard request.scheme != nil, request.host != nil else { return .noPlace }
        if covers(request) { return nil }
        let isBelow = request.path?.isEmpty ?? true && urls.contains { $0.hasPath && $0.mismatch(request) == .path }
        return isBelow ? .needsPath : .notListed
    }

    private func covers(_ request: CredentialRequest) -> Bool { urls.contains { $0.fit(request) != nil } }
}

extension String {
    /// The URL of the resource whose default scope this is; nil if it is none's.
    public var urlOfDefaultScope: RequestURL? {
        let end = CredentialRequest.TokenWish.wholeResource
        guard isScopeToken, hasSuffix(end), let url = try? RequestURL(String(dropLast(end.utf8.count))),
            url.username == nil
        else { return nil }
        return url
    }
}
