import Addresses
import ConsumerProtocols
import Rules
import Terminal
import ToolTexts

extension Tool {
    static let go = Tool(
        "go",
        .verb(
            ToolVerb(
                "goauth", abstract: "Answer the go command's requests for credentials (GOAUTH).",
                discussion: "Standard input is the server's answer, up to a blank line; it may be empty.",
                argument: "The URL that Go could not load; without it, the answer is empty.", isOptional: true,
                examples: [
                    "Make Go use lanyard": #"export GOAUTH="lanyard goauth""#,
                    "See what Go gets": "lanyard goauth \(Example.url) </dev/null",
                ])),
        { GoConsumer($0.arguments) },
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
    let place: ToolPlace

    func changes() throws(Failure) -> [ToolChange] {
        let setting = ToolSetting(.lines, ["GOAUTH"], in: try file())
        return [ToolChange(setting: setting, value: try value(try setting.current()))]
    }

    func remarks() throws(Failure) -> [Hint] {
        guard try ToolSetting(.lines, ["GOAUTH"], in: try file()).current() == "off" else { return [] }
        return ["GOAUTH is off, so Go sends no credentials; lanyard replaces that until lanyard unconfigure go"]
    }

    func overrides() throws(Failure) -> [ToolOverride] {
        let own = place.context.variable("GOAUTH").map { own in
            let what = own == "off" ? "GOAUTH is off in the environment, which wins" : "GOAUTH in the environment wins"
            return ToolOverride(what, unset: "GOAUTH", asksLanyard: namesLanyard(own))
        }
        let isOff = place.context.variable("GOENV") == "off"
        return [own, isOff ? ToolOverride("GOENV is off, so that Go reads no settings", unset: "GOENV") : nil]
            .compactMap(\.self) + place.overridesOfNetrc
    }

    private func file() throws(Failure) -> String {
        guard place.context.variable("GOENV") != "off" else {
            throw Failure("Go reads no settings here: GOENV is off", hints: [Hint(run: "unset GOENV")])
        }
        if let named = place.named("GOENV") { return named }
        guard place.context.variable("XDG_CONFIG_HOME")?.hasPrefix("/") != false else {
            throw Failure(
                "Go reads no settings here: XDG_CONFIG_HOME is no absolute path",
                hints: [Hint(run: "unset XDG_CONFIG_HOME")])
        }
        return "\(place.settings)/go/env"
    }

    /// Returns the commands with lanyard's added; `off` can't be combined with others.
    private func value(_ old: String?) throws(Failure) -> String {
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
