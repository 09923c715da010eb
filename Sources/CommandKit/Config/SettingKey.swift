import Addresses
import CredentialEngine
import Files
import Model
import PluginHost
package import Rules
import Secrets
package import SettingsFile
package import Terminal

/// The key of a setting outside of tables, as typed.
package struct SettingKey {
    package let name: String

    /// - Throws: `CommandError` with the exit status for wrong usage if there is no such key.
    package init(_ name: String) throws(CommandError) {
        let keys = Configuration.settingKeys
        guard keys.contains(name) else { throw CommandError(noSetting: name, keys) }
        self.name = name
    }

    /// Converts words to a value of this key; an authority may be typed as a domain, as in a rule.
    ///
    /// - Throws: `CommandError` with the exit status for wrong usage if they aren't valid.
    package func value(_ words: [String], in context: CommandContext) throws(CommandError) -> SettingValue {
        let words = name == "authority" ? words.map { context.registry.authority(typed: $0) } : words
        do throws(SettingsError) { return try Configuration.value(words, of: name) } catch {
            throw CommandError(error.message, hints: error.hints, status: .usage)
        }
    }

    /// Refuses a value that has the right form, but that nothing could use.
    package func requireUsable(_ value: SettingValue, in session: Session) throws(CommandError) {
        guard case .text(let text) = value else { return }
        switch name {
        case "browser" where ShellWords.split(text)?.isEmpty != false:
            throw CommandError("a quote isn't closed: \(text)", hints: ["write it as for a shell"], status: .usage)
        case "ca-file":
            let bytes = try? OpenFile(text).contents(atMost: 1 << 22)
            guard let bytes, String(decoding: bytes, as: UTF8.self).hasBytes("CERTIFICATE-----") else {
                throw CommandError(
                    bytes == nil ? "\(text) can't be read" : "\(text) holds no certificate in PEM format",
                    hints: [Hint("see", run: "ls -l\(last: text)")], status: .usage)
            }
        case "client-id":
            guard
                let match = session.configuration.authority.flatMap({
                    session.registry.match(authority: $0, isConfigured: true)
                })
            else { return try requireNoTypo(text, session) }
            do throws(ResolutionError) { _ = try session.configuration.clientID(text, at: match) } catch {
                throw CommandError(error, in: session.context).with(.usage)
            }
        case "default-identity":
            do throws(CommandError) { _ = try session.identity(named: text) } catch { throw error.with(.usage) }
        default: break
        }
    }

    /// Refuses what looks like the name of an app, but is none; each authority has IDs of its own form.
    private func requireNoTypo(_ text: String, _ session: Session) throws(CommandError) {
        let names = session.registry.plugins.flatMap(\.clients).map(\.name)
        guard !names.contains(text), let near = names.nearest(to: text.lowercased()) else { return }
        throw CommandError(
            "there is no app \(text)",
            hints: [Hint("did you mean", run: "lanyard config set client-id \(near)")], status: .usage)
    }

    /// Tells the user what keeps a value from being of use here and now.
    package func tellLack(_ value: SettingValue, in context: CommandContext) {
        guard name == "browser", case .text(let text) = value, text != Configuration.noBrowser,
            let program = ShellWords.split(text)?.first, context.program(program) == nil
        else { return }
        context.console.note(
            Hint(
                "warning: there is no program \(program)\(program.hasBytes("/") ? "" : " on PATH"), so no browser can open; for the default",
                run: "lanyard config unset browser"))
    }

    /// Tells the user if the change has no effect because another setting takes precedence.
    package func tellOverride(_ file: SettingFileTarget, in context: CommandContext) throws(CommandError) {
        let settings = try Configuration.settings(in: context, isToBeWritten: true)
        guard let setting = settings.first(where: { $0.key == name }) else { return }
        switch setting.origin {
        case .builtIn: return
        case .file(let winner, _) where winner == file.path: return
        case .file, .variable: break
        }
        context.console.note("the value in effect is set by \(setting.origin(context))")
    }

    /// Returns a short description of a key.
    package static func note(_ name: String) -> String { notes[name] ?? "" }

    private static let notes = [
        "account": "the account, unless something else names one",
        "agent": "the socket of an agent to ask instead of this machine",
        "answer-cache": "whether answers are remembered",
        "authority": "the authority of hosts that plugins know", "browser": "the command that opens a browser",
        "ca-file": "PEM certificates to trust besides the system's",
        "client-id": "the application, unless a rule names one",
        "default-identity": "who signs in without a user",
        "device-mode": "whether this machine is personal or shared",
        "flow": "how to sign in", "group": "the keychain group",
        "known-authorities": "hosts of authorities to trust", "timeout": "seconds to sign in",
    ]
}

