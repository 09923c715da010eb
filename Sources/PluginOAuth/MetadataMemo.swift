import FoundationEssentials
package import OAuth
package import PluginWire

/// What authorities said of themselves, as a plugin's memo: a renewal needn't ask them again.
///
/// It is trusted no more than what comes from the network. Whoever reads it checks it in the same way, and takes from it only
/// endpoints at the authority's own hosts: a memo that somebody else wrote sends no token elsewhere.
package struct MetadataMemo: Sendable, Equatable {
    /// Seconds for which an authority isn't asked again.
    private static let lifetime = 86_400
    /// How many authorities one memo is about: an audience stands for the tenants of several accounts.
    private static let most = 8
    /// The most bytes (docs/plugin-protocol.md, Framing).
    private static let longest = 16_384

    /// What one authority said.
    private struct Entry: Codable, Sendable, Equatable {
        var said: ProviderMetadata
        var isOpenID: Bool
        var until: Int
    }

    private var entries: [String: Entry]
    private var hasNews = false

    /// Reads what the host gave back; anything else says nothing.
    package init(_ text: String?) {
        let bytes = Data((text ?? "").utf8)
        entries = (try? JSONDecoder().decode([String: Entry].self, from: bytes)) ?? [:]
        let now = Self.now
        entries = entries.filter { (now...now + Self.lifetime).contains($0.value.until) }
    }

    /// What the authority at a URL said, and whether that was at OpenID Connect's place; nil if nobody remembers.
    package func said(by authority: String) -> (metadata: ProviderMetadata, isOpenID: Bool)? {
        entries[authority].map { ($0.said, $0.isOpenID) }
    }

    /// Takes note of what an authority says.
    package mutating func note(_ said: ProviderMetadata, isOpenID: Bool = true, by authority: String) {
        if entries.count >= Self.most { entries = [:] }
        entries[authority] = Entry(said: said, isOpenID: isOpenID, until: Self.now + Self.lifetime)
        hasNews = true
    }

    /// What the host is to remember; nil if nothing is new, or it is too long.
    package var memo: PluginMemo? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard hasNews, let bytes = try? encoder.encode(entries), bytes.count <= Self.longest else { return nil }
        return PluginMemo(String(decoding: bytes, as: UTF8.self), expiresIn: Self.lifetime)
    }

    private static var now: Int { Int(Date.now.timeIntervalSince1970) }
}
