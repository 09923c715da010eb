import Glibc

/// The proxy for each host, as libcurl chooses it by the environment, and git by its settings.
package struct ProxySettings: Sendable {
    /// Where the proxy is named, in words: a variable, or git's setting; nil if there is none.
    package let source: String?
    /// The proxy of hosts that aren't excepted; nil for none.
    package let proxy: ProxyURL?
    /// What `no_proxy` lists, in lower case; `*` alone stands for all hosts.
    private let exceptions: [String]

    /// No proxy for any host.
    package static let none = ProxySettings()

    private init() { (source, proxy, exceptions) = (nil, nil, []) }

    /// Reads `https_proxy`, `all_proxy` and `no_proxy`; of each, the lower-case name counts first, and an empty one not at all.
    ///
    /// - Parameters:
    ///   - environment: The process's environment.
    ///   - setting: git's `http.proxy`, which counts before the variables; empty for no proxy, nil if it isn't set.
    /// - Throws: where a proxy of no known kind is named: it isn't passed by.
    package init(environment: [String: String], setting: String? = nil) throws(NetworkSettingsError) {
        func variable(_ name: String) -> (name: String, value: String)? {
            [name, name.uppercased()].lazy.compactMap { name in environment[name].map { (name, $0) } }
                .first { !$0.value.isEmpty }
        }
        let list = variable("no_proxy")?.value ?? ""
        // Beside anything else, even a blank, `*` is a name that no host has.
        exceptions = list == "*" ? [list] : Self.list(list).filter { !$0.utf8.elementsEqual("*".utf8) }
        let named = setting.map { ("git's http.proxy", $0) } ?? variable("https_proxy") ?? variable("all_proxy")
        guard let (name, text) = named, !text.isEmpty else {
            (source, proxy) = (nil, nil)
            return
        }
        guard let url = ProxyURL(text) else {
            throw NetworkSettingsError(name, ProxyURL.hasWrongPort(text) ? .proxyPort : .proxy)
        }
        (source, proxy) = (name, url)
    }

    private static func list(_ text: String) -> [String] {
        text.utf8.split { " \t,".utf8.contains($0) }.map { Substring($0).lowercased() }
    }

    /// Returns the proxy for a host, which is a name, or an address with an IPv6 one's brackets; nil for none.
    package func proxy(for host: String) -> ProxyURL? {
        let excepted = exceptions == ["*"] || exceptions.contains { Self.covers($0, host.lowercased()) }
        return excepted ? nil : proxy
    }

    /// Whether an entry stands for a host: a name for itself and those below it, an address for itself or, with a mask,
    /// for its network.
    private static func covers(_ entry: String, _ host: String) -> Bool {
        guard let address = IPNetwork(host) else {
            let (host, end) = (host.withoutFinalDot, entry.withoutFinalDot)
            let name = end.hasPrefix(".") ? end.dropFirst() : end
            return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
        }
        // A mask of no bits is none.
        let network = entry.hasSuffix("/0") ? String(entry.dropLast(2)) : entry
        return IPNetwork(network)?.contains(address) ?? false
    }
}

/// What a variable or a setting names can't be used on the way to a server.
package struct NetworkSettingsError: Error, Sendable {
    /// What is wrong with it.
    package enum Fault: Sendable, Equatable {
        /// A proxy is of no kind that libcurl knows.
        case proxy
        /// A proxy would be one without its port.
        case proxyPort
        /// A file of certificates; with words that follow its path in a sentence.
        case certificates(path: String, String)
    }

    /// What names it, in words: a variable, or git's setting.
    package let source: String
    /// What is wrong with it.
    package let fault: Fault

    /// Creates an error.
    package init(_ source: String, _ fault: Fault) { (self.source, self.fault) = (source, fault) }
}
