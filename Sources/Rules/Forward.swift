import Addresses
public import Model
import Secrets
public import SettingsFile
import Terminal

/// A remote client that may ask the agent on this machine: a host reached by ssh, or a container.
public struct Forward: Sendable, Equatable {
    /// The client's name, which is also its socket's.
    public var name: String
    /// The URLs that it may ask for.
    public var urls: [URLPattern]
    /// Whether the user is asked each time before it gets a credential.
    public var confirms = false
    /// The hosts whose paths have no case, which is no setting.
    var caseless = HostTrait.none
    /// The file with its table; empty if it hasn't been written yet.
    public var file = ""
    /// The line at which the table begins, from 1.
    public var line: Int?

    /// The keys of a forward.
    public static let keys = ["name", "urls", "confirm"]

    /// Creates a forward that is about to be written.
    public init(name: String, urls: [URLPattern], confirms: Bool) {
        self.name = name
        self.urls = urls
        self.confirms = confirms
    }

    /// Parses a `[[forward]]` table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or invalid.
    public init(_ table: SettingsTable) throws(SettingsError) {
        try table.allow(only: Self.keys, of: "forward")
        let name = try table.string(
            "name", mustBe: Identity.formOfNames, hint: "such as \"devbox\"", Self.isName)
        guard let name else { throw table.error(nil, "a forward needs `name`") }
        let texts = try table.strings("urls") ?? []
        guard !texts.isEmpty else {
            throw table.error(
                "urls", "a forward needs `urls`: what it may ask for", hint: "such as urls = [\"\(Example.url)\"]")
        }
        var urls: [URLPattern] = []
        for (index, text) in texts.enumerated() {
            guard let pattern = URLPattern(text), !pattern.hasPassword else {
                throw table.error(
                    "urls", element: index, "this is not a URL: \(text)",
                    hint: "write it like \"\(Example.url)\"")
            }
            urls.append(pattern)
        }
        self.init(name: name, urls: urls, confirms: try table.boolean("confirm") ?? false)
        file = table.file
        line = table.line
    }

    /// Whether a text can name a forward: the same as for an identity, but without a leading `.`, because it names a
    /// file.
    public static func isName(_ text: String) -> Bool {
        Identity.isName(text) && text.utf8.first != UInt8(ascii: ".")
    }
}

extension Forward {
    /// The reasons for refusing a remote client's request.
    public enum Objection: Sendable, Equatable {
        /// No pattern in its list matches.
        case notListed
        /// Only patterns with a path would match, and the request has none.
        case needsPath
        /// The request names scopes other than a resource's default scope, and so belongs to no URL.
        case namesScopes
        /// The request names more of a token than its place, which a list of URLs doesn't cover.
        case namesToken
        /// The request names a path, and passwords anywhere on its host would answer it.
        case reachesBelow
        /// The request names no place.
        case noPlace
    }

    /// Returns why a request of this remote client is refused; nil if it is allowed.
    ///
    /// A token by scopes counts as one for the URLs of the resources with these default scopes, because SDKs ask like
    /// that.
    public func objection(to request: CredentialRequest) -> Objection? {
        var explicit = request.explicit
        (explicit.scopes, explicit.tenant) = ([], nil)
        guard explicit.isEmpty else { return .namesToken }
        guard request.scheme != nil || request.host != nil else {
            guard !request.explicit.scopes.isEmpty else { return .noPlace }
            let urls = request.explicit.scopes.map(\.urlOfDefaultScope)
            guard urls.allSatisfy({ $0 != nil }) else { return .namesScopes }
            return urls.compactMap(\.self).allSatisfy { covers(CredentialRequest($0)) } ? nil : .notListed
        }
        guard request.explicit.isEmpty else { return .namesToken }
        guard request.scheme != nil, request.host != nil else { return .noPlace }
        // No tool sends both: what lies below the host isn't what the path names.
        guard request.reach != .below || request.path?.isEmpty ?? true else { return .reachesBelow }
        if covers(request) { return nil }
        let isBelow = request.path?.isEmpty ?? true && urls.contains { $0.hasPath && $0.mismatch(request) == .path }
        return isBelow ? .needsPath : .notListed
    }

    /// Whether this remote client may have a password that answers a request from this path of its host.
    ///
    /// A request may be answered from other paths than its own (`PathReach`).
    public func lists(path: String, for request: CredentialRequest) -> Bool {
        var place = request
        place.path = path
        return covers(place)
    }

    /// Whether nothing that another one allows is refused or confirmed here.
    public func allows(all other: Forward) -> Bool {
        other.urls.allSatisfy(urls.contains) && (other.confirms || !confirms)
    }

    private func covers(_ request: CredentialRequest) -> Bool {
        urls.contains { $0.fit(request, caseless: caseless) != nil }
    }
}

extension String {
    /// The URL of the resource whose default scope this is; nil if there is none.
    public var urlOfDefaultScope: RequestURL? {
        let end = CredentialRequest.ExplicitToken.wholeResource
        guard isScopeToken, hasSuffix(end), let url = try? RequestURL(String(dropLast(end.utf8.count))),
            url.username == nil
        else { return nil }
        return url
    }
}

extension Forward: ConfigurationTable {
    /// `forward`.
    public static var key: String { "forward" }
    /// `forwards`.
    public static var plural: String { "forwards" }
    /// The forwards in the configuration.
    public static var member: WritableKeyPath<Configuration, [Forward]> { \.forwards }
    /// Its name.
    public var uniqueName: String? { name }

    /// The forward as a `[[forward]]` table, to be shown or written.
    public var toml: String {
        var lines = ["[[forward]]", "name = \(name.inTOML)", "urls = \(urls.map(\.text).inTOML)"]
        if confirms { lines.append("confirm = true") }
        return lines.joined(separator: "\n") + "\n"
    }
}
