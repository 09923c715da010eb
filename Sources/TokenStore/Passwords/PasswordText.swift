import Addresses
internal import Secrets

// The secret of a password item: the password, then `key=value` lines, as git-credential-libsecret writes it. The lines
// aren't attributes because attributes are neither secret nor meant to change.

extension StoredPassword {
    /// Parses the secret of a user's item; nil if it isn't UTF-8.
    ///
    /// Unknown lines are ignored.
    init?(itemSecret bytes: [UInt8], username: String?) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.pieces(between: "\n", omittingEmpty: false).map(String.init)
        self.init(username: username, proof: .password(Secret(lines[0])))
        for line in lines.dropFirst() {
            if let value = line.value(of: "password_expiry_utc=") { expiresOn = Int(value) }
            if let value = line.value(of: "oauth_refresh_token=") { oauthRefreshToken = Secret(value) }
        }
        // git writes 0 for never.
        if expiresOn == 0 { expiresOn = nil }
    }

    /// The secret of an item with this password; nil if a line feed in a part would make it read as several lines.
    func itemSecret(_ password: Secret) -> [UInt8]? {
        var lines = [password.reveal()]
        if let expiresOn { lines.append("password_expiry_utc=\(expiresOn)") }
        if let oauthRefreshToken { lines.append("oauth_refresh_token=\(oauthRefreshToken.reveal())") }
        guard !lines.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) else { return nil }
        return Array(lines.joined(separator: "\n").utf8)
    }
}

extension String {
    fileprivate func value(of prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
