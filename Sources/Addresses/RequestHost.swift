/// A host as git sends it: a name or address, with `:port` if the URL has one.
public struct RequestHost: Sendable, Hashable {
    /// The name or address, lower-cased; an IPv6 address without its brackets, with its zone as written behind a `%`.
    public let name: String
    /// The port, if the URL names one.
    public let port: Int?

    /// Makes a host of parts known to be right.
    public init(name: String, port: Int?) {
        let (address, zone) = name.cut(at: "%") ?? (name[...], "")
        self.name = zone.isEmpty ? address.lowercased() : "\(address.lowercased())%\(zone)"
        self.port = port
    }

    /// Reads `NAME`, `NAME:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`, an IPv6 address perhaps with a `%zone`.
    ///
    /// Nil if another program could take the text for another host. So a name is ASCII: letters, digits, `-` and `_` in
    /// labels that aren't empty, without a dot at the end. What ends in a number is an IPv4 address of four decimals, because
    /// curl takes `0x7f.1` for 127.0.0.1. A port has neither sign nor leading zero.
    public init?(_ text: String) {
        self.init(text[...], in: .attribute)
    }

    /// What the text stands in, which decides how a zone is written and whether `*` may stand for a label.
    enum Place {
        case attribute, url, pattern

        var zoneMark: String { self == .attribute ? "%" : "%25" }
    }

    init?(_ text: Substring, in place: Place) {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let close = rest.firstIndex(of: UInt8(ascii: "]")),
                let address = IPAddress.v6(Substring(rest[..<close].dropFirst()), zoneMark: place.zoneMark)
            else { return nil }
            name = address
            rest = rest[close...].dropFirst()
        } else {
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            guard Self.isName(rest[..<end], mayHaveWildcards: place == .pattern) else { return nil }
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

    /// The host as git's `host` attribute has it.
    public var text: String { text(zoneMark: "%") }

    /// The host as a URL has it (RFC 6874).
    public var urlText: String { text(zoneMark: "%25") }

    /// The host without its port, if that is this one.
    public func withoutPort(_ usual: Int?) -> RequestHost {
        port == usual ? RequestHost(name: name, port: nil) : self
    }

    /// The host without its port, if that is the one that a scheme means without any.
    package func withoutOwnPort(of scheme: String) -> RequestHost {
        switch scheme {
        case "https": withoutPort(443)
        case "http": withoutPort(80)
        default: self
        }
    }

    /// The labels of a name; an address is one label.
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
        return !last.isNumeral || IPAddress.isV4(Substring(name))
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
    /// Whether a label is a number to inet_aton(3), decimal, octal or hexadecimal; then the name is an address.
    fileprivate var isNumeral: Bool {
        if allSatisfy(\.isDigit) { return true }
        return first == UInt8(ascii: "0") && dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
            && dropFirst(2).allSatisfy(\.isHexadecimal)
    }
}
