import Addresses
import Files
import Glibc
import Secrets
import Terminal

extension Tool {
    static let pip = Tool(
        "pip", aliases: ["pip3"], .link("keyring"), KeyringProtocol.init,
        setup: ToolSetup(
            purpose: "pip use lanyard as its keyring",
            discussion: """
                Has pip run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. It needs pip 23.1 or \
                later.
                """,
            programs: ["pip", "pip3"], oldest: { _ in ToolVersion(23, 1) }, newer: PipSettings.newer(than:),
            paths: ["PIP_CONFIG_FILE"], settings: PipSettings.init))

    static let pdm = Tool(
        "pdm", .link("keyring"), KeyringProtocol.init,
        recipe: Hint("pdm runs the program that this sets up", run: "lanyard configure pip"))

    static let twine = Tool(
        "twine", relatives: ["poetry"], .link("keyring"), KeyringProtocol.init,
        recipe: Hint("it needs the Python package keyring-lanyard; see", run: "man lanyard-tools"))

    static let keyring = Tool("keyring", .link("keyring"), KeyringProtocol.init)
}

extension KeyringProtocol {
    init(_ call: ToolCall) { self.init(call.arguments, isTyped: call.isAtTerminal) }
}

/// pip: it runs the program `keyring`.
struct PipSettings: ToolSettings {
    let place: ToolTarget

    /// pip refuses to replace itself where the distribution says so (PEP 668).
    @Sendable static func newer(than path: String) -> Hint {
        let libraries = FileTrust.parent(of: FileTrust.parent(of: path)) + "/lib"
        let isManaged = (try? Folder(libraries))?.names(atMost: 1 << 16).contains { name in
            name.hasPrefix("python3") && access("\(libraries)/\(name)/EXTERNALLY-MANAGED", F_OK) == 0
        }
        guard isManaged == true else { return Hint("for a newer one", run: "\(path) install --upgrade pip") }
        return Hint(
            "for a newer one in a virtual environment",
            run: """
                python3 -m venv --without-pip ~/.venv && pip --python ~/.venv install pip && . ~/.venv/bin/activate
                """)
    }

    func changes() throws(CommandError) -> [ToolChange] {
        guard !readsNone else {
            throw CommandError(
                "pip reads no settings here: PIP_CONFIG_FILE is /dev/null", hints: [Hint(run: "unset PIP_CONFIG_FILE")])
        }
        return [ToolChange(.ini, ["global", "keyring-provider"], in: file, to: "subprocess")]
            + KeyringLink(place: place).changes
    }

    /// A command's own section comes before `[global]`, whichever file it is in; of the same sections, the last file's counts.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let files = self.files
        let own = files.firstIndex(of: file) ?? 0
        var named: [(provider: String, place: String, part: String?)] = []
        func look(in section: String, of files: some BidirectionalCollection<String>, _ part: String?) {
            for file in files.reversed() {
                let setting = ToolSetting(.ini, [section, "keyring-provider"], in: file)
                guard let provider = try? setting.current() else { continue }
                return named.append((provider, "[\(section)] of \(place.context.short(file))", part))
            }
        }
        look(in: "global", of: files[(own + 1)...], nil)
        for command in ["install", "download", "wheel", "lock", "index"] {
            look(in: command, of: files, command == "install" ? nil : "pip \(command)")
        }
        let off = ToolOverride("PIP_CONFIG_FILE is /dev/null, so that pip reads no settings", unset: "PIP_CONFIG_FILE")
        return KeyringLink(place: place).overrides("PIP_KEYRING_PROVIDER", named) + (readsNone ? [off] : [])
            + place.overridesOfNetrc
    }

    /// Returns pip's files, the last of which counts; one that the variable names replaces the user's if it exists.
    var files: [String] {
        let prefixes = [
            place.named("VIRTUAL_ENV"),
            (place.context.program("pip") ?? place.context.program("pip3")).map {
                FileTrust.parent(of: FileTrust.parent(of: $0))
            },
        ]
        let sites = prefixes.compactMap { $0.map { "\($0)/pip.conf" } }.uniqued
        guard let named = namedFile else { return ["\(place.home)/.pip/pip.conf", file] + sites }
        return sites + [named]
    }

    private var readsNone: Bool {
        place.context.variable("PIP_CONFIG_FILE") == "/dev/null"
    }

    private var namedFile: String? {
        place.named("PIP_CONFIG_FILE").flatMap { place.context.isFile($0) && !readsNone ? $0 : nil }
    }

    private var file: String {
        namedFile ?? "\(place.settings)/pip/pip.conf"
    }
}

/// The program `keyring` that pip and uv find on `PATH`.
///
/// Python's keyring library has a program of that name, too. So lanyard's is in a folder that isn't on `PATH`, and a
/// link to it is made only if there is no other program in the link's place.
struct KeyringLink {
    private static let name = "keyring"
    let place: ToolTarget

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
            let what: Message = "\(variable) is \(provider) in the environment, which takes precedence"
            overrides.append(ToolOverride(what, unset: variable, asksLanyard: Self.isRun(provider)))
        }
        let asked = overrides.contains(where: \.asksLanyard)
        return overrides
            + named.filter { !asked && !Self.isRun($0.provider) }.map { provider, file, part in
                let what: Message = "keyring-provider is \(provider) in \(file)"
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
        place.context.installed(Self.name) ?? place.context.executable
    }

    private func isLanyard(_ path: String?) -> Bool {
        path.flatMap(FileTrust.realPath) == FileTrust.realPath(place.context.executable)
    }
}
