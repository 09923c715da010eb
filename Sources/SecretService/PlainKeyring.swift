internal import Glibc
internal import Keyring

// A keyring of gnome-keyring's without a password is a text file in the format of GKeyFile. gnome-keyring (42 to 50)
// writes secrets into it as they are, but reads them like values with escapes when it starts: it cuts a secret at a line
// feed, can't read the file at all if the next line isn't `KEY=VALUE`, drops blanks before a secret, takes `\n` and its
// like for what they stand for, and has no secret at all if it doesn't know an escape (with GLib of 2024). It keeps
// secrets that aren't UTF-8, which it writes as digits.

extension ServiceSession {
    /// Returns the path of a collection's file if it is such a text; nil if it isn't, or isn't found.
    func plainFile(of collection: String) -> String? {
        guard let path = file(of: collection), Self.isText(path) else { return nil }
        let process = provider.bus.provider(withinMilliseconds: 500)
        let name = process.flatMap { Self.beginning(of: "/proc/\($0)/comm") }
        return name?.starts(with: "gnome-keyring".utf8) ?? true ? path : nil
    }

    /// Returns the same of the default collection.
    func plainFile() throws(KeyringError) -> String? { try collectionPath().flatMap { plainFile(of: $0) } }

    /// Returns a secret in a form that the collection gives back as it is.
    ///
    /// - Throws: `damaging` if there is none; only lanyard's own items, which are JSON, may have another form.
    func faithful(_ secret: [UInt8], _ contentType: String, in collection: String) throws(KeyringError) -> [UInt8] {
        // KeePassXC and KWallet drop it, as Qt does.
        guard !secret.starts(with: "\u{FEFF}".utf8) else {
            throw KeyringError(.broken, detail: "a secret that begins with a byte order mark can't be kept")
        }
        guard Self.isFragile(secret), plainFile(of: collection) != nil else { return secret }
        guard contentType == "application/json" else { throw KeyringError(.damaging) }
        return [Self.mark] + secret
    }

    /// Returns a secret in its own form.
    static func restored(_ secret: [UInt8]) -> [UInt8] {
        secret.starts(with: [mark, UInt8(ascii: "{")]) ? Array(secret.dropFirst()) : secret
    }

    /// What no text in UTF-8 has.
    private static let mark: UInt8 = 0xFF

    /// Whether a text file of gnome-keyring's would change a secret.
    static func isFragile(_ secret: [UInt8]) -> Bool {
        guard let first = secret.first, let last = secret.last, String(validating: secret, as: UTF8.self) != nil else {
            return false
        }
        let blanks = Array(" \t\r\u{B}\u{C}".utf8)
        return blanks.contains(first) || last == UInt8(ascii: "\r")
            || secret.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\\") }
    }

    private func file(of collection: String) -> String? {
        let name = collection.utf8.split(separator: UInt8(ascii: "/")).last.map { Self.decoded(Array($0)) } ?? ""
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        guard let folder = data ?? environment["HOME"].map({ $0 + "/.local/share" }) else { return nil }
        return "\(folder)/keyrings/\(name).keyring"
    }

    /// Returns the name in an object's path, in which `_` and two hexadecimal digits stand for other characters.
    private static func decoded(_ name: [UInt8]) -> String {
        var bytes: [UInt8] = []
        var rest = name[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "_"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isText(_ path: String) -> Bool {
        let blanks = Array(" \t\r\n".utf8)
        return beginning(of: path)?.first { !blanks.contains($0) } == UInt8(ascii: "[")
    }

    private static func beginning(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}
