internal import CLinux
internal import Dispatch
import Files
internal import Glibc
import Keyring
import Secrets

/// A program of the user's that wraps or unwraps a key, from its standard input to its standard output.
///
/// It is run without a shell, with this process's variables, terminal and standard error, so that it may ask the user. Its
/// working directory is `/`: what it runs and reads must not depend on the folder that the user is in, which may be anybody's.
struct WrappingCommand {
    private let words: [String]
    private let seconds: Double

    /// The longest output, in bytes.
    private static let longest = 1 << 16

    /// Prepares a command that may take a while, because it may ask the user.
    init(_ words: [String], seconds: Double = 60) { (self.words, self.seconds) = (words, seconds) }

    func run(_ input: [UInt8]) throws(KeyringError) -> [UInt8] {
        guard let program = words.first, !program.isEmpty else { throw failure("is empty") }
        guard program.hasPrefix("/") || !program.utf8.contains(UInt8(ascii: "/")) else {
            throw failure("is not named by its whole path, which it needs wherever you are")
        }
        // A file, because a pipe would have to be written while the output is read.
        let stdin = lanyard_memory_file(input, input.count)
        guard stdin >= 0 else { throw failure("got no input: \(String(cString: strerror(-stdin)))") }
        defer { close(stdin) }
        lseek(stdin, 0, SEEK_SET)
        var ends: [CInt] = [-1, -1]
        guard lanyard_pipe(&ends, 0) == 0 else { throw failure("got no output: \(FileError.last.reason)") }
        defer { close(ends[0]) }
        let process: pid_t
        do {
            defer { close(ends[1]) }
            process = try spawn(program, stdin, ends[1])
        }
        let output = read(ends[0], until: .now() + seconds)
        if output == nil { kill(process, SIGKILL) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard let output else { throw failure("did not end in \(Int(seconds)) seconds, or printed too much") }
        guard status == 0 else {
            throw failure(status & 0x7f == 0 ? "ended with status \(status >> 8)" : "was ended by a signal")
        }
        return output
    }

    private func spawn(_ program: String, _ input: CInt, _ output: CInt) throws(KeyringError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        guard lanyard_spawn_in_root(&actions) == 0 else { throw failure("can't be run in /") }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let problem = posix_spawnp(&process, program, &actions, nil, &arguments, environ)
        guard problem == 0 else { throw failure("can't be run: \(String(cString: strerror(problem)))") }
        return process
    }

    /// Reads to the end; nil if that takes too long, or is too long.
    private func read(_ descriptor: CInt, until end: DispatchTime) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= Self.longest {
            let left = Int64(bitPattern: end.uptimeNanoseconds &- DispatchTime.now().uptimeNanoseconds)
            guard left > 0 else { return nil }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, CInt(clamping: left / 1_000_000 + 1)) > 0 else { continue }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += chunk[..<count] }
        }
        return nil
    }

    private func failure(_ what: String) -> KeyringError {
        KeyringError(.sealedElsewhere, detail: "the command \(words.first?.displayable(limit: 100) ?? "") \(what)")
    }
}
