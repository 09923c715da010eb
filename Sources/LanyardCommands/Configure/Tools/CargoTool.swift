import Addresses
import Secrets
import SettingsFile
import Terminal
import ToolTexts

/// cargo: lanyard becomes the last global credential provider, which cargo asks first.
enum CargoTool: ConfigurableTool {
    static let name = "cargo"
    static let purpose = "cargo use lanyard as a credential provider"
    static let discussion = """
        Adds lanyard to `global-credential-providers` in cargo's config.toml. Tokens that `cargo login` keeps still apply to registries that \
        lanyard has no credential for. It needs cargo 1.74 or later.
        """
    static let url = ToolURL.none

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let file = file(place)
        let setting = ToolSetting(.toml, ["registry", "global-credential-providers"], in: file)
        // Cargo takes what follows a blank for arguments.
        let program = try place.word("cargo-credential-lanyard", for: "cargo") { $0.hasBytes(" ") ? nil : $0 }
        return [ToolChange(setting: setting, value: try list(try setting.current(), with: program, file))]
    }

    static func urlsFound(_ place: ToolPlace) -> [String] {
        let file = file(place)
        guard let text = (try? SettingsText(reading: file))?.text,
            let registries = try? SettingsTable(file: file, text: text).table("registries")
        else { return [] }
        return registries.keys.compactMap { name in
            guard let registry = try? registries.table(name), hasLanyard(registry) else { return nil }
            let index = (try? registry.string("index")) ?? name
            return String(index.hasPrefix("sparse+") ? index.dropFirst("sparse+".count) : index[...])
        }
    }

    /// Whether a registry has lanyard as its own provider, in a line of words or a list of them.
    private static func hasLanyard(_ registry: SettingsTable) -> Bool {
        let key = "credential-provider"
        let words = (try? registry.strings(key)) ?? (try? registry.string(key)).map { [$0] }
        return words?.first?.hasBytes("cargo-credential-lanyard") == true
    }

    /// Returns the path of cargo's configuration; cargo prefers the old name if both files exist.
    private static func file(_ place: ToolPlace) -> String {
        let folder = place.path("CARGO_HOME", else: ".cargo")
        return place.context.isFile("\(folder)/config") ? "\(folder)/config" : "\(folder)/config.toml"
    }

    /// Returns the list of providers with lanyard added.
    private static func list(_ old: String?, with program: String, _ file: String) throws(Failure) -> String {
        let new = "\"\(program.inTOMLString)\""
        guard let old else { return "[\"cargo:token\", \(new)]" }
        guard !old.hasBytes("cargo-credential-lanyard") else { return old }
        let body = old.dropLast().trimmed(of: " \t\r\n,")
        guard old.utf8.first == UInt8(ascii: "["), old.utf8.last == UInt8(ascii: "]"), !body.hasBytes("#") else {
            throw Failure(
                "\(file.displayable()) has a list of providers that lanyard can't safely extend",
                hints: [Hint("add to global-credential-providers", write: new)])
        }
        return body.utf8.count == 1 ? "[\(new)]" : "\(body), \(new)]"
    }
}

extension String {
    fileprivate var inTOMLString: String {
        replacing(bytes: #"\"#, with: #"\\"#).replacing(bytes: #"""#, with: #"\""#)
    }
}
