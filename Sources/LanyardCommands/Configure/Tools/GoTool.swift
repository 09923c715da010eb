import Addresses
import Terminal
import ToolTexts

/// Go: lanyard becomes the last command in GOAUTH.
enum GoTool: ConfigurableTool {
    static let name = "go"
    static let purpose = "Go use lanyard for modules"
    static let discussion = """
        Adds lanyard to `GOAUTH` in the file that `go env -w` writes. It needs Go 1.24 or later. netrc, which Go reads by default, or what \
        `GOAUTH` already names still comes first.
        """
    static let url = ToolURL.none

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let setting = ToolSetting(.lines, ["GOAUTH"], in: try file(place))
        return [ToolChange(setting: setting, value: value(try setting.current(), place))]
    }

    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        guard try ToolSetting(.lines, ["GOAUTH"], in: try file(place)).current() == "off" else { return [] }
        return ["GOAUTH is off, so Go sends no credentials; lanyard replaces that until lanyard unconfigure go"]
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        guard let own = place.context.variable("GOAUTH"), !own.hasBytes("lanyard") else { return [] }
        let what = own == "off" ? "GOAUTH is off in the environment, which wins" : "GOAUTH in the environment wins"
        return [Hint("\(what); unset it", run: "unset GOAUTH")]
    }

    static func override(_ place: ToolPlace) -> Bool? {
        place.context.variable("GOAUTH").map { $0.hasBytes("lanyard goauth") }
    }

    private static func file(_ place: ToolPlace) throws(Failure) -> String {
        guard place.context.variable("GOENV") != "off" else {
            throw Failure("Go reads no settings here: GOENV is off", hints: [Hint(run: "unset GOENV")])
        }
        return place.context.variable("GOENV") ?? "\(place.settings)/go/env"
    }

    /// Returns the commands with lanyard's added; `off` can't be combined with others.
    private static func value(_ old: String?, _ place: ToolPlace) -> String {
        guard let old, !old.isEmpty, old != "off" else {
            return "\(old == "off" ? "" : "netrc; ")\(place.program("lanyard")) goauth"
        }
        return old.hasBytes("lanyard goauth") ? old : "\(old); \(place.program("lanyard")) goauth"
    }
}
