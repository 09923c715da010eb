import Addresses
import Files
import Secrets
import SettingsFile
import Terminal

extension Tool {
    static let uv = Tool(
        "uv", .link("keyring"), KeyringProtocol.init,
        setup: ToolSetup(
            purpose: "uv use lanyard as its keyring",
            discussion: """
                Has uv run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. uv asks for indexes \
                whose URL has a user name, such as https://me@python.contoso.com/…, or that are marked with `authenticate = "always"`.
                """,
            paths: ["UV_CONFIG_FILE"], settings: UvSettings.init))
}

/// uv: it runs the same program as pip.
struct UvSettings: ToolSettings {
    let place: ToolTarget

    func changes() throws(CommandError) -> [ToolChange] {
        [ToolChange(.toml, ["keyring-provider"], in: file, to: #""subprocess""#)]
            + KeyringLink(place: place).changes
    }

    func notes() throws(CommandError) -> [Hint] {
        let once = Hint(
            "uv asks lanyard only for indexes whose URL has a user name; for another, in its [[index]]",
            write: #"authenticate = "always""#)
        return [once] + (try faults())
    }

    /// A project's settings come before the user's; what `uv auth login` keeps comes before the keyring.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let own = file
        var named: [(provider: String, place: String, part: String?)] = []
        for (file, section) in projectFiles + [(file: own, section: [])] {
            let all = try? SettingsTable(file: file, text: place.content(of: file))
            func look(in section: [String], _ part: String?) {
                var table = all
                for name in section { table = try? table?.table(name) }
                guard let provider = try? table?.string("keyring-provider") else { return }
                let start = section.isEmpty ? "" : "[\(section.joined(separator: "."))] of "
                named.append((provider, "\(start)\(place.context.short(file))", part))
            }
            if file != own { look(in: section, nil) }
            look(in: section + ["pip"], "uv pip")
        }
        let isOff = place.context.boolean("UV_NO_CONFIG") == true
        return KeyringLink(place: place).overrides("UV_KEYRING_PROVIDER", named)
            + (isOff ? [ToolOverride("UV_NO_CONFIG has uv read no settings", unset: "UV_NO_CONFIG")] : [])
            + place.overridesOfNetrc + kept
    }

    /// Returns overrides for the services that `uv auth login` keeps passwords for.
    private var kept: [ToolOverride] {
        let file = "\(place.named("UV_CREDENTIALS_DIR") ?? "\(place.data)/uv/credentials")/credentials.toml"
        return place.content(of: file).pieces(between: "\n").compactMap { line -> ToolOverride? in
            guard let (key, value) = line.cut(at: "="), key.trimmed(of: " \t") == "service" else { return nil }
            let service = String(value.trimmed(of: " \t\r\"'"))
            let shown = service.displayable(limit: 200)
            return ToolOverride(
                part: shown,
                hint: Hint(
                    "uv keeps a password of its own for \(shown), which comes first; to remove it",
                    run: "uv auth logout \(service)"))
        }
    }

    /// Returns the settings of the nearest folder, from the working folder upwards, that has any, and their table.
    private var projectFiles: [(file: String, section: [String])] {
        guard place.context.variable("UV_CONFIG_FILE") == nil else { return [] }
        for folder in place.projectFolders {
            if place.context.isFile("\(folder)/uv.toml") { return [("\(folder)/uv.toml", [])] }
            let project = "\(folder)/pyproject.toml"
            if place.content(of: project).hasBytes("[tool.uv") { return [(project, ["tool", "uv"])] }
        }
        return []
    }

    private var file: String {
        place.named("UV_CONFIG_FILE") ?? "\(place.settings)/uv/uv.toml"
    }
}
