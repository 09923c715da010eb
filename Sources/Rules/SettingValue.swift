public import SettingsFile
import Terminal

/// The value of a top-level key.
public enum SettingValue: Sendable, Equatable {
    case text(String)
    case number(Int)
    case truth(Bool)
    case list([String])

    /// The value as the words that a user types.
    public var words: [String] {
        switch self {
        case .text(let text): [text]
        case .number(let number): [String(number)]
        case .truth(let truth): [String(truth)]
        case .list(let texts): texts
        }
    }

    /// The value in TOML syntax.
    public var inTOML: String {
        switch self {
        case .text(let text): text.inTOML
        case .number(let number): String(number)
        case .truth(let truth): String(truth)
        case .list(let texts): texts.inTOML
        }
    }
}

extension Configuration {
    /// The keys that aren't tables.
    public static var settingKeys: [String] {
        keys.filter { !["client", "forward", "identity", "keyring", "plugin", "policy", "rule"].contains($0) }
    }

    /// Returns the effective value of a key; nil if there is none.
    public func value(of key: String) -> SettingValue? {
        switch key {
        case "account": account.map(SettingValue.text)
        case "agent": agent.map(SettingValue.text)
        case "answer-cache": .truth(answerCache)
        case "authority": authority.map(SettingValue.text)
        case "browser": browser.map(SettingValue.text)
        case "ca-file": caFile.map(SettingValue.text)
        case "client-id": clientID.map(SettingValue.text)
        case "default-identity": defaultIdentity.map(SettingValue.text)
        case "device-mode": .text(deviceMode.rawValue)
        case "flow": .text(flow.rawValue)
        case "group": .text(group)
        case "known-authorities": knownAuthorities.isEmpty ? nil : .list(knownAuthorities)
        case "timeout": .number(timeout)
        default: nil
        }
    }

    /// Converts the words that a user typed to the value of a key.
    ///
    /// - Throws: The `SettingsError` that a file with this value would cause; it names no file.
    public static func value(_ words: [String], of key: String) throws(SettingsError) -> SettingValue {
        func wrong(_ what: String) -> SettingsError {
            SettingsError(file: "", line: nil, message: "`\(key)` must be \(what)")
        }
        var value = SettingValue.list(words)
        if key != "known-authorities" {
            guard let word = words.first, words.count == 1 else { throw wrong("one value; put it into quotes") }
            guard !word.isEmpty else {
                throw wrong("a value that isn't empty; `lanyard config unset \(key)` removes it")
            }
            switch Configuration().value(of: key) {
            case .number?:
                guard let number = Int(word) else { throw wrong("a whole number") }
                value = .number(number)
            case .truth?:
                guard let truth = Bool(gitWord: word) else { throw wrong("true or false") }
                value = .truth(truth)
            default: value = .text(word)
            }
        }
        var tried = Configuration()
        try tried.apply(SettingsTable(file: "", text: "\(key) = \(value.inTOML)"), isSystem: true)
        return value
    }

    /// A key with its effective value and origin.
    public struct Setting: Sendable, Equatable {
        /// The origins of a value.
        public enum Origin: Sendable, Equatable {
            /// The built-in default.
            case builtIn
            /// A line of a file.
            case file(String, line: Int?)
            /// A variable of the environment.
            case variable(String)
        }

        /// One of `settingKeys`.
        public let key: String
        /// The effective value; nil if there is none.
        public let value: SettingValue?
        /// The origin of the value.
        public let origin: Origin
        /// Whether the system's policy keeps the user from changing it.
        public let isLocked: Bool
    }

    /// Returns every key that isn't a table, with its value and origin.
    ///
    /// If the user's file is about to be written, it may be missing even if `LANYARD_CONFIG` names it.
    ///
    /// - Throws: `SettingsError` if a file can't be read or is invalid.
    public static func settings(
        environment: [String: String], isToBeWritten: Bool = false
    ) throws(SettingsError) -> [Setting] {
        let all = try load(environment: environment, isToBeWritten: isToBeWritten)
        let files = [systemFile] + [userFile(environment: environment)].compactMap(\.self)
        var origins: [String: Setting.Origin] = [:]
        for file in files {
            guard let text = try read(file, isSystem: file == systemFile) else { continue }
            let table = try SettingsTable(file: file, text: text)
            for key in table.keys where file == systemFile || !all.isLocked(key) {
                origins[key] = .file(file, line: table.line(of: key))
            }
        }
        for (variable, key) in variables where environment[variable]?.isEmpty == false && !all.isLocked(key) {
            origins[key] = .variable(variable)
        }
        return settingKeys.map { key in
            Setting(
                key: key, value: all.value(of: key), origin: origins[key] ?? .builtIn, isLocked: all.isLocked(key))
        }
    }
}

extension Bool {
    /// Parses a boolean in any of git's spellings; nil for any other word.
    public init?(gitWord word: String) {
        switch word.lowercased() {
        case "0", "false", "no", "off": self = false
        case "1", "true", "yes", "on": self = true
        default: return nil
        }
    }
}