extension CommandContext {
    /// Returns the option of a plugin that a key names; nil if the key isn't of a plugin's.
    ///
    /// - Throws: `CommandError` with the exit status for wrong usage if there is no such plugin or option, or it can't have the
    ///   value.
    package func pluginOption(_ key: String, value: String? = nil) throws(CommandError) -> PluginOption? {
        guard let option = PluginOption(key) else { return nil }
        guard let plugin = registry.plugins.first(where: { $0.name == option.plugin }) else {
            throw CommandError(
                "there is no plugin \(option.plugin)",
                hints: [Hint("see which there are", run: "lanyard plugin list")], status: .usage)
        }
        guard plugin.options.contains(option.name) else {
            let near = plugin.options.nearest(to: option.name).map { Hint("did you mean plugin.\(plugin.name).\($0)?") }
            let known: Hint =
                plugin.options.isEmpty ? "it has none" : "it has \(plugin.options.joined(separator: ", "))"
            throw CommandError(
                "the plugin \(plugin.name) has no option \(option.name)",
                hints: [near ?? known], status: .usage)
        }
        if let value, let form = plugin.form(refusing: value, of: option.name) {
            throw CommandError("`\(key)` must be \(form)", status: .usage)
        }
        return option
    }
}

/// The file in which a setting is changed.
package struct SettingFileTarget {
    package let path: String
    package let context: CommandContext

    /// Finds the file in which to change a key, for all users or for this one.
    ///
    /// - Throws: `CommandError` if the user may not change the key there; `words` are for the command that would.
    package init(of key: SettingKey, _ words: [String]? = nil, isSystem: Bool, in context: CommandContext)
        throws(CommandError)
    {
        self.context = context
        path = try Self.file(isSystem: isSystem, in: context)
        guard !isSystem else { return }
        if key.name == "device-mode", let words {
            let command = ["sudo", "lanyard", "config", "set", "--system", key.name] + words
            throw CommandError(
                "device-mode applies to all users of this machine, in \(Configuration.systemFile) only",
                hints: [Hint("set it there", run: ShellCommand(words: command))], status: .usage)
        }
        let setting = try Configuration.settings(in: context, isToBeWritten: true).first { $0.key == key.name }
        guard setting?.isLocked != true else { throw .locked("\(key.name) is") }
    }

    /// Finds the file in which to change an option for a plugin, for all users or for this one.
    ///
    /// - Throws: `CommandError` if the user may not change it there.
    package init(ofPluginsIn context: CommandContext, isSystem: Bool) throws(CommandError) {
        self.context = context
        path = try Self.file(isSystem: isSystem, in: context)
        if !isSystem, try Session(context, isToBeWritten: true).configuration.isLocked("plugin") {
            throw .locked("plugin is")
        }
    }

    private static func file(isSystem: Bool, in context: CommandContext) throws(CommandError) -> String {
        let file = isSystem ? Configuration.systemFile : Configuration.userFile(environment: context.environment)
        guard let file else {
            throw CommandError("there is no place for a configuration file", hints: ["set HOME or LANYARD_CONFIG"])
        }
        return file
    }

    /// The file's path, for users.
    package var name: String { context.short(path) }

    /// Changes the file.
    package func change(_ body: (SettingFile) throws(SettingsError) -> Void) throws(CommandError) {
        do throws(SettingsError) { try body(SettingFile(reading: path)) } catch { throw commandError(error) }
    }

    /// Returns the error for a file that can't be read or written.
    package func commandError(_ error: SettingsError) -> CommandError {
        CommandError(error, isSystem: path == Configuration.systemFile, context)
    }
}

extension CommandError {
    /// Creates the error for an unknown key, or one that belongs to a table.
    fileprivate init(noSetting name: String, _ keys: [String]) {
        switch name {
        case "rule", "rules", "forward", "forwards":
            let noun = name.hasSuffix("s") ? String(name.dropLast()) : name
            self.init(
                "\(noun)s have commands of their own", hints: [Hint("see", run: "lanyard help \(noun)")],
                status: .usage)
        case "keyring":
            self.init(
                "the keyring has commands of its own", hints: [Hint("see", run: "lanyard help keyring")],
                status: .usage)
        case "policy":
            self.init(
                "[policy] is edited by hand, in \(Configuration.systemFile)", hints: ["see lanyard-config(5)"],
                status: .usage)
        default:
            let near = keys.nearest(to: name).map { Hint("did you mean \($0)?") }
            self.init(
                "there is no setting \(name)",
                hints: [near ?? Hint("see which there are", run: "lanyard config list")], status: .usage)
        }
    }
}

extension Configuration {
    /// Returns all settings and their origins.
    package static func settings(in context: CommandContext, isToBeWritten: Bool = false) throws(CommandError)
        -> [Setting]
    {
        do throws(SettingsError) {
            return try settings(environment: context.environment, isToBeWritten: isToBeWritten)
        } catch {
            throw CommandError(ofConfiguration: error)
        }
    }
}

extension Configuration.Setting {
    /// Returns the origin of the setting, for users.
    package func origin(_ context: CommandContext) -> String {
        let place =
            switch origin {
            case .builtIn: value == nil ? "not set" : "default"
            case .file(let file, let line): context.short(file) + (line.map { ":\($0)" } ?? "")
            case .variable(let name): name
            }
        return isLocked ? "\(place), locked" : place
    }
}
