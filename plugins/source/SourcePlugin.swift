import Addresses
import Glibc
import JSON
public import PluginKit
public import PluginWire
import Secrets
import Subprocess

/// Looks up credentials in password managers and other programs; each is a row of the manifest, which the request has.
public struct SourcePlugin: AuthorityPlugin {
    /// Creates the plugin.
    public init() {}

    /// The name and versions; it has neither flows nor identities.
    public var description: PluginDescription {
        PluginDescription(
            name: "source", version: Version.current, protocols: [PluginProtocol.version], flows: [])
    }

    /// Throws `unsupported`.
    public func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult { throw Self.noAuthority }

    /// Throws `unsupported`.
    public func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult { throw Self.noAuthority }

    /// Throws `unsupported`.
    public func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {
        throw Self.noAuthority
    }

    private static let noAuthority = PluginError(.unsupported, "source serves no authority")

    /// Runs the row's program, and finds the secret and the user name in its output.
    public func lookup(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginCredential {
        guard let wanted = request.lookup, !wanted.row.program.isEmpty else {
            throw PluginError(.unsupported, "the source has no program")
        }
        let names = ["{reference}", "{first}", "{rest}"]
        guard
            wanted.reference.isEmpty
                || (wanted.row.program + [wanted.row.asks ?? ""]).contains(where: { word in
                    names.contains(where: word.hasBytes)
                })
        else {
            throw PluginError(
                .invalidRequest, "\(wanted.source) looks up what it has for a host, and nothing by name",
                hint: "write source = \"\(wanted.source)\" in the rule")
        }
        let keepFor = try request.keepFor
        let words = try wanted.row.program.map { word throws(PluginError) in try wanted.filled(word) }
        var input: Secret?
        if let question = wanted.row.asks {
            switch await user.ask(.prompt(kind: .secret, message: try wanted.filled(question))) {
            case .answer(let answer): input = answer
            case .unsupported:
                throw PluginError(
                    .unavailable, "\(wanted.source) needs a password, and nobody can be asked here",
                    hint:
                        "run it at a terminal; for a tool that can't ask, let git ask first, with `keep-for` in [plugin.source]"
                )
            default: throw PluginError(.cancelled, "no password was given for \(wanted.source)")
            }
        }
        let output = SourceOutput(try await SourceProgram(words: words, lookup: wanted).output(given: input))
        let places = wanted.row.secret.isEmpty ? ["line 1"] : wanted.row.secret
        guard let secret = places.lazy.compactMap({ output.value(at: $0) }).first else {
            throw PluginError(
                .unavailable, "\(words[0].displayable(limit: 100)) gave no password for \(wanted.entry)",
                hint: wanted.unlocking
                    ?? "look at its output: it must have one at `\(places.joined(separator: "` or `").displayable())`")
        }
        // pass and gopass list a folder, below its name.
        guard
            wanted.reference.isEmpty
                || !secret.withoutTrailingSlashes.isSame(as: wanted.reference.withoutTrailingSlashes)
        else {
            throw PluginError(
                .unavailable,
                "\(wanted.entry) in \(wanted.source) has no password: it is a folder, or its password is its name",
                hint: "name an entry in the rule's `source`")
        }
        let username = wanted.row.username.lazy.compactMap { output.value(at: $0) }.first
        for (what, value, form) in [
            ("password", secret, WireForm.text(65_535)), ("user name", username ?? "", .basicUsername),
        ] where !form.accepts(value) {
            throw PluginError(
                .unavailable,
                "the \(what) that \(words[0].displayable(limit: 100)) gave for \(wanted.entry) can't be sent: it is too long, or has "
                    + (what == "password" ? "a control character" : "a colon or a control character"),
                hint: "change the entry")
        }
        var credential = PluginCredential(
            username: username.map { Secret($0) }, secret: Secret(secret), expiresIn: nil)
        credential.keepFor = keepFor
        return credential
    }
}

extension PluginRequest {
    /// For how many seconds the user allows an answer to be kept; nil if not at all.
    fileprivate var keepFor: Int? {
        get throws(PluginError) {
            guard let text = options["keep-for"] else { return nil }
            guard let seconds = Int(text), (0...86_400).contains(seconds) else {
                throw PluginError(
                    .invalidRequest, "keep-for in [plugin.source] is \(text.displayable(limit: 100))",
                    hint: "it is a number of seconds, from 0 to 86400: lanyard config set plugin.source.keep-for 300")
            }
            return seconds
        }
    }
}

extension PluginLookup {
    /// The hint with the command that unlocks the program; nil if it has none.
    var unlocking: String? {
        guard let unlock = row.unlock, let command = try? filled(unlock, quoting: true) else { return nil }
        return "unlock it, or see what is wrong: \(command)"
    }

