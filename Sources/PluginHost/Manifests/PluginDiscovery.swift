import Files
import SettingsFile
import Terminal

/// One search of the places where plugins are.
struct PluginDiscovery {
    let places: PluginFolders
    var plugins: [PluginManifest] = []
    var unreadable: [SettingsError] = []
    var problems: [SettingsError] = []
    var trust = FileTrust()

    func registry() -> PluginRegistry {
        var search = self
        for place in places.folders {
            let names = search.names(in: place)
            for name in names.sorted() where !name.hasPrefix(".") { search.visit(name, in: place) }
        }
        return PluginRegistry(plugins: search.plugins, problems: search.problems, unreadable: search.unreadable)
    }

    private mutating func names(in place: String) -> [String] {
        do throws(FileError) {
            return try Folder(place).names(atMost: 1024)
        } catch {
            // A folder of somebody else's home is none of the places.
            guard FileStatus(of: place)?.isFolder == true else { return [] }
            let problem = SettingsError(file: place, message: "cannot be read: \(error.reason)")
            problems.append(problem)
            unreadable.append(problem)
            return []
        }
    }

    /// Looks at one folder; a plugin of a name that was found earlier is hidden by that one, even if it can't be used.
    private mutating func visit(_ name: String, in place: String) {
        do throws(SettingsError) {
            let folder = PluginFolder(folder: place + "/" + name, name: name)
            guard var plugin = try folder.load(places, &trust) else { return }
            if let first = plugins.firstIndex(where: { $0.name == plugin.name }) {
                // Two of lanyard's own are one plugin, installed and in a checkout.
                if plugins[first].origin != nil || plugin.origin != nil { plugins[first].hides.append(plugin.folder) }
                return
            }
            if let problem = plugin.problem {
                problems.append(problem)
                if plugin.losesHosts { unreadable.append(problem) }
            } else if let hidden = unreadable.first(where: { $0.plugin == name }) {
                // The one that can't be read would have these authorities.
                plugin.problem = hidden
            } else if var loss = plugin.loss {
                loss.plugin = name
                problems.append(loss)
                if plugin.losesHosts || plugin.leftOut.isEmpty && plugin.leftOutSources.isEmpty {
                    unreadable.append(loss)
                }
            }
            plugins.append(plugin)
        } catch {
            var problem = error
            problem.plugin = name
            problems.append(problem)
            if !plugins.contains(where: { $0.name == name }) { unreadable.append(problem) }
        }
    }
}
