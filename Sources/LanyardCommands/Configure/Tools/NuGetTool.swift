import Addresses
import ConsumerProtocols
import Files
import Secrets
import Terminal

extension Tool {
    static let nuget = Tool(
        "nuget", relatives: ["dotnet"], .link("nuget-plugin-lanyard"), { NuGetConsumer($0.arguments) },
        setup: ToolSetup(
            purpose: "NuGet and dotnet use lanyard as a credential provider",
            discussion: """
                NuGet 6.13 and later (.NET SDK 9.0.200) run each `nuget-plugin-…` on PATH. If lanyard's isn't there, this makes \
                `~/.local/bin/nuget-plugin-lanyard` a link to it.
                """,
            programs: ["dotnet", "nuget"],
            oldest: { $0.hasSuffix("/dotnet") ? ToolVersion(9, 0, 200) : ToolVersion(6, 13) },
            newer: { _ in "install a newer one: https://dotnet.microsoft.com/download" }, settings: NuGetSettings.init))
}

/// NuGet and dotnet: they find a plugin on `PATH` by its name.
struct NuGetSettings: ToolSettings {
    let place: ToolPlace

    private let program = "nuget-plugin-lanyard"
    /// If one of these is set, NuGet doesn't search `PATH`.
    private let variables = ["NUGET_PLUGIN_PATHS", "NUGET_NETCORE_PLUGIN_PATHS"]

    func changes() throws(Failure) -> [ToolChange] {
        let file = place.context.program(program) ?? "\(place.home)/.local/bin/\(program)"
        return [try place.link(file, to: program)]
    }

    /// NuGet asks a plugin only for what no variable and no file has a password for.
    func overrides() throws(Failure) -> [ToolOverride] {
        var overrides = variables.compactMap { variable in
            place.context.variable(variable).map { value in
                ToolOverride(
                    "NuGet looks for plugins only where \(variable) says", unset: variable,
                    asksLanyard: value.hasBytes(program))
            }
        }
        if place.context.program(program) == nil {
            let folder = #"export PATH="$HOME/.local/bin:$PATH""#
            overrides.append(
                ToolOverride(hint: Hint("\(program) is not on PATH; put its folder there", write: folder)))
        }
        let other = "\(place.home)/.nuget/plugins/netcore/CredentialProvider.Microsoft"
        if place.context.isFile(other) {
            let hint: Hint = "\(place.context.short(other)) may be asked first; remove it for lanyard's feeds"
            overrides.append(ToolOverride(part: "feeds that Microsoft's provider knows", hint: hint))
        }
        let start = "NuGetPackageSourceCredentials_"
        for variable in place.context.environment.keys.sorted() where variable.hasPrefix(start) {
            let source = String(variable.dropFirst(start.utf8.count)).displayable(limit: 100)
            let what = "\(start)\(source) in the environment has the password for \(source), which comes first"
            overrides.append(ToolOverride(what, unset: variable, part: source))
        }
        for file in settingsFiles {
            for source in sources(in: place.content(of: file)) {
                let source = source.displayable(limit: 100)
                let what = "\(place.context.short(file)) has the password for the source \(source), which comes first"
                overrides.append(ToolOverride(part: source, isChoice: true, hint: Hint(what)))
            }
        }
        return overrides
    }

    /// Returns NuGet's files, the nearest first.
    private var settingsFiles: [String] {
        let names = ["nuget.config", "NuGet.config", "NuGet.Config"]
        let own = "\(place.home)/.nuget"
        let more = ((try? Folder("\(own)/config"))?.names(atMost: 1000) ?? []).filter {
            $0.lowercased().hasSuffix(".config")
        }
        return place.projectFolders.flatMap { folder in names.map { "\(folder)/\($0)" } }
            + ["\(own)/NuGet/NuGet.Config"] + more.sorted().map { "\(own)/config/\($0)" }
    }

    /// Returns the sources for which a file's text has passwords: the elements in `packageSourceCredentials`.
    private func sources(in text: String) -> [String] {
        let names = text.pieces(between: "<").map { Substring($0.utf8.prefix { !" \t\r\n>".utf8.contains($0) }) }
        let inside = names.drop { !$0.isSame(as: "packageSourceCredentials") }.dropFirst()
            .prefix { !$0.isSame(as: "/packageSourceCredentials") }
        return inside.filter { name in
            name.utf8.first.map { !"/!".utf8.contains($0) } == true && !name.isSame(as: "add")
        }.map { $0.replacing(bytes: "_x0020_", with: " ") }
    }
}
