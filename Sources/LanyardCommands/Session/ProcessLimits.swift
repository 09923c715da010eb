import CLinux
import Glibc
import Terminal

/// What the system grants this process, without which libraries hang or abort instead of failing.
enum ProcessLimits {
    /// The threads that GLib, Swift and Dispatch start at least.
    private static let threads: Int32 = 4
    /// The files that are open at the same time.
    private static let files: Int32 = 8

    /// The reason why nothing can be done that needs threads or programs; nil if there is none.
    ///
    /// A cached answer needs neither, and so isn't checked for.
    static let failure: Failure? = {
        switch -lanyard_check_resources(threads, files) {
        case 0: return missingProcesses
        case EAGAIN:
            return Failure(
                "the system grants no more threads: too many processes of this user, or in this container, are running",
                hints: [Hint("see the limit, and end some of them, or raise it", run: "ulimit -u")])
        case EMFILE:
            return Failure(
                "this process may open too few files", hints: [Hint("raise the limit", run: "ulimit -n 1024")])
        case let number:
            return Failure(
                "/dev/null can't be opened: \(String(cString: strerror(number)))",
                hints: [Hint("see what it is", run: "ls -l /dev/null")])
        }
    }()

    /// Dispatch ends a process that can't read its own entry there.
    private static var missingProcesses: Failure? {
        guard access("/proc/self/task", R_OK | X_OK) != 0 else { return nil }
        return Failure("/proc is not mounted", hints: [Hint("as root", run: "mount -t proc proc /proc")])
    }
}
