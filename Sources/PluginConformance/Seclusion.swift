import Subprocess
import SystemPackage

/// Runs programs in a network of their own, in which there is nobody.
public struct Seclusion: Sendable {
    /// What stands before the program and its arguments.
    let words = ["/usr/bin/unshare", "--user", "--map-current-user", "--net", "--"]

    /// Finds out whether this system gives its users such networks (user_namespaces(7)); nil if it doesn't.
    public init?() async {
        let trial = try? await Subprocess.run(
            .path(FilePath(words[0])), arguments: Arguments(words.dropFirst() + ["/bin/true"]), output: .discarded,
            error: .discarded)
        guard trial?.terminationStatus == .exited(0) else { return nil }
    }
}
