import Addresses
import Secrets

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

    static func lines(of block: Attributes) -> [String] {
        // In an exchange's result, the user name may be half of the secret.
        let isCredential = block["secret"] != nil || !block.list("field[]").isEmpty
        return block.lines.map { line in
            let key = line.key.lowercased()
            let isSecret = secretKeys.contains(key) || isCredential && key == "username"
            return "\(line.key.displayable(limit: 64))=\(isSecret ? "<redacted>" : masked(line.value))"
        }
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
