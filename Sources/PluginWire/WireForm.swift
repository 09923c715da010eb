import Addresses

/// The form of a value in the protocol: its length and its bytes.
///
/// The limits are far above any real value; they keep a broken or hostile peer from filling memory or a terminal.
package struct WireForm: Sendable {
    package let limit: Int
    package let allows: @Sendable (String) -> Bool

    /// - Parameters:
    ///   - limit: The greatest length, in bytes.
    ///   - allows: Whether a value within the limit is valid.
    package init(limit: Int, allows: @escaping @Sendable (String) -> Bool) {
        self.limit = limit
        self.allows = allows
    }

    package func accepts(_ value: String) -> Bool {
        value.utf8.count <= limit && allows(value)
    }

    /// Tokens, IDs and protocol names: visible ASCII (RFC 6749, appendix A, VSCHAR without the space).
    package static func token(_ limit: Int) -> WireForm {
        WireForm(limit: limit) { value in
            !value.isEmpty && value.utf8.allSatisfy(\.isVisibleASCII)
        }
    }

    /// A secret token, limited only by the length of a line.
    package static let secret = token(65_535)
    /// A scope (RFC 6749, 3.3).
    package static let scope = WireForm(limit: 1024) { value in
        !value.isEmpty && value.utf8.allSatisfy { $0.isVisibleASCII && $0 != 0x22 && $0 != 0x5C }
    }
    /// Names of users and tenants: any text without control characters.
    package static func text(_ limit: Int) -> WireForm {
        WireForm(limit: limit) { value in
            // Looking up Unicode properties is slow, and most texts are ASCII.
            value.utf8.allSatisfy { (0x20...0x7E).contains($0) } || value.unicodeScalars.allSatisfy { !$0.isControl }
        }
    }
    /// A plugin's memo: any text on one line.
    package static let memo = text(16_384)
    /// Messages, which are made displayable rather than refused.
    package static let message = WireForm(limit: 16_384) { _ in true }
    /// base64url, with or without padding.
    package static let base64URL = WireForm(limit: 16_384) { Base64URL.isEncoded($0) }
    /// `host` or `host:port`, in lower case.
    package static let host = WireForm(limit: 261) { HostName.isCanonical($0) }
    /// A page that may be opened in a browser: https, or http on this machine.
    package static let page = WireForm(limit: 32_768) { text in
        StrictURL(web: text).map { $0.scheme == "https" || $0.isLoopbackHTTP } ?? false
    }
    /// A page on the network: https only.
    package static let securePage = WireForm(limit: 4096) { StrictURL(https: $0) != nil }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
