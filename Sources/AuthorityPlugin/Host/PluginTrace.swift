import CredentialProtocol

/// A listener to conversations with plugins, for `LANYARD_TRACE=plugin`.
///
/// Secrets are masked before it is called, and lines are fit to show.
public typealias PluginTrace = @Sendable (_ direction: PluginTraceDirection, _ line: String) -> Void

/// Whose line a trace shows.
public enum PluginTraceDirection: String, Sendable {
    /// The host's, on the plugin's standard input.
    case toPlugin = ">"
    /// The plugin's, on its standard output.
    case fromPlugin = "<"
    /// The plugin's, on its standard error; free text.
    case standardError = "!"
}

/// Masks what a trace must not show.
enum TraceMask {
    /// Keys whose values are secret, or may be: `value` is what a person typed or pasted.
    private static let secretKeys: Set<String> = [
        "access_token", "refresh_token", "id_token", "id_token_hint", "value", "client_info", "device_code",
        "client_secret", "assertion", "password", "code_verifier",
    ]
    /// Parameters in URLs that are secret; `state` and `nonce` tie an answer to its request.
    private static let secretParameters: Set<String> = [
        "code", "access_token", "refresh_token", "id_token", "id_token_hint", "state", "nonce", "client_info",
        "device_code", "session_state", "code_verifier", "client_secret", "assertion",
    ]

    static func lines(of block: Attributes) -> [String] {
        block.lines.map { line in
            let isSecret = secretKeys.contains(line.key.lowercased())
            return "\(line.key.displayable(limit: 64))=\(isSecret ? "<redacted>" : masked(line.value))"
        }
    }

    /// The text with the values of secret parameters and whatever looks like a token masked.
    static func masked(_ text: String) -> String {
        var shown = ""
        var word = ""
        func flush() {
            shown += masked(word: word, after: shown)
            word = ""
        }
        for character in text {
            if "?&#; \"'".contains(character) {
                flush()
                shown.append(character)
            } else {
                word.append(character)
            }
        }
        flush()
        return shown.displayable(limit: 2000)
    }

    private static func masked(word: String, after shown: String) -> String {
        if let equals = word.firstIndex(of: "="), secretParameters.contains(word[..<equals].lowercased()) {
            return word[...equals] + "<redacted>"
        }
        // A JWT, or an opaque token: long, without any of the punctuation of text and URLs.
        let isToken = word.utf8.count > 200 && !word.contains("/") || word.hasPrefix("eyJ") && word.utf8.count > 40
        return isToken ? "<redacted>" : word
    }
}
