import Files
import Terminal
import ToolTexts

/// pip: it runs the program `keyring`.
enum PipTool: ConfigurableTool {
    static let name = "pip"
    static let purpose = "pip use lanyard as its keyring"
    static let discussion = """
        Has pip run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. It needs pip 23.1 or \
        later.
        """
    static let url = ToolURL.none
    static let relatives = ["pip3"]
    static let programs = ["pip", "pip3"]

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        guard place.context.variable("PIP_CONFIG_FILE") != "/dev/null" else {
            throw Failure(
                "pip reads no settings here: PIP_CONFIG_FILE is /dev/null", hints: [Hint(run: "unset PIP_CONFIG_FILE")])
        }
        return [ToolChange(.ini, ["global", "keyring-provider"], in: file(place), to: "subprocess")]
            + KeyringLink(place: place).changes
    }

    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        var notes = KeyringLink(place: place).notes(unless: variable)
        if let own = ownProvider(place), !KeyringLink.isRun(own) {
            notes.append(
                KeyringLink.note(of: own, in: "[install]", of: place.context.short(file(place)), "pip install"))
        }
        return notes
    }

    static func override(_ place: ToolPlace) -> Bool? {
        let link = KeyringLink(place: place)
        if let asked = link.override(by: variable) { return asked }
        return ownProvider(place).map(KeyringLink.isRun) == false || !link.isFound ? false : nil
    }

    private static let variable = "PIP_KEYRING_PROVIDER"

    /// Returns the provider for `pip install` only.
    private static func ownProvider(_ place: ToolPlace) -> String? {
        try? ToolSetting(.ini, ["install", "keyring-provider"], in: file(place)).current()
    }

    /// Returns the configuration file; one that the variable names replaces the user's if it exists.
    private static func file(_ place: ToolPlace) -> String {
        place.context.environment.absolutePath("PIP_CONFIG_FILE").flatMap { place.context.isFile($0) ? $0 : nil }
            ?? "\(place.settings)/pip/pip.conf"
    }
}
