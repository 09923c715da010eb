import Glibc
import Terminal

extension CommandContext {
    /// The hint to run the same command line as root.
    var asRoot: Hint {
        // What sudo looks for programs in, whatever the user's PATH is.
        let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        let isFound = folders.contains { access("\($0)/lanyard", X_OK) == 0 }
        let words = ["sudo", isFound ? "lanyard" : executable] + arguments
        return Hint("only root can change it", run: ShellCommand(words: words))
    }
}
