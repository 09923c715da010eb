import Addresses
import Files
import Glibc
public import SettingsFile
import Terminal

/// The files and variables that have the configuration, and who may have written them.
extension Configuration {
    /// The path of the system's file.
    public static let systemFile = "/etc/lanyard/config.toml"

    /// The folder where packages put files with apps: `[[client]]` tables, and nothing else.
    public static let appsFolder = "/etc/lanyard/config.d"

    /// The files in that folder, in the order in which they are read.
    ///
    /// - Throws: `SettingsError` if the folder is there and can't be read.
    public static func appsFiles() throws(SettingsError) -> [String] {
        do throws(FileError) {
            return try Folder(appsFolder).names(atMost: 256).filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
                .sorted().map { "\(appsFolder)/\($0)" }
        } catch {
            guard !error.isMissing else { return [] }
            throw SettingsError(
                file: appsFolder, message: "cannot be read: \(error.reason.lowercased())", hint: "check its permissions"
            )
        }
    }

    /// The user's file: `$LANYARD_CONFIG`, else `lanyard/config.toml` under `$XDG_CONFIG_HOME` or `~/.config`;
    /// nil if those are no absolute paths.
    public static func userFile(environment: [String: String]) -> String? {
        if let named = environment["LANYARD_CONFIG"], !named.isEmpty { return named }
        return environment.configHome.map { $0 + "/lanyard/config.toml" }
    }

    /// Loads the system's file, then the user's, then the `LANYARD_*` variables; a missing file is no error.
    ///
    /// If the user's file is about to be written, it may be missing even if `LANYARD_CONFIG` names it.
    ///
    /// - Throws: `SettingsError` if a file can't be read or is invalid.
    public static func load(
        environment: [String: String], isToBeWritten: Bool = false
    ) throws(SettingsError) -> Configuration {
        var configuration = try loadSystem()
        if let file = userFile(environment: environment) {
            if let text = try read(file, isSystem: false) {
                try configuration.apply(SettingsTable(file: file, text: text), isSystem: false)
            } else if environment["LANYARD_CONFIG"] == file {
                try requireSandbox(of: file, environment)
                if !isToBeWritten {
                    throw SettingsError(
                        file: file, line: nil, message: "no such file",
                        hint: "LANYARD_CONFIG names it; lanyard rule add makes it")
                }
            }
        }
        try configuration.apply(environment: environment)
        return configuration
    }

    /// Throws for a file of a sandbox that has ended, and whose folder is gone.
    private static func requireSandbox(of file: String, _ environment: [String: String]) throws(SettingsError) {
        guard let folder = environment["LANYARD_SANDBOX_DIR"], FileTrust.parent(of: file) == folder,
            FileStatus(of: folder) == nil
        else { return }
        // What its env.sh sets, and the browser that it offers.
        let browser = environment["BROWSER"]?.hasBytes("sandbox sign-in") == true ? ["BROWSER"] : []
        throw SettingsError(
            file: file, line: nil, message: "the sandbox that this shell uses has ended",
            command: ["unset", "LANYARD_CONFIG", "LANYARD_SANDBOX_DIR", "GIT_CONFIG_GLOBAL"] + browser)
    }

    /// Loads only what applies to everybody: the packages' apps, then the system's file.
    ///
    /// - Throws: `SettingsError` if a file can't be read or is invalid.
    public static func loadSystem() throws(SettingsError) -> Configuration {
        var configuration = Configuration()
        for file in try appsFiles() {
            guard let text = try read(file, isSystem: true) else { continue }
            let table = try SettingsTable(file: file, text: text)
            try table.allow(only: ["client"])
            try configuration.addApps(from: table)
        }
        if let text = try read(systemFile, isSystem: true) {
            try configuration.apply(SettingsTable(file: systemFile, text: text), isSystem: true)
        }
        return configuration
    }

    /// Applies the `LANYARD_*` variables that stand for keys.
    private mutating func apply(environment: [String: String]) throws(SettingsError) {
        for (variable, key) in Self.variables.sorted(by: { $0.key < $1.key }) {
            // It is parsed like git's booleans, below.
            guard variable != Self.answerCacheVariable else { continue }
            guard let value = environment[variable], !value.isEmpty else { continue }
            guard !value.hasControlCharacter else {
                throw SettingsError(file: variable, line: nil, message: "the value holds a control character")
            }
            do throws(SettingsError) {
                try apply(SettingsTable(file: variable, text: "\(key) = \(value.inTOML)"), isSystem: false)
            } catch {
                // A variable has no lines.
                throw SettingsError(file: variable, line: nil, message: error.message, hint: error.hint)
            }
        }
        let cache = Self.answerCacheVariable
        guard let value = environment[cache], !value.isEmpty else { return }
        guard let truth = Bool(gitWord: value) else {
            throw SettingsError(file: cache, line: nil, message: "the value must be 0 or 1")
        }
        try apply(SettingsTable(file: cache, text: "answer-cache = \(truth)"), isSystem: false)
    }

    private static let answerCacheVariable = "LANYARD_ANSWER_CACHE"
    /// The variable with an agent's socket.
    public static let agentVariable = "LANYARD_AGENT"
    /// The variables that stand for keys.
    static let variables = [
        "LANYARD_ACCOUNT": "account", agentVariable: "agent", answerCacheVariable: "answer-cache",
        "LANYARD_AUTHORITY": "authority",
        "LANYARD_BROWSER": "browser", "LANYARD_CA_FILE": "ca-file", "LANYARD_CLIENT_ID": "client-id",
        "LANYARD_FLOW": "flow", "LANYARD_IDENTITY": "default-identity",
    ]

    /// Whether the environment turns off the answer cache; the configuration isn't read for this.
    public static func turnsOffAnswerCache(environment: [String: String]) -> Bool {
        environment[answerCacheVariable].flatMap(Bool.init(gitWord:)) == false
    }

    static func read(_ path: String, isSystem: Bool) throws(SettingsError) -> String? {
        try SettingsText.read(path) { status throws(SettingsError) in
            try requireTrust(in: status, path, isSystem: isSystem)
        }
    }

    /// Refuses a path that isn't a file, and a file that other users could have written, because `browser` is a
    /// command.
    ///
    /// The owner of the system's file doesn't matter; in a container it may appear as nobody.
    static func requireTrust(in status: FileStatus, _ path: String, isSystem: Bool) throws(SettingsError) {
        // /dev/null is used as an empty file.
        if status.isCharacterDevice { return }
        guard status.isRegular else {
            throw SettingsError(file: path, line: nil, message: "is not a regular file")
        }
        if !isSystem { try requireOwner(status, path) }
        guard isSystem ? !status.grants(S_IWOTH) : !status.isWritableByOthers else {
            throw SettingsError(
                file: path, line: nil, message: "other users can write to it, and could have commands run as you",
                command: status.sudo + ["chmod", "go-w", path])
        }
    }

    private static func requireOwner(_ status: FileStatus, _ path: String) throws(SettingsError) {
        if status.isOwnOrRoots { return }
        throw SettingsError(
            file: path, line: nil, message: "belongs to another user, who could have commands run as you",
            hint: geteuid() == 0
                ? "to use root's own file: sudo -H"
                : "copy it to a file of your own, and name that with LANYARD_CONFIG")
    }
}
