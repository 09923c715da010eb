import Addresses
import Files
import Glibc
package import Keyring
import SealedKeyring
package import SecretService
import Secrets
package import Terminal

/// A keyring service whose ways lanyard knows.
enum KeyringService: Sendable {
    case gnomeKeyring, keePassXC, kWallet
    /// Another one, by its program's name.
    case other(String)

    /// Recognises a service by the name of its program; packages may wrap it.
    init(program: String) {
        let name = program.lowercased()
        self =
            if name == KeyringProvider.gnomeKeyring {
                .gnomeKeyring
            } else if name.hasBytes("keepassxc") {
                .keePassXC
            } else if name.hasPrefix("kwalletd") || name.hasPrefix("ksecretd") {
                .kWallet
            } else {
                .other(program)
            }
    }

    /// The name that people know.
    var name: String {
        switch self {
        case .gnomeKeyring: "gnome-keyring"
        case .keePassXC: "KeePassXC"
        case .kWallet: "KWallet"
        case .other(let program): program.displayable(limit: 60)
        }
    }

    /// How to unlock its default keyring.
    var unlocking: Hint {
        switch self {
        case .gnomeKeyring: Hint("unlock it", run: "lanyard unlock")
        case .keePassXC: "unlock the database in KeePassXC's window"
        case .kWallet: "open the wallet in KWallet's window"
        case .other: Hint("unlock it in \(name)'s window")
        }
    }

    /// The message if it has no default keyring, and what to do about it.
    var lackingKeyring: (message: Message, hint: Hint) {
        switch self {
        case .gnomeKeyring: ("there is no default keyring yet", Hint("create one", run: "lanyard unlock"))
        case .keePassXC:
            (
                "KeePassXC has no open database that other programs may use",
                "open one, and expose a group of it: Database Settings, Secret Service Integration"
            )
        case .kWallet: ("KWallet has no wallet yet", "create one with KDE's wallet manager")
        case .other: ("\(name) has no default keyring yet", Hint("create one in its window"))
        }
    }
}

extension KeyringError {
    /// Whether the provider takes a password from lanyard, as far as is known.
    package var isOfGnomeKeyring: Bool {
        guard let provider, case .gnomeKeyring = KeyringService(program: provider) else { return provider == nil }
        return true
    }
}

extension CommandError {
    /// Creates the error for a keyring that doesn't work.
    package init(_ error: KeyringError) {
        let (message, hints) = Self.keyring(error)
        let detail: Message = error.detail.isEmpty ? "" : " (\(error.detail))"
        let shown = [.broken, .badBackend].contains(error.reason) ? message + detail : message
        self.init(shown, hints: hints, cause: error.opensWithPassword ? .lockedKeyring : .keyring)
    }

    /// Creates the error for a protector that could not be made, and so isn't there.
    package init(protecting error: KeyringError) {
        guard error.reason == .sealedElsewhere else {
            self.init(error)
            return
        }
        self.init(
            "no protector was made: \(error.detail)",
            hints: [Hint("read what a protector needs", run: "man lanyard-keyring")], cause: .keyring)
    }

    private static func keyring(_ error: KeyringError) -> (message: Message, hints: [Hint]) {
        if error.provider == SealedKeyring.provider { return sealed(error) }
        if let bus = error.otherBus {
            return ("gnome-keyring runs on another session bus, so none starts on this one", [.using(bus: bus)])
        }
        // Without a name, it is most likely the one that lanyard can unlock.
        let service = error.provider.map(KeyringService.init(program:)) ?? .gnomeKeyring
        switch error.reason {
        case .locked: return locked(error.lock, by: service)
        case .noSessionBus:
            return ("there is no D-Bus session, so no keyring can be reached", Hint.sealed(else: .findingBus))
        case .noProvider:
            return ("no keyring service is installed or running", Hint.sealed(else: .gettingKeyringService))
        case .noDefaultCollection:
            let (message, hint) = service.lackingKeyring
            return (message, [hint])
        default: return keyring(otherwise: error)
        }
    }

