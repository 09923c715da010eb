import FoundationEssentials
package import OAuth
package import PluginWire

/// Authorities' metadata in a plugin's memo, so that a renewal need not fetch it again.
///
/// It is trusted no more than data from the network. It is validated in the same way, and only endpoints at the
/// authority's own hosts are used: a forged memo sends no token elsewhere.
package struct MetadataMemo: Sendable, Equatable {
    /// Seconds for which an authority isn't asked again.
    private static let lifetime = 86_400
    /// The highest number of authorities in one memo; an audience stands for the tenants of several accounts.
    private static let most = 8
    /// The longest memo, in bytes (docs/plugin-protocol.md, Framing).
    private static let longest = 16_384

    /// The metadata of one authority.
    private struct Entry: Codable, Sendable, Equatable {
        var said: ProviderMetadata
        var isOpenID: Bool
        var until: Int
    }

    private var entries: [String: Entry]
    private var hasNews = false

    /// Parses the memo from the host; anything else counts as empty.
    package init(_ text: String?) {
        let bytes = Data((text ?? "").utf8)
        let all = try? JSONDecoder().decode([String: Entry].self, from: bytes)
        let now = Self.now
        entries = (all ?? [:]).filter { (now...now + Self.lifetime).contains($0.value.until) }
    }

    /// Returns the metadata of the authority at a URL, and whether it is OpenID Connect's; nil if the memo has none.
    package func said(by authority: String) -> (metadata: ProviderMetadata, isOpenID: Bool)? {
        entries[authority].map { ($0.said, $0.isOpenID) }
    }

    /// Records the metadata of an authority.
    package mutating func note(_ said: ProviderMetadata, isOpenID: Bool = true, by authority: String) {
        if entries.count >= Self.most { entries = [:] }
        entries[authority] = Entry(said: said, isOpenID: isOpenID, until: Self.now + Self.lifetime)
        hasNews = true
    }

    /// The memo for the host to store; nil if nothing is new, or if it is too long.
    package var memo: PluginMemo? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard hasNews, let bytes = try? encoder.encode(entries), bytes.count <= Self.longest else { return nil }
        return PluginMemo(String(decoding: bytes, as: UTF8.self), expiresIn: Self.lifetime)
    }

    private static var now: Int { Int(Date.now.timeIntervalSince1970) }
}
