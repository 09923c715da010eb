import Addresses
import Model
import Rules
import Secrets
import Terminal

extension Tool {
    static let go = Tool(
        "go",
        .verb(
            ToolVerb(
                name: "goauth", abstract: "Answer the go command's requests for credentials (GOAUTH).",
                discussion: "Standard input is the server's answer, up to a blank line; it may be empty.",
                argument: "The URL that Go could not load; without it, the answer is empty.", isOptional: true,
                examples: [
                    "Make Go use lanyard": #"export GOAUTH="lanyard goauth""#,
                    "See what Go gets": "lanyard goauth \(Example.url) </dev/null",
                ])),
        { GoProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "Go use lanyard for modules",
            discussion: """
                Adds lanyard to `GOAUTH` in the file that `go env -w` writes. It needs Go 1.24 or later. netrc, which Go reads by default, or what \
                `GOAUTH` already names still comes first.
                """,
            oldest: { _ in ToolVersion(1, 24) }, versionArgument: "version",
            newer: { _ in "install a newer one from https://go.dev/dl" }, paths: ["GOENV"],
            settings: GoSettings.init))
}

/// Go: lanyard becomes the last command in GOAUTH.
struct GoSettings: ToolSettings {
    let place: ToolTarget

    func changes() throws(CommandError) -> [ToolChange] {
        let setting = ToolSetting(.lines, ["GOAUTH"], in: try file())
        return [ToolChange(setting: setting, value: try value(try setting.current()))]
    }

    func remarks() throws(CommandError) -> [Hint] {
        guard try ToolSetting(.lines, ["GOAUTH"], in: try file()).current() == "off" else { return [] }
        return ["GOAUTH is off, so Go sends no credentials; lanyard replaces that until lanyard unconfigure go"]
    }

    func overrides() throws(CommandError) -> [ToolOverride] {
        let own = place.context.variable("GOAUTH").map { own in
            let what: Message =
                own == "off" ? "GOAUTH is off in the environment, which wins" : "GOAUTH in the environment wins"
            return ToolOverride(what, unset: "GOAUTH", asksLanyard: namesLanyard(own))
        }
        let isOff = place.context.variable("GOENV") == "off"
        return [own, isOff ? ToolOverride("GOENV is off, so that Go reads no settings", unset: "GOENV") : nil]
            .compactMap(\.self) + place.overridesOfNetrc
    }

    private func file() throws(CommandError) -> String {
        guard place.context.variable("GOENV") != "off" else {
            throw CommandError("Go reads no settings here: GOENV is off", hints: [Hint(run: "unset GOENV")])
        }
        if let named = place.named("GOENV") { return named }
        guard place.context.variable("XDG_CONFIG_HOME")?.hasPrefix("/") != false else {
            throw CommandError(
                "Go reads no settings here: XDG_CONFIG_HOME is no absolute path",
                hints: [Hint(run: "unset XDG_CONFIG_HOME")])
        }
        return "\(place.settings)/go/env"
    }

    /// Returns the commands with lanyard's added; `off` can't be combined with others.
    private func value(_ old: String?) throws(CommandError) -> String {
        if let old, namesLanyard(old) { return old }
        // Go first splits the list at semicolons; in quotes, nothing is escaped.
        let program = try place.word("lanyard", for: "go") { program in
            guard !program.hasBytes(";") else { return nil }
            return ["'", "\""].first { !program.hasBytes($0) }.map { $0 + program + $0 }
        }
        guard let old, !old.isEmpty, old != "off" else { return "\(old == "off" ? "" : "netrc; ")\(program) goauth" }
        return "\(old); \(program) goauth"
    }

    private func namesLanyard(_ list: String) -> Bool {
        list.pieces(between: ";").contains { command in
            let words = ShellWords.split(String(command)) ?? []
            return words.count == 2 && words[0].pieces(between: "/").last == "lanyard" && words[1] == "goauth"
        }
    }
}

/// The `GOAUTH` protocol of Go 1.24 and later (`go help goauth`): Go calls once without a URL before the first
/// download, and again with a URL after each 4xx answer, which it writes to stdin.
///
/// The first call returns nothing. Go would cache what it gets for every host that the rules name, and each of them
/// would take a look at the keyring, and perhaps a renewal, for every command that downloads anything.
public struct GoProtocol: ToolProtocol {
    private let arguments: [String]
    private var input = ToolInput()
    private var request = CredentialRequest()

    /// Creates a tool for the arguments after `goauth`: none, or the URL that Go couldn't load.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Ends without an answer unless there is an https URL; Go asks for no other.
    public mutating func begin() -> Turn {
        guard let url = arguments.first else { return Turn(.end(0)) }
        guard arguments.count == 1, !url.hasPrefix("-") else {
            return .fail(
                "goauth takes one URL at most", remedy: "set GOAUTH=\"lanyard goauth\"; go adds the URL", status: 64)
        }
        do throws(ProtocolError) { request = try CredentialRequest(wholeURL: url, takesAuthorizations: true) } catch {
            return .fail("this can't be the URL of a module: \(url.displayableURL)")
        }
        return request.scheme == "https" ? Turn(.read) : Turn(.end(0))
    }

    /// Reads the server's answer, asks the engine once, and answers.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .input(let bytes): read(bytes)
        case .credential(let credential): answer(credential)
        case .nothing: Turn(.end(0))
        case .refused(let refusal): Turn(complaint: .refusal, .end(refusal.status))
        }
    }

    /// Reads up to a blank line or the end of the input.
    private mutating func read(_ bytes: [UInt8]) -> Turn {
        input.append(bytes)
        if input.isTooLong { return .fail("the server's answer is longer than 1 MiB") }
        let isWhole =
            bytes.isEmpty || ["\n\n", "\r\n\r\n"].contains { input.all.suffix($0.utf8.count).elementsEqual($0.utf8) }
        guard isWhole else { return Turn(.read) }
        let lines = input.all.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        guard lines.first?.hasPrefix("HTTP/") != false else {
            return .fail("standard input holds no answer of an HTTP server")
        }
        for line in lines.dropFirst() { request.hear(header: line) }
        return Turn(.ask(.get(request)))
    }

    private func answer(_ credential: Credential) -> Turn {
        let value = credential.authorizationHeader
        guard !value.hasControlCharacter else { return Turn(complaint: .unwritable(request), .end(1)) }
        let lines = prefixes + ["", "Authorization: \(value)", ""]
        return Turn(output: lines.flatMap { Array($0.utf8) + [0x0A] }, .end(0))
    }

    /// The URL prefixes that Go may use the credential for: the requested URL, everything below it, and all versions of
    /// the module.
    ///
    /// No other rule can match them. Go compares the prefixes with whole URLs, including queries, and cuts segments off
    /// the end.
    private var prefixes: [String] {
        let url = arguments[0]
        let path = url[...].beforeQuery
        var prefixes = [url]
        if path.endIndex < url.endIndex { prefixes.append(String(path)) }
        let segments = path.pieces(between: "/", omittingEmpty: false)
        if let index = segments.lastIndex(where: { $0.isSame(as: "@v") }), index < segments.count - 1 {
            prefixes.append(segments[...index].joined(separator: "/"))
        }
        return prefixes
    }
}
