/// A host as git sends it: a name or address, with `:port` if the URL has one.
public struct RequestHost: Sendable, Hashable {
    /// The name or address, lower-cased; an IPv6 address has no brackets, and its zone follows a `%` as written.
    public let name: String
    /// The port; nil if the URL has none.
    public let port: Int?

    /// Creates a host from parts that are known to be valid.
    public init(name: String, port: Int?) {
        let (address, zone) = name.cut(at: "%") ?? (name[...], "")
        self.name = zone.isEmpty ? address.lowercased() : "\(address.lowercased())%\(zone)"
        self.port = port
    }

    /// Parses `NAME`, `NAME:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`; an IPv6 address may have a `%zone`.
    ///
    /// Returns nil if another program could interpret the text as another host. A name must be ASCII: letters, digits,
    /// `-` and `_` in non-empty labels, without a trailing dot. A name that ends in a number must be an IPv4 address of
    /// four decimal numbers, because curl interprets `0x7f.1` as 127.0.0.1. A port has neither a sign nor leading
    /// zeros.
    public init?(_ text: String) {
        self.init(text[...], in: .attribute)
    }

    /// The context of the text, which decides how a zone is written and whether `*` may stand for a label.
    enum Context {
        case attribute, url, pattern

        var zoneMark: String { self == .attribute ? "%" : "%25" }
    }

    init?(_ text: Substring, in context: Context) {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let close = rest.firstIndex(of: UInt8(ascii: "]")),
                let address = IPNetwork.v6(Substring(rest[..<close].dropFirst()), zoneMark: context.zoneMark)
            else { return nil }
            name = address
            rest = rest[close...].dropFirst()
        } else {
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            guard Self.isName(rest[..<end], mayHaveWildcards: context == .pattern) else { return nil }
            name = Substring(rest[..<end]).lowercased()
            rest = rest[end...]
        }
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == UInt8(ascii: ":"), let number = Self.port(rest.dropFirst()) else { return nil }
        port = number
    }

    /// Whether the host is an IPv6 address.
    public var isIPv6: Bool { name.utf8.contains(UInt8(ascii: ":")) }

    /// Whether it is one of the fixed names of this machine.
    package var isThisMachine: Bool { ["localhost", "127.0.0.1", "::1"].contains(name) }

    /// Whether a `Host` header with this value is for this machine's http at a port.
    package func isThisMachine(at wanted: Int) -> Bool { isThisMachine && (port ?? 80) == wanted }

    /// The host in the form of git's `host` attribute.
    public var text: String { text(zoneMark: "%") }

    /// The host in the form for a URL (RFC 6874).
    public var urlText: String { text(zoneMark: "%25") }

    /// Returns the host without its port, if the port is this one.
    public func withoutPort(_ usual: Int?) -> RequestHost {
        port == usual ? RequestHost(name: name, port: nil) : self
    }

    /// The name or address alone.
    package var withoutAnyPort: RequestHost { RequestHost(name: name, port: nil) }

    /// The host without its port, if that is the one that a scheme means without any.
    package func withoutOwnPort(of scheme: String) -> RequestHost {
        switch scheme {
        case "https": withoutPort(443)
        case "http": withoutPort(80)
        default: self
        }
    }

    /// The labels of a name; an address counts as one label.
    public var labels: [Substring] {
        isIPv6 ? [name[...]] : name.pieces(between: ".", omittingEmpty: false)
    }

    private func text(zoneMark: String) -> String {
        var text = name
        if isIPv6 {
            let (address, zone) = name.cut(at: "%") ?? (name[...], "")
            text = zone.isEmpty ? "[\(address)]" : "[\(address)\(zoneMark)\(zone)]"
        }
        return port.map { "\(text):\($0)" } ?? text
    }

    private static func isName(_ name: Substring.UTF8View, mayHaveWildcards: Bool) -> Bool {
        guard name.count <= 253, name.first != UInt8(ascii: "-") else { return false }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            mayHaveWildcards && label.elementsEqual("*".utf8)
                || (1...63).contains(label.count) && label.allSatisfy(\.isLabelByte)
        }
        guard areLabels, let last = labels.last else { return false }
        return !last.isNumeral || IPNetwork.isV4(Substring(name))
    }

    private static func port(_ digits: Substring.UTF8View) -> Int? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit),
            let number = Int(Substring(digits)), number <= 65_535
        else { return nil }
        return number
    }
}

extension String {
    /// Whether a pattern, in which `*` stands for one whole label, means this host.
    package func isHost(meantBy pattern: String) -> Bool {
        let (labels, wanted) = (
            pieces(between: ".", omittingEmpty: false), pattern.pieces(between: ".", omittingEmpty: false)
        )
        return labels.count == wanted.count
            && zip(labels, wanted).allSatisfy { $1.isSame(as: "*") ? !$0.isEmpty : $0.isSame(as: $1) }
    }
}

extension Substring.UTF8View {
    /// Whether inet_aton(3) reads a label as a number, whether decimal, octal or hexadecimal; if so, the name is an
    /// address.
    fileprivate var isNumeral: Bool {
        if allSatisfy(\.isDigit) { return true }
        return first == UInt8(ascii: "0") && dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
            && dropFirst(2).allSatisfy(\.isHexadecimal)
    }
}

extension StringProtocol {
    /// The domain of an email address, in lower case; nil unless it is a host name of several labels.
    package var mailDomain: String? {
        cut(atLast: "@").flatMap { RequestHost(String($0.1)) }.flatMap { host in
            host.port == nil && host.labels.count > 1 ? host.name : nil
        }
    }
}
