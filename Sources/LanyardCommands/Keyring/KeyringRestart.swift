import Secrets
import Terminal
import TokenStore

extension Hint {
    /// Returns a hint to end the program that provides the keyring; the bus starts it again when it is needed, or
    /// lanyard says how to.
    static func restartingKeyring(of program: String?) -> Hint {
        let text = "restart it and try again"
        switch program {
        case "gnome-keyring-daemon": return restartingGnomeKeyring
        case "kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon":
            return Hint(text, run: "pkill -KILL -u $(id -u) -x \(program ?? "")")
        case let name?: return Hint("restart \(name.displayable(limit: 60)) and try again")
        case nil: return "log out and in again, and try again"
        }
    }

    /// The hint for GNOME's daemon; the kernel cuts its process name to 15 bytes.
    static let restartingGnomeKeyring = Hint(
        "restart it and try again", run: "pkill -KILL -u $(id -u) -x gnome-keyring-d")
}
