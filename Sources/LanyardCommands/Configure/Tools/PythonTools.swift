import Addresses
import Files
import Secrets
import Terminal

/// pip: it runs a program named `keyring`.
enum PipTool: ConfigurableTool {
    static let name = "pip"
    static let purpose = "pip use lanyard as its keyring"
    static let discussion = """
        Has pip run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. It takes pip 23.1 or \
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
        return [ToolChange(.ini, "global", "keyring-provider", in: file(place), to: "subprocess")]
            + KeyringLink(place).changes
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        var notes = KeyringLink(place).notes(unless: variable)
        if let own = ownProvider(place), !KeyringLink.isRun(own) {
            notes.append(
                KeyringLink.note(of: own, in: "[install]", of: place.context.short(file(place)), "pip install"))
        }
        return notes
    }

    static func override(_ place: ToolPlace) -> Bool? {
        let link = KeyringLink(place)
        if let asked = link.override(by: variable) { return asked }
        return ownProvider(place).map(KeyringLink.isRun) == false || !link.isFound ? false : nil
    }

    private static let variable = "PIP_KEYRING_PROVIDER"

    /// What counts for `pip install` alone.
    private static func ownProvider(_ place: ToolPlace) -> String? {
        try? ToolSetting(.ini, "install", "keyring-provider", in: file(place)).current()
    }

    /// The file that a variable names takes the place of the user's if it is there.
    private static func file(_ place: ToolPlace) -> String {
        place.context.environment.absolutePath("PIP_CONFIG_FILE").flatMap { place.context.isFile($0) ? $0 : nil }
            ?? "\(place.settings)/pip/pip.conf"
    }
}

/// uv: it runs the same program.
enum UvTool: ConfigurableTool {
    static let name = "uv"
    static let purpose = "uv use lanyard as its keyring"
    static let discussion = """
        Has uv run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. uv asks for indexes \
        whose URL has a user name, such as https://me@python.contoso.com/…, or that are marked with `authenticate = "always"`.
        """
    static let url = ToolURL.none

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        [ToolChange(.toml, "keyring-provider", in: file(place), to: #""subprocess""#)] + KeyringLink(place).changes
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let once = Hint(
            "uv asks lanyard only for indexes whose URL has a user name; for another, in its [[index]]",
            write: #"authenticate = "always""#)
        var notes = [once] + KeyringLink(place).notes(unless: variable)
        if let own = ownProvider(place), own != "subprocess" {
            notes.append(KeyringLink.note(of: own, in: "[pip]", of: place.context.short(file(place)), "uv pip"))
        }
        return notes
    }

    static func override(_ place: ToolPlace) -> Bool? {
        let link = KeyringLink(place)
        return link.override(by: variable) ?? (link.isFound ? nil : false)
    }

    static func exception(_ place: ToolPlace) -> String? {
        guard place.context.variable(variable) == nil, let own = ownProvider(place), own != "subprocess"
        else { return nil }
        return "not for uv pip"
    }

    private static let variable = "UV_KEYRING_PROVIDER"

    /// What counts for `uv pip` alone.
    private static func ownProvider(_ place: ToolPlace) -> String? {
        (try? ToolSetting(.toml, "pip", "keyring-provider", in: file(place)).current())?.trimmed(of: "\"'").description
    }

    private static func file(_ place: ToolPlace) -> String {
        place.context.environment.absolutePath("UV_CONFIG_FILE") ?? "\(place.settings)/uv/uv.toml"
    }
}

/// The program `keyring` that pip and uv find on `PATH`.
///
/// It is Python's, too; so lanyard's is in a folder that isn't on `PATH`, and a link leads there only if no other is in its place.
struct KeyringLink {
    private static let name = "keyring"
    private let place: ToolPlace

    init(_ place: ToolPlace) {
        self.place = place
    }

    /// The link, if it is missing and would be found.
    var changes: [ToolChange] {
        let setting = ToolSetting(.link, in: file)
        if !place.context.isFile(file), isLanyard(place.context.program(Self.name)) { return [] }
        let isTaken = place.context.isFile(file) && !isLanyard(file)
        return isTaken ? [] : [ToolChange(setting, to: (try? setting.current()) ?? target)]
    }

    /// Whether a provider that is named has the program run.
    static func isRun(_ provider: String) -> Bool { ["subprocess", "auto"].contains(provider) }

    /// Says that another provider, in a section of the file, is what a command goes by.
    static func note(of provider: String, in section: String, of file: String, _ command: String) -> Hint {
        "keyring-provider is \(provider.displayable(limit: 60)) in \(section) of \(file), which \(command) goes by; remove it"
    }

    /// Whether a variable has the first `keyring` run and that is lanyard's; nil if the variable isn't set.
    func override(by variable: String) -> Bool? {
        guard let provider = place.context.variable(variable) else { return nil }
        return Self.isRun(provider) && isFound
    }

    /// Whether the first `keyring` on `PATH` is lanyard's.
    var isFound: Bool { isLanyard(place.context.program(Self.name)) }

    /// What keeps the program from being run, and what to do about it.
    func notes(unless variable: String) -> [Hint] {
        guard let provider = place.context.variable(variable), !Self.isRun(provider) else { return notes }
        let shown = provider.displayable(limit: 60)
        return notes + [
            Hint(
                "\(variable) is \(shown) in the environment, which counts instead; remove it", run: "unset \(variable)")
        ]
    }

    /// Whether the first `keyring` is lanyard's; what to do if it isn't.
    private var notes: [Hint] {
        let found = place.context.program(Self.name)
        guard !isLanyard(found) else { return [] }
        let what = found.map { "the keyring on PATH is \(place.context.short($0))" } ?? "keyring is not on PATH"
        let folder = place.context.isFile(file) && !isLanyard(file) ? FileTrust.parent(of: target) : "$HOME/.local/bin"
        return [Hint("\(what); for lanyard's, put first", write: "export PATH=\"\(folder.displayable()):$PATH\"")]
    }

    private var file: String { "\(place.home)/.local/bin/\(Self.name)" }

    /// The installed one, or this program, which goes by the name it is called by.
    private var target: String {
        InstalledFiles(place.context).program(Self.name) ?? place.context.executable
    }

    private func isLanyard(_ path: String?) -> Bool {
        path.flatMap(FileTrust.realPath) == FileTrust.realPath(place.context.executable)
    }
}
