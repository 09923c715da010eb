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
    private static func isRun(_ provider: String) -> Bool { ["subprocess", "auto"].contains(provider) }

    /// What keeps a tool from running lanyard's program, or makes it run it: other programs, then a variable, then the providers that
    /// files name for some of its commands.
    func overrides(_ variable: String, _ named: [(provider: String, place: String, part: String?)]) -> [ToolOverride] {
        var overrides = missing.map { [ToolOverride(hint: $0)] } ?? []
        if let provider = place.context.variable(variable) {
            let what = "\(variable) is \(provider.displayable(limit: 60)) in the environment, which takes precedence"
            overrides.append(ToolOverride(what, unset: variable, asksLanyard: Self.isRun(provider)))
        }
        let asked = overrides.contains(where: \.asksLanyard)
        return overrides
            + named.filter { !asked && !Self.isRun($0.provider) }.map { provider, file, part in
                let what = "keyring-provider is \(provider.displayable(limit: 60)) in \(file)"
                return ToolOverride(part: part, hint: "\(what), which \(part ?? "it") uses; remove it")
            }
    }

    /// What to do if the first `keyring` isn't lanyard's.
    private var missing: Hint? {
        let found = place.context.program(Self.name)
        guard !isLanyard(found) else { return nil }
        let what = found.map { "the keyring on PATH is \(place.context.short($0))" } ?? "keyring is not on PATH"
        let folder = place.context.isFile(file) && !isLanyard(file) ? FileTrust.parent(of: target) : "$HOME/.local/bin"
        return Hint("\(what); for lanyard's, put first", write: "export PATH=\"\(folder.displayable()):$PATH\"")
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
