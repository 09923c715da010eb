import Addresses
import ConsumerProtocols
import Glibc
import Secrets
import SettingsFile
import Terminal
import ToolTexts

extension Tool {
    static let cargo = Tool(
        "cargo", .link("cargo-credential-lanyard"), { CargoConsumer($0.arguments) },
        setup: ToolSetup(
            purpose: "cargo use lanyard as a credential provider",
            discussion: """
                Adds lanyard to `global-credential-providers` in cargo's config.toml. Tokens that `cargo login` keeps still apply to registries that \
                lanyard has no credential for. It needs cargo 1.74 or later.
                """,
            oldest: { _ in ToolVersion(1, 74) }, newer: { _ in "install a newer one from https://rustup.rs" },
            paths: ["CARGO_HOME"], settings: CargoSettings.init))
}

/// cargo: lanyard becomes the last global credential provider, which cargo asks first.
struct CargoSettings: ToolSettings {
    let place: ToolPlace

    func changes() throws(Failure) -> [ToolChange] {
        let file = self.file
        let setting = ToolSetting(.toml, ["registry", "global-credential-providers"], in: file)
        // Cargo takes what follows a blank for arguments.
        let program = try place.word("cargo-credential-lanyard", for: "cargo") { $0.hasBytes(" ") ? nil : $0 }
        return [ToolChange(setting: setting, value: try list(try setting.current(), with: program, file))]
    }

    var files: [String] { [file] }

    /// cargo joins the lists of all its files and of the variable, and asks the last provider first.
    ///
    /// That is the variable's, then those of the nearest folder. A registry's own provider is the only one that it asks.
    func overrides() throws(Failure) -> [ToolOverride] {
        let files = projectFiles + [file]
        let variable = "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS"
        var lists = [(variable, (place.context.variable(variable) ?? "").pieces(between: " ").map(String.init))]
        var registries: [ToolOverride] = []
        for file in files {
            let shown = place.context.short(file)
            guard let table = try? SettingsTable(file: file, text: place.content(of: file)) else { continue }
            let registry = try? table.table("registry")
            lists.append((shown, (try? registry?.strings("global-credential-providers")) ?? []))
            let all = try? table.table("registries")
            let named = (all?.keys ?? []).map { ($0, try? all?.table($0)) } + [("crates.io", registry)]
            for (name, table) in named where table.map(hasLanyard) == false {
                guard let table, provider(table) != nil else { continue }
                let part = name.displayable(limit: 100)
                registries.append(
                    ToolOverride(part: part, isChoice: true, hint: "\(shown) has another provider for \(part)"))
            }
        }
        var overrides: [ToolOverride] = []
        for (place, providers) in lists {
            let last = providers.lastIndex { $0.hasBytes(program) }
            for other in providers[(last.map { $0 + 1 } ?? 0)...].reversed() {
                let other = String(other.pieces(between: " ").first ?? "").displayable(limit: 60)
                overrides.append(
                    ToolOverride(
                        part: "what \(other) has",
                        hint: "\(other) is in \(place), so that cargo asks it before lanyard; remove it there"))
            }
            if last != nil { break }
        }
        return overrides + registries
    }

    private let program = "cargo-credential-lanyard"

    /// Returns the files of the projects around the working folder, the nearest first.
    private var projectFiles: [String] {
        place.projectFolders.map { "\($0)/.cargo" }.filter { $0 != home }.map(file(in:))
            .filter(place.context.isFile)
    }

    var urlsFound: [String] {
        let file = self.file
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
    private func hasLanyard(_ registry: SettingsTable) -> Bool { provider(registry)?.hasBytes(program) == true }

    private func provider(_ registry: SettingsTable) -> String? {
        let key = "credential-provider"
        return (try? registry.strings(key))?.first ?? (try? registry.string(key))
    }

    private var home: String { place.path("CARGO_HOME", else: ".cargo") }

    private var file: String { file(in: home) }

    /// Returns the path of the configuration in a folder; cargo prefers the old name if both files exist.
    private func file(in folder: String) -> String {
        access("\(folder)/config", F_OK) == 0 ? "\(folder)/config" : "\(folder)/config.toml"
    }

    /// Returns the list of providers with lanyard added.
    private func list(_ old: String?, with program: String, _ file: String) throws(Failure) -> String {
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
