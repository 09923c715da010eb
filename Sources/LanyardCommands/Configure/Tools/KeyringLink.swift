import Files
import Secrets
import Terminal
import ToolTexts

/// The program `keyring` that pip and uv find on `PATH`.
///
/// Python's keyring library has a program of that name, too. So lanyard's is in a folder that isn't on `PATH`, and a
/// link to it is made only if there is no other program in the link's place.
struct KeyringLink {
    private static let name = "keyring"
    let place: ToolPlace

    /// The link, if it is missing and tools would find it.
    var changes: [ToolChange] {
        let setting = ToolSetting(.link, in: file)
        if !place.context.isFile(file), isLanyard(place.context.program(Self.name)) { return [] }
        let isTaken = place.context.isFile(file) && !isLanyard(file)
        return isTaken ? [] : [ToolChange(setting: setting, value: (try? setting.current()) ?? target)]
    }

    /// Whether a named provider runs the program.
    static func isRun(_ provider: String) -> Bool { ["subprocess", "auto"].contains(provider) }

    /// Returns a hint that a command uses another provider, which a section of the file names.
    static func note(of provider: String, in section: String, of file: String, _ command: String) -> Hint {
        "keyring-provider is \(provider.displayable(limit: 60)) in \(section) of \(file), which \(command) uses; remove it"
    }

    /// Whether a variable makes the tool run the first `keyring`, and that is lanyard's; nil if the variable isn't set.
    func override(by variable: String) -> Bool? {
        guard let provider = place.context.variable(variable) else { return nil }
        return Self.isRun(provider) && isFound
    }

    /// Whether the first `keyring` on `PATH` is lanyard's.
    var isFound: Bool { isLanyard(place.context.program(Self.name)) }

    /// Returns hints about what prevents the program from being run.
    func notes(unless variable: String) -> [Hint] {
        guard let provider = place.context.variable(variable), !Self.isRun(provider) else { return notes }
        let shown = provider.displayable(limit: 60)
        return notes + [
            Hint(
                "\(variable) is \(shown) in the environment, which takes precedence; unset it", run: "unset \(variable)"
            )
        ]
    }

    /// The hints for when the first `keyring` isn't lanyard's.
    private var notes: [Hint] {
        let found = place.context.program(Self.name)
        guard !isLanyard(found) else { return [] }
        let what = found.map { "the keyring on PATH is \(place.context.short($0))" } ?? "keyring is not on PATH"
        let folder = place.context.isFile(file) && !isLanyard(file) ? FileTrust.parent(of: target) : "$HOME/.local/bin"
        return [Hint("\(what); for lanyard's, put first", write: "export PATH=\"\(folder.displayable()):$PATH\"")]
    }

    private var file: String { "\(place.home)/.local/bin/\(Self.name)" }

    /// The installed program, or else this one, which acts according to the name by which it is run.
    private var target: String {
        InstalledFiles(place.context).program(Self.name) ?? place.context.executable
    }

    private func isLanyard(_ path: String?) -> Bool {
        path.flatMap(FileTrust.realPath) == FileTrust.realPath(place.context.executable)
    }
}
