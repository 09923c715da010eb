import Addresses
import PluginWire
import Secrets
import Synchronization

/// A listener to conversations with plugins, for `LANYARD_TRACE=plugin`.
///
/// Secrets are masked before it is called, and lines are safe to display.
public typealias PluginTrace = @Sendable (_ direction: PluginTraceDirection, _ line: String) -> Void

/// The source of a line in a trace.
public enum PluginTraceDirection: String, Sendable {
    /// The host, on the plugin's standard input.
    case toPlugin = ">"
    /// The plugin, on its standard output.
    case fromPlugin = "<"
    /// The plugin, on its standard error; free text.
    case standardError = "!"
    /// The host's remark on what the plugin wrote, such as a key that nobody knows.
    case note = "#"
}

/// Masks secrets in traces.
enum TraceMask {
    /// Keys whose values are secret or may be: `value` is a text that the user typed or pasted.
    private static let secretKeys: Set<String> = [
        "access_token", "refresh_token", "id_token", "id_token_hint", "value", "client_info", "device_code",
        "client_secret", "assertion", "password", "code_verifier", "secret", "field[]", "variable[]",
        "certificate_password", "registration_token", "memo",
    ]
    /// Secret parameters in URLs; `state` and `nonce` tie an answer to its request.
    private static let secretParameters: Set<String> = [
        "code", "access_token", "refresh_token", "id_token", "id_token_hint", "state", "nonce", "client_info",
        "device_code", "session_state", "code_verifier", "client_secret", "assertion",
    ]

    /// Returns a line of a plugin's output, whatever it holds, with its secrets and what is already known to be one masked.
    static func line(_ text: String, hiding known: KnownSecrets) -> String {
        guard let block = block(of: text) else { return known.masked(stray(text)) }
        return lines(of: block, hiding: known, hidesUsername: known.hidesUsername).first ?? ""
    }

    /// Returns a line as a block of its own; nil if it is no `key=value`, or empty.
    fileprivate static func block(of line: String) -> Attributes? {
        guard let (key, value) = line.cut(at: "=") else { return nil }
        var block = Attributes()
        return (try? block.append(String(key), String(value))).map { block }
    }

    /// Returns a line that is no `key=value`; one that names a secret isn't shown, since nobody knows where that begins.
    static func stray(_ text: String) -> String {
        if let block = block(of: text) { return lines(of: block).first ?? "" }
        let name = secretKeys.union(secretParameters).sorted().first {
            text.lowercased().hasBytes($0) && $0.utf8.count > 5
        }
        return name.map { "<a line that names \($0)>" } ?? masked(text)
    }

    /// Returns a block's lines, with its secrets and what is already known to be one masked.
    static func lines(
        of block: Attributes, hiding known: KnownSecrets = KnownSecrets(), hidesUsername: Bool = false
    ) -> [String] {
        block.lines.map { line in
            let isSecret =
                isSecret(line, in: block) || isNearSecret(line.key)
                || hidesUsername && line.key.lowercased() == "username"
            let value = isSecret ? "<redacted>" : masked(known.masked(line.value))
            return "\(line.key.displayable(limit: 64))=\(value)"
        }
    }

    /// Returns the secrets in a block: the values of secret keys, and of secret parameters in the others.
    fileprivate static func secrets(in block: Attributes, hidesUsername: Bool = false) -> [String] {
        block.lines.flatMap { line in
            var texts = Substring(line.value).utf8.split { "?&#;, \"'{}".utf8.contains($0) }.compactMap { word in
                Substring(word).cut(at: "=").flatMap { secretParameters.contains($0.lowercased()) ? String($1) : nil }
            }
            let isSecret = isSecret(line, in: block) || hidesUsername && line.key.lowercased() == "username"
            if isSecret, !(line.key == "variable[]" && isPlace(line.value)) {
                texts.append(line.value)
                // `NAME=VALUE`
                if line.key.hasSuffix("[]"), let (_, value) = line.value.cut(at: "=") { texts.append(String(value)) }
            }
            return texts + texts.compactMap(\.percentDecoded)
        }
    }

    /// Whether a variable (`NAME=VALUE`) says where something is, or what it is called, so that an error must name it: its name
    /// ends so, or its value is a path, and nothing in its name is a secret's.
    private static func isPlace(_ variable: String) -> Bool {
        guard let (name, value) = variable.cut(at: "=") else { return false }
        let words = name.pieces(between: "_").map(String.init)
        let places = [
            "FILE", "PATH", "DIR", "DIRECTORY", "HOME", "HOST", "IP", "ENDPOINT", "PROFILE", "REGION", "ARN", "NAME",
        ]
        if let last = words.last, places.contains(last), words.count > 1 || last == "HOME" { return true }
        return value.hasPrefix("/")
            && !words.contains { ["SECRET", "TOKEN", "KEY", "PASSWORD", "URI", "URL"].contains($0) }
    }

