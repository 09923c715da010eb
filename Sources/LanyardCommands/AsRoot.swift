import Glibc
import Terminal

extension CommandContext {
    /// A hint to run the same command line as root.
    var asRoot: Hint {
        // The folders in which sudo usually looks for programs, whatever the user's PATH is.
        let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        let isFound = folders.contains { access("\($0)/lanyard", X_OK) == 0 }
        let words = ["sudo", isFound ? "lanyard" : executable] + arguments
        return Hint("only root can change it", run: ShellCommand(words: words))
    }
}
