import Files
import Glibc
import Terminal
import ToolTexts

/// pip: it runs the program `keyring`.
enum PipTool: ConfigurableTool {
    static let name = "pip"
    static let purpose = "pip use lanyard as its keyring"
    static let discussion = """
        Has pip run the program `keyring`, and makes `~/.local/bin/keyring` a link to lanyard, unless another is there. It needs pip 23.1 or \
        later.
        """
    static let url = ToolURL.none
    static let relatives = ["pip3"]
    static let programs = ["pip", "pip3"]
    static let paths = ["PIP_CONFIG_FILE"]

    static func oldest(_ path: String) -> ToolVersion? { ToolVersion(23, 1) }

    /// pip refuses to replace itself where the distribution says so (PEP 668).
    static func newer(than path: String) -> Hint {
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

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        guard !readsNone(place) else {
            throw Failure(
                "pip reads no settings here: PIP_CONFIG_FILE is /dev/null", hints: [Hint(run: "unset PIP_CONFIG_FILE")])
        }
        return [ToolChange(.ini, ["global", "keyring-provider"], in: file(place), to: "subprocess")]
            + KeyringLink(place: place).changes
    }

    /// A command's own section comes before `[global]`, whichever file it is in; of the same sections, the last file's counts.
    static func overrides(_ place: ToolPlace) throws(Failure) -> [ToolOverride] {
        let files = files(place)
        let own = files.firstIndex(of: file(place)) ?? 0
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
        return KeyringLink(place: place).overrides("PIP_KEYRING_PROVIDER", named) + (readsNone(place) ? [off] : [])
            + place.overridesOfNetrc
    }

    /// Returns pip's files, the last of which counts; one that the variable names replaces the user's if it exists.
    static func files(_ place: ToolPlace) -> [String] {
        let prefixes = [
            place.named("VIRTUAL_ENV"), installed(place.context).map { FileTrust.parent(of: FileTrust.parent(of: $0)) },
        ]
        let sites = prefixes.compactMap { $0.map { "\($0)/pip.conf" } }.uniqued
        guard let named = namedFile(place) else { return ["\(place.home)/.pip/pip.conf", file(place)] + sites }
        return sites + [named]
    }

    private static func readsNone(_ place: ToolPlace) -> Bool {
        place.context.variable("PIP_CONFIG_FILE") == "/dev/null"
    }

    private static func namedFile(_ place: ToolPlace) -> String? {
        place.named("PIP_CONFIG_FILE").flatMap { place.context.isFile($0) && !readsNone(place) ? $0 : nil }
    }

    private static func file(_ place: ToolPlace) -> String {
        namedFile(place) ?? "\(place.settings)/pip/pip.conf"
    }
}
