import Addresses
import Files
import Terminal

/// NuGet and dotnet: they find a plugin on `PATH` by its name.
enum NuGetTool: ConfigurableTool {
    static let name = "nuget"
    static let purpose = "NuGet and dotnet use lanyard as a credential provider"
    static let discussion = """
        NuGet 6.13 and later (.NET SDK 9.0.200) run each `nuget-plugin-…` on PATH. If lanyard's isn't there, this makes \
        `~/.local/bin/nuget-plugin-lanyard` a link to it.
        """
    static let url = ToolURL.none
    static let relatives = ["dotnet"]
    static let programs = ["dotnet", "nuget"]

    private static let program = "nuget-plugin-lanyard"
    /// If one of these is set, NuGet doesn't search `PATH`.
    private static let variables = ["NUGET_PLUGIN_PATHS", "NUGET_NETCORE_PLUGIN_PATHS"]

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let file = place.context.program(program) ?? "\(place.home)/.local/bin/\(program)"
        return [try place.link(file, to: program)]
    }

    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        var notes: [Hint] = []
        if place.context.program(program) == nil {
            let folder = #"export PATH="$HOME/.local/bin:$PATH""#
            notes.append(Hint("\(program) is not on PATH; put its folder there", write: folder))
        }
        for variable in variables where place.context.variable(variable) != nil {
            notes.append(
                Hint("NuGet looks for plugins only where \(variable) says; unset it", run: "unset \(variable)"))
        }
        let others = "\(place.home)/.nuget/plugins/netcore/CredentialProvider.Microsoft"
        if place.context.isFile(others) {
            notes.append("\(place.context.short(others)) may be asked first; remove it for lanyard's feeds")
        }
        return notes
    }
}
