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
    static let programs = ["pip", "pip3"]

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let file = "\(place.settings)/pip/pip.conf"
        return [ToolChange(.ini, "global", "keyring-provider", in: file, to: "subprocess")] + KeyringLink(place).changes
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] { KeyringLink(place).notes }
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
        let file = place.context.environment.absolutePath("UV_CONFIG_FILE") ?? "\(place.settings)/uv/uv.toml"
        return [ToolChange(.toml, "keyring-provider", in: file, to: #""subprocess""#)] + KeyringLink(place).changes
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let once = Hint(
            "uv asks lanyard only for indexes whose URL has a user name; for another, in its [[index]]",
            write: #"authenticate = "always""#)
        return [once] + KeyringLink(place).notes
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

    /// Whether the first `keyring` is lanyard's; what to do if it isn't.
    var notes: [Hint] {
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