    private static func isSecret(_ line: Attributes.Line, in block: Attributes) -> Bool {
        let key = line.key.lowercased()
        // In a request, it is the name of where the assertion comes from, which an error must name.
        if key == "assertion", block["identity"] != nil { return false }
        if secretKeys.contains(key) { return true }
        // In an exchange's result, the user name may be half of the secret.
        return key == "username" && (block["secret"] != nil || !block.list("field[]").isEmpty)
    }

    /// Whether a key may be a secret's, misspelt: `refreshtoken`, `acces_token`.
    private static func isNearSecret(_ key: String) -> Bool {
        func letters(_ key: String) -> String { String(decoding: key.utf8.filter(\.isLetter), as: UTF8.self) }
        let typed = letters(key.lowercased())[...]
        return secretKeys.contains { letters($0).mayBeTaken(for: typed) }
    }

    /// Returns the text with the values of secret parameters, and anything that looks like a token, masked.
    static func masked(_ text: String) -> String {
        var shown = ""
        var word = ""
        func flush() {
            shown += masked(word: word)
            word = ""
        }
        for character in text {
            if "?&#;, \"'{}".contains(character) {
                flush()
                shown.append(character)
            } else {
                word.append(character)
            }
        }
        flush()
        return shown.displayable(limit: 2000)
    }

    private static func masked(word: String) -> String {
        guard let (name, value) = word.cut(at: "=") else { return masked(value: word[...]) }
        if secretParameters.contains(name.lowercased()) { return name + "=<redacted>" }
        // The padding at the end of base64 isn't the end of a parameter's name.
        if value.utf8.allSatisfy({ $0 == UInt8(ascii: "=") }) { return masked(value: word[...]) }
        return masked(value: name) + "=" + masked(value: value)
    }

    private static func masked(value: Substring) -> String {
        if isToken(value) { return "<redacted>" }
        // A token may be in a path.
        let segments = value.pieces(between: "/", omittingEmpty: false)
        return segments.map { isToken($0) ? "<redacted>" : String($0) }.joined(separator: "/")
    }

    /// Whether a word looks like a JWT or an opaque token: very long without any punctuation of text or URLs, or long
    /// and as mixed as only random text is.
    private static func isToken(_ word: Substring) -> Bool {
        let length = word.utf8.count
        if word.hasPrefix("eyJ") && length > 40 { return true }
        return length > 200 && !word.hasBytes("/") || length > 60 && isRandom(word)
    }

    /// Whether a word consists of base64's characters or others in Microsoft's tokens, and changes case too often for
    /// names, paths and hexadecimal numbers.
    private static func isRandom(_ word: Substring) -> Bool {
        var hasDigit = false
        var changes = 0
        var wasCapital: Bool?
        for byte in word.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                if let wasCapital, wasCapital != isCapital { changes += 1 }
                wasCapital = isCapital
                hasDigit = hasDigit || byte <= UInt8(ascii: "9")
            default:
                guard "+/=-_.~!*$%".utf8.contains(byte) else { return false }
                wasCapital = nil
            }
        }
        return hasDigit && changes * 10 > word.utf8.count * 3
    }
}

/// The secrets of a conversation, which are masked wherever the plugin repeats them: on standard error, in a message, or in a
/// value of another key.
final class KnownSecrets: Sendable {
    /// Shorter ones would be found in ordinary words.
    private static let shortest = 4

    private let texts = Mutex<[String]>([])
    /// Whether a user name that the plugin answers is secret: that of what it exchanges or looks up may be half of it.
    let hidesUsername: Bool

    init(hidesUsername: Bool = false) {
        self.hidesUsername = hidesUsername
    }

    /// Adds the secrets in a line of the plugin's.
    func learn(line: String) {
        if let block = TraceMask.block(of: line) { learn(TraceMask.secrets(in: block, hidesUsername: hidesUsername)) }
    }

    /// Adds the secrets in a block of the host's or of the plugin's.
    func learn(_ block: Attributes) { learn(TraceMask.secrets(in: block)) }

    private func learn(_ secrets: [String]) {
        let new = secrets.flatMap { [$0, $0.percentEncoded] }
            .filter { $0.utf8.count >= Self.shortest }
        guard !new.isEmpty else { return }
        // The longest first, because one may be part of another.
        texts.withLock { texts in texts = Set(texts + new).sorted { $0.utf8.count > $1.utf8.count } }
    }

    /// Returns the text with all of these masked.
    func masked(_ text: String) -> String {
        texts.withLock { $0 }.reduce(text) { masked, secret in
            masked.hasBytes(secret) ? masked.replacing(bytes: secret, with: "<redacted>") : masked
        }
    }

    /// Returns a plugin's error with all of these masked in what people read.
    func masked(_ error: PluginError) -> PluginError {
        var error = error
        error.message = masked(error.message)
        error.hint = error.hint.map(masked)
        error.error = error.error.map(masked)
        error.suberror = error.suberror.map(masked)
        return error
    }
}
