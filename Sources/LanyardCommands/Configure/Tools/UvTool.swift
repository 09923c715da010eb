import Addresses
import Files
import Terminal
import ToolTexts

/// uv: it runs the same program as pip.
enum UvTool: ConfigurableTool {
    static let name = "uv"
    static let purpose = "uv use lanyard as its keyring"
    static let discussion = """
        Has uv run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. uv asks for indexes \
        whose URL has a user name, such as https://me@python.contoso.com/…, or that are marked with `authenticate = "always"`.
        """
    static let url = ToolURL.none

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        [ToolChange(.toml, ["keyring-provider"], in: file(place), to: #""subprocess""#)]
            + KeyringLink(place: place).changes
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let once = Hint(
            "uv asks lanyard only for indexes whose URL has a user name; for another, in its [[index]]",
            write: #"authenticate = "always""#)
        return [once] + (try faults(place))
    }

    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        var notes = KeyringLink(place: place).notes(unless: variable)
        if let own = ownProvider(place), own != "subprocess" {
            notes.append(KeyringLink.note(of: own, in: "[pip]", of: place.context.short(file(place)), "uv pip"))
        }
        return notes
    }

    static func override(_ place: ToolPlace) -> Bool? {
        let link = KeyringLink(place: place)
        return link.override(by: variable) ?? (link.isFound ? nil : false)
    }

    static func exception(_ place: ToolPlace) -> String? {
        guard place.context.variable(variable) == nil, let own = ownProvider(place), own != "subprocess"
        else { return nil }
        return "not for uv pip"
    }

    private static let variable = "UV_KEYRING_PROVIDER"

    /// Returns the provider for `uv pip` only.
    private static func ownProvider(_ place: ToolPlace) -> String? {
        (try? ToolSetting(.toml, ["pip", "keyring-provider"], in: file(place)).current())?.trimmed(of: "\"'")
            .description
    }

    private static func file(_ place: ToolPlace) -> String {
        place.context.environment.absolutePath("UV_CONFIG_FILE") ?? "\(place.settings)/uv/uv.toml"
    }
}
