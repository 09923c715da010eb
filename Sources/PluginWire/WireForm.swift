import Addresses

/// What a value on the wire may look like: how long, and of which bytes.
///
/// The bounds are far above anything real; they keep a broken or hostile peer from filling memory or a terminal.
package struct WireForm: Sendable {
    package let limit: Int
    package let allows: @Sendable (String) -> Bool

    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - allows: whether a value within the limit is good.
    package init(limit: Int, allows: @escaping @Sendable (String) -> Bool) {
        self.limit = limit
        self.allows = allows
    }

    package func accepts(_ value: String) -> Bool {
        value.utf8.count <= limit && allows(value)
    }

    /// Tokens, ids and names of protocols: visible ASCII (RFC 6749, appendix A, VSCHAR less the space).
    package static func token(_ limit: Int) -> WireForm {
        WireForm(limit: limit) { value in
            !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
    }

    /// A secret token; a line is the only bound it needs.
    package static let secret = token(65_535)
    /// A scope (RFC 6749, 3.3).
    package static let scope = WireForm(limit: 1024) { value in
        !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
    /// Names of people and tenants: any text without control characters.
    package static func text(_ limit: Int) -> WireForm {
        WireForm(limit: limit) { value in
            // Unicode's properties take long to look up, and most texts are ASCII.
            value.utf8.allSatisfy { (0x20...0x7E).contains($0) } || value.unicodeScalars.allSatisfy { !$0.isControl }
        }
    }
    /// What a plugin has the host remember: its own business, on one line.
    package static let memo = text(16_384)
    /// Messages: they are made displayable instead of refused.
    package static let message = WireForm(limit: 16_384) { _ in true }
    /// base64url, with padding or without.
    package static let base64URL = WireForm(limit: 16_384) { Base64URL.isEncoded($0) }
    /// `host` or `host:port`, lower case.
    package static let host = WireForm(limit: 261) { HostName.isCanonical($0) }
    /// A page that may be opened in a browser: https, or http on this machine.
    package static let page = WireForm(limit: 32_768) { WebAddress.scheme(of: $0) != nil }
    /// A page on the network: https only.
    package static let securePage = WireForm(limit: 4096) { WebAddress.scheme(of: $0) == .https }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
