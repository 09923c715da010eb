import Addresses
public import Terminal

/// A plugin that is asked before another one whose manifest names the same place, or that has the same name.
public struct Precedence: Sendable, Equatable {
    /// The plugin that is asked.
    public let plugin: PluginManifest
    /// The plugin that isn't: its name, or its folder if the names are the same.
    let other: String
    /// A host, or a source; nil if the other one is never asked.
    let place: String?

    /// What it means, in words.
    public var text: Message {
        guard let place else { return "\(plugin.name) in \(plugin.folder) hides the plugin in \(other)" }
        return "\(plugin.name) answers for \(place) before \(other)"
    }
}

extension PluginRegistry {
    /// Where one plugin is asked before another, of which not both ship with lanyard; only hosts that a manifest names count.
    public var precedences: [Precedence] {
        plugins.indices.flatMap { first in
            plugins[first].hides.map { Precedence(plugin: plugins[first], other: $0, place: nil) }
                + plugins[(first + 1)...].flatMap { second in
                    let pair = (plugins[first], second)
                    return pair.0.origin == nil && pair.1.origin == nil ? [] : Self.precedences(pair.0, over: pair.1)
                }
        }
    }

    /// The same as if this plugin were installed, as far as it is concerned.
    public func precedences(with plugin: PluginManifest) -> [Precedence] {
        let isThere = plugins.contains { $0.name == plugin.name && $0.folder == plugin.folder }
        let registry =
            isThere ? self : PluginRegistry(plugins: [plugin] + plugins.filter { $0.name != plugin.name })
        return registry.precedences.filter { $0.plugin.name == plugin.name || $0.other == plugin.name }
    }

    /// Returns the other plugins that name an authority's host for it, of which not both ship with lanyard.
    public func passedOver(for match: AuthorityMatch) -> [PluginManifest] {
        plugins.filter { plugin in
            plugin.name != match.plugin.name && (plugin.origin != nil || match.plugin.origin != nil)
                && plugin.authorities.contains { $0.fit(match.authority, isConfigured: false) != nil }
        }
    }

    /// Returns the plugins that have a rule's source; the first is asked.
    public func plugins(ofSource text: String) -> [PluginManifest] {
        let name = Self.parts(ofSource: text).name
        return claimants.filter { $0.sources.contains { $0.name == name } }
    }

    /// Returns what either plugin has before the other, of which the first was found first.
    private static func precedences(_ first: PluginManifest, over second: PluginManifest) -> [Precedence] {
        var found: [Precedence] = []
        func add(_ isFirst: Bool, _ place: String) {
            let precedence = Precedence(
                plugin: isFirst ? first : second, other: isFirst ? second.name : first.name, place: place)
            if !found.contains(precedence) { found.append(precedence) }
        }
        for one in first.authorities {
            for other in second.authorities where one.overlaps(other) {
                for host in one.hosts {
                    for otherHost in other.hosts where host.overlaps(otherHost) {
                        let isNamed = !host.hasBytes("*")
                        let isOtherNamed = !otherHost.hasBytes("*")
                        let ranks = (one.literals, isNamed ? 2 : 1) >= (other.literals, isOtherNamed ? 2 : 1)
                        add(ranks, isNamed ? host : otherHost)
                    }
                }
            }
        }
        for source in first.sources where second.sources.contains(where: { $0.name == source.name }) {
            add(true, "the source \(source.name)")
        }
        return found
    }
}

extension AuthorityPattern {
    fileprivate var literals: Int { path.count { if case .literal = $0 { true } else { false } } }

    /// Whether a path and a realm fit both patterns.
    fileprivate func overlaps(_ other: AuthorityPattern) -> Bool {
        let haveOneLength =
            switch (takesRest, other.takesRest) {
            case (true, true): true
            case (true, false): other.path.count >= path.count - 1
            case (false, true): path.count >= other.path.count - 1
            case (false, false): path.count == other.path.count
            }
        guard haveOneLength, zip(path, other.path).allSatisfy({ $0.overlaps($1) }) else { return false }
        return realms.isEmpty || other.realms.isEmpty || !Set(realms).isDisjoint(with: other.realms)
    }
}

extension AuthorityPattern.Segment {
    fileprivate func overlaps(_ other: Self) -> Bool {
        switch (self, other) {
        case (.literal(let text), .literal(let other)): text == other
        case (.literal(let text), .policy(let glob?)), (.policy(let glob?), .literal(let text)):
            text.matches(glob: glob)
        default: true
        }
    }
}

extension String {
    /// Whether a host fits both patterns; `*` by itself, which is for hosts that no manifest names, isn't compared.
    fileprivate func overlaps(_ other: String) -> Bool {
        guard !isSame(as: "*"), !other.isSame(as: "*") else { return false }
        let labels = (pieces(between: "."), other.pieces(between: "."))
        return labels.0.count == labels.1.count
            && zip(labels.0, labels.1).allSatisfy { $0 == $1 || $0 == "*" || $1 == "*" }
    }
}
