import Addresses
internal import Secrets

/// The secret of a password item: the password, then `key=value` lines, as git-credential-libsecret writes it.
///
/// The lines aren't attributes because attributes are neither secret nor meant to change.
struct PasswordText {
    var password: String
    var expiresOn: Int?
    var oauthRefreshToken: String?

    init(password: Secret, expiresOn: Int?, oauthRefreshToken: Secret?) {
        self.password = password.reveal()
        self.expiresOn = expiresOn
        self.oauthRefreshToken = oauthRefreshToken?.reveal()
    }

    /// Parses a secret; nil if it isn't UTF-8.
    ///
    /// Unknown lines are ignored.
    init?(bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.pieces(between: "\n", omittingEmpty: false)
        password = lines.first.map(String.init) ?? ""
        for line in lines.dropFirst() {
            if let value = line.value(of: "password_expiry_utc=") { expiresOn = Int(value) }
            if let value = line.value(of: "oauth_refresh_token=") { oauthRefreshToken = value }
        }
        // git writes 0 for never.
        if expiresOn == 0 { expiresOn = nil }
    }

    /// The secret as text; nil if a line feed in a part would make it read as several lines.
    var text: String? {
        var lines = [password]
        if let expiresOn { lines.append("password_expiry_utc=\(expiresOn)") }
        if let oauthRefreshToken { lines.append("oauth_refresh_token=\(oauthRefreshToken)") }
        return lines.contains { $0.utf8.contains(UInt8(ascii: "\n")) } ? nil : lines.joined(separator: "\n")
    }
}

extension Substring {
    fileprivate func value(of prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