    private static func sealed(_ error: KeyringError) -> (message: Message, hints: [Hint]) {
        let detail: Message = "\(error.detail)"
        let status = Hint("see", run: "lanyard keyring status")
        switch error.reason {
        case .locked: return ("the sealed keyring is locked", [Hint("unlock it", run: "lanyard unlock")])
        case .notCreated:
            return (
                "this machine has no sealed keyring, which the configuration names",
                [Hint("create it", run: "lanyard keyring create")]
            )
        case .sealedElsewhere: return ("the sealed keyring's key can't be unwrapped: \(detail)", [status])
        case .forbidden: return ("the sealed keyring can't be used: \(detail)", [status])
        case .busy: return ("another process has locked the sealed keyring", ["try again in a moment"])
        case .denied: return (detail, [Hint("try again", run: "lanyard unlock")])
        default: return ("the sealed keyring failed: \(detail)", [status])
        }
    }

    private static func locked(_ lock: KeyringError.Lock?, by service: KeyringService) -> (
        message: Message, hints: [Hint]
    ) {
        switch lock {
        case .keyrings(let labels):
            let names = labels.map { $0.displayable(limit: 100) }.joined(separator: ", ")
            let manager = Hint("unlock it", run: "seahorse")
            let hint =
                if case .gnomeKeyring = service { manager } else { Hint("unlock it in \(service.name)'s window") }
            return ("another keyring is locked: \(names)", [hint])
        case .items:
            return (
                "\(service.name) asks before each access, and can ask nobody here",
                ["for scripts, turn that off in \(service.name)'s settings, Secret Service Integration"]
            )
        case nil: return ("the keyring is locked", [service.unlocking])
        }
    }

    private static func keyring(otherwise error: KeyringError) -> (message: Message, hints: [Hint]) {
        switch error.reason {
        case .timedOut: ("the keyring service does not answer", [.restartingKeyring(of: error.provider)])
        case .busy: ("the keyring service is busy", ["try again in a moment"])
        case .damaging:
            (
                "the keyring has no password, and gnome-keyring would damage this secret in it",
                [Hint("give the keyring a password", run: "seahorse")]
            )
        case .denied: ("the keyring service refused", ["answer its prompt, or try again"])
        case .noLibrary:
            ("libsecret, or a library it needs, is not installed", Hint.sealed(else: Package.libsecret.hint()))
        case .badBackend: ("SECRET_BACKEND does not name a backend", [Hint(run: "unset SECRET_BACKEND")])
        default: ("the keyring service failed", ["try again; if that doesn't help, restart the keyring service"])
        }
    }
}

extension KeyringProvider {
    /// The warning that another daemon has the same keyrings, and what to do about it; nil if none has.
    package func rivalry(in context: CommandContext) -> (message: Message, hint: Hint)? {
        guard let bus = rivalBus(environment: context.environment) else { return nil }
        return (
            "another gnome-keyring has the same keyrings, on another bus: each overwrites what the other stores",
            .using(bus: bus)
        )
    }
}

extension Console {
    /// Warns if another daemon has the same keyrings as the provider.
    package func warnOfRival(_ provider: KeyringProvider, in context: CommandContext) {
        guard let (message, hint) = provider.rivalry(in: context) else { return }
        note(Hint(message))
        self.hint(hint)
    }
}

extension Hint {
    /// How to do without a keyring service, or with this one: what is better on this machine comes first.
    static func sealed(else hint: Hint) -> [Hint] {
        let sealed = Hint("keep secrets in sealed files instead", run: "lanyard keyring create")
        return ["DISPLAY", "WAYLAND_DISPLAY"].contains { processVariable($0) != nil }
            ? [hint, sealed] : [sealed, hint]
    }

    /// How to use the bus at an address.
    package static func using(bus: String) -> Hint {
        Hint("use the same bus in all of your shells", run: "export DBUS_SESSION_BUS_ADDRESS=\(bus)")
    }

    /// What is missing for a session bus that programs find.
    package static var findingBus: Hint {
        if processVariable("DBUS_SESSION_BUS_ADDRESS") != nil {
            return Hint("log in again, or", run: "unset DBUS_SESSION_BUS_ADDRESS")
        }
        let own = processVariable("XDG_RUNTIME_DIR").flatMap { Folder.isOwn($0) ? $0 : nil }
        let login = "/run/user/\(geteuid())"
        // Where systemd starts no bus, a new one takes the place of the one that ended.
        if own == login, access(login + "/bus", F_OK) == 0, access("/run/systemd/system", F_OK) == 0 {
            return "log in again: the bus has ended"
        }
        let folder = own == nil ? findingRuntimeFolder() : nil
        // A second bus in the folder would take the first one's place, which other shells use.
        let named = Folder.isOwn(login) ? login : "\(processVariable("HOME") ?? "")/.cache/run"
        if let folder, Folder.isOwn(named), access(named + "/bus", F_OK) == 0 { return folder }
        let isThere = hasService("org.freedesktop.secrets") || isInstalled(KeyringProvider.gnomeKeyring)
        let service = isThere ? nil : Package.gnomeKeyring.hint().copied
        let bus = "dbus-daemon --session --fork --address=\"unix:path=$XDG_RUNTIME_DIR/bus\""
        // The lines in the manual keep a folder that is named before them.
        let first = folder?.copied?.hasPrefix("export ") == true ? "the export and then " : ""
        return Hint(
            "start one for all of your shells, and put \(first)what lanyard-unlock(1) has for it into ~/.profile",
            write: [service, folder?.copied, bus].compactMap(\.self).joined(separator: " && "))
    }

