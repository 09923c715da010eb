import CLinux
import Glibc
import Secrets
import Terminal

/// A program that replaces this process, so that signals and the exit status are its own.
struct ProgramInPlace {
    /// The program's name, which is looked up in `PATH` if it has no slash, and its arguments.
    var words: [String]
    /// The variables to add to this process's; a nil value removes one.
    var variables: [String: String?]

    /// Runs the program; only returns if that fails.
    ///
    /// - Throws: `Failure` with status 127 if there is no such program and 126 if it can't be executed, as in shells.
    func run() throws(Failure) -> Never {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // This process's own variables are passed on byte for byte.
        var environment = inherited
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
            if let value { environment.append(strdup("\(name)=\(value)")) }
        }
        environment.append(nil)
        // The program is looked up in this process's PATH.
        if let path = variables["PATH"] ?? nil { setenv("PATH", path, 1) }
        Inheritance.atStart.restore()
        let reason = -lanyard_exec(words[0], &arguments, &environment)
        throw Failure(
            "\(words[0].displayable(limit: 200)) can't be run: \(String(cString: strerror(reason)))",
            status: reason == ENOENT ? .notFound : .notExecutable)
    }

    private var inherited: [UnsafeMutablePointer<CChar>?] {
        let replaced = variables.keys.map { "\($0)=" }
        var entries: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            if !replaced.contains(where: { strncmp(entry, $0, $0.utf8.count) == 0 }) { entries.append(entry) }
            next += 1
        }
        return entries
    }
}
