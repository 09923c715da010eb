import Files
import Secrets
import Terminal
import ToolTexts

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
        "keyring-provider is \(provider.displayable(limit: 60)) in \(section) of \(file), which \(command) uses; remove it"
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
                "\(variable) is \(shown) in the environment, which takes precedence; unset it", run: "unset \(variable)"
            )
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