    /// How to have a runtime directory, where `XDG_RUNTIME_DIR` names none of the user's.
    ///
    /// `folder` is the variable's value, and `own` is where systemd makes the user's folder.
    package static func findingRuntimeFolder(
        _ folder: String? = processVariable("XDG_RUNTIME_DIR"), systemd own: String = "/run/user/\(geteuid())",
        home: String? = processVariable("HOME")
    ) -> Hint {
        if Folder.isOwn(own), folder != own {
            return Hint(
                "name the folder of your login's, here and in ~/.profile",
                run: "export XDG_RUNTIME_DIR=/run/user/$(id -u)")
        }
        if let folder, canMake(folder) {
            return Hint("make a folder for it first", run: "mkdir -pm 700 \"$XDG_RUNTIME_DIR\"")
        }
        guard let home, Folder.isOwn("\(home)/.cache/run") || canMake("\(home)/.cache/run")
        else {
            return Hint(
                "no folder for it can be made in your home; for this shell", run: "export XDG_RUNTIME_DIR=$(mktemp -d)")
        }
        return Hint(
            "make a folder for it first, here and in ~/.profile",
            run: "export XDG_RUNTIME_DIR=\"$HOME/.cache/run\" && mkdir -pm 700 \"$XDG_RUNTIME_DIR\"")
    }

    /// Whether a folder is missing that this user may make.
    private static func canMake(_ folder: String) -> Bool {
        guard folder.hasPrefix("/"), FileStatus(of: folder) == nil else { return false }
        var parent = FileTrust.parent(of: folder)
        while FileStatus(of: parent) == nil { parent = FileTrust.parent(of: parent) }
        return FileStatus(of: parent)?.isFolder == true && access(parent, W_OK | X_OK) == 0
    }

    /// How to get a keyring service: by starting the one that is there, beside which no other may run.
    static var gettingKeyringService: Hint {
        let wallets = ["org.kde.secretservicecompat", "org.kde.kwalletd6", "org.kde.kwalletd5"]
        if let wallet = wallets.first(where: hasService) {
            return Hint(
                "start KWallet",
                run: "dbus-send --session --print-reply --dest=\(wallet) / org.freedesktop.DBus.Peer.Ping")
        }
        if isInstalled("keepassxc") {
            return Hint(
                "start KeePassXC, turn on its Secret Service Integration in its settings, and open a database",
                run: "keepassxc")
        }
        if isInstalled(KeyringProvider.gnomeKeyring) {
            return Hint("start it", run: "gnome-keyring-daemon --start --components=secrets")
        }
        return Package.gnomeKeyring.hint("install one")
    }

    /// Whether the bus can start a service.
    private static func hasService(_ name: String) -> Bool {
        let folders = (processVariable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").pieces(between: ":")
        return folders.contains { access("\($0)/dbus-1/services/\(name).service", F_OK) == 0 }
    }

    private static func isInstalled(_ program: String) -> Bool {
        (processVariable("PATH") ?? "").pieces(between: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Returns a hint to end the program that provides the keyring; the bus starts it again when it is needed, or
    /// lanyard says how to.
    static func restartingKeyring(of program: String?) -> Hint {
        let text: Message = "restart it and try again"
        switch program {
        case "gnome-keyring-daemon": return restartingGnomeKeyring
        case "kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon":
            return Hint(text, run: "pkill -KILL -u $(id -u) -x \(program ?? "")")
        case let name?: return Hint("restart \(name) and try again")
        case nil: return "log out and in again, and try again"
        }
    }

    /// The hint for GNOME's daemon; the kernel cuts its process name to 15 bytes.
    static let restartingGnomeKeyring = Hint(
        "restart it and try again", run: "pkill -KILL -u $(id -u) -x gnome-keyring-d")
}