    /// Returns a word of the row with the parts of the request in the place of their names; a leading `~/` in one is the home.
    ///
    /// With `quoting`, the word is a command for the user's shell.
    ///
    /// - Throws: `invalid-request` if the rule says nothing where it has to, or something that a program would take for an
    ///   option.
    func filled(_ word: String, quoting: Bool = false) throws(PluginError) -> String {
        let (first, rest) = reference.cut(at: ":").map { (String($0.0), String($0.1)) } ?? (reference, "")
        var filled = word
        for (name, value) in [("{host}", host), ("{reference}", reference), ("{first}", first), ("{rest}", rest)]
        where word.hasBytes(name) {
            guard !value.isEmpty else {
                throw PluginError(
                    .invalidRequest, "the rule doesn't say what to look up in \(source)",
                    hint:
                        "write source = \"\(source):\(row.program.contains("{first}") ? "DATABASE:ENTRY" : "ENTRY")\""
                )
            }
            guard !word.utf8.starts(with: name.utf8) || value.utf8.first != UInt8(ascii: "-") else {
                throw PluginError(.invalidRequest, "\(value.displayable(limit: 100)) looks like an option of a program")
            }
            var value = value
            // A shell finds it itself, whatever is in the home's name.
            if row.program.first != "sh", value.utf8.starts(with: "~/".utf8), let home = getenv("HOME") {
                value = String(cString: home) + value.dropFirst()
            }
            filled = filled.replacing(bytes: name, with: quoting ? value.quotedForShell : value)
        }
        return filled
    }
}

extension String {
    /// The text as one word of a shell's command.
    var quotedForShell: String {
        let isPlain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-")...UInt8(ascii: "/"), UInt8(ascii: "_"),
                UInt8(ascii: "@"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return isPlain ? self : "'" + replacing(bytes: "'", with: "'\\''") + "'"
    }
}

/// What a program has printed, and what can be found in it.
struct SourceOutput {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    private var lines: [Substring] {
        text.pieces(between: "\n", omittingEmpty: false).map { line in
            line.utf8.last == UInt8(ascii: "\r") ? Substring(line.utf8.dropLast()) : line
        }
    }

    /// Returns what is at a place; nil if nothing is there.
    ///
    /// A place is `line N`, a `NAME:` for the rest of the first line that begins with it, a member of JSON such as
    /// `.fields[id=password].value`, or a `=` with the value itself.
    func value(at place: String) -> String? {
        let found: String? =
            if place.hasPrefix("=") {
                String(place.dropFirst())
            } else if place.hasPrefix(".") {
                JSONValue(bytes: text.utf8)?.value(at: place.dropFirst().pieces(between: "."))
            } else if place.hasPrefix("line "), let number = Int(place.dropFirst(5)), lines.indices.contains(number - 1)
            {
                String(lines[number - 1])
            } else if place.hasSuffix(":") {
                lines.first { $0.lowercased().hasPrefix(place.lowercased()) }
                    .map { String($0.dropFirst(place.count)).trimmed(of: " \t") }.map { String($0) }
            } else {
                nil
            }
        return found?.isEmpty == false ? found : nil
    }
}

extension JSONValue {
    /// Returns the text at a path of members, each of which may choose an element of a list: `NAME[KEY=VALUE]`.
    fileprivate func value(at path: [Substring]) -> String? {
        guard let step = path.first else { return string }
        let (name, choice) = step.cut(at: "[").map { ($0.0, $0.1.dropLast()) } ?? (step, "")
        var next = self[String(name)]
        if let (key, value) = choice.cut(at: "=") {
            next = next?.elements.first { $0[String(key)]?.string == String(value) }
        }
        return next?.value(at: Array(path.dropFirst()))
    }
}
