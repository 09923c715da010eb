import CLinux
import Glibc
import Secrets

/// A program that takes this process's place, so that signals and the exit status are its own.
struct ProgramInPlace {
    /// Its name, looked up in `PATH` if it holds no slash, and its arguments.
    var words: [String]
    /// Variables that it gets besides this process's; it doesn't get those that are nil.
    var variables: [String: String?]

    /// Runs it; comes back only if that can't be done.
    ///
    /// - Throws: `Failure` with 127 if there is no such program and 126 if it can't be executed, as shells have it.
    func run() throws(Failure) -> Never {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // This process's own variables go on as the bytes they are.
        var environment = inherited
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
            if let value { environment.append(strdup("\(name)=\(value)")) }
        }
        environment.append(nil)
        // The program is looked for in this process's PATH.
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
