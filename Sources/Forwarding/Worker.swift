internal import CLinux
internal import Files
internal import Glibc
internal import Secrets

/// A process that answers one request.
struct Worker {
    let process: pid_t
    /// The process's input, which is open for as long as the reply is wanted.
    private let input: CInt
    private let output: CInt
    private var unsent: ArraySlice<UInt8>
    private var parser = AttributeParser(longestInput: ForwardedReply.longest)

    /// Starts the process; nil if that fails.
    init?(_ program: String, _ arguments: [String], _ environment: [String: String], input bytes: [UInt8]) {
        var (into, from): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
        guard lanyard_pipe(&into, 1) == 0 else { return nil }
        guard lanyard_pipe(&from, 0) == 0 else {
            for end in into { close(end) }
            return nil
        }
        let started = Self.start(program, arguments, environment, input: into[0], output: from[1])
        close(into[0])
        close(from[1])
        guard let started else {
            close(into[1])
            close(from[0])
            return nil
        }
        process = started
        (input, output) = (into[1], from[0])
        unsent = bytes[...]
    }

    /// Starts the process with the agent's standard error and terminal.
    private static func start(
        _ program: String, _ arguments: [String], _ environment: [String: String], input: CInt, output: CInt
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = ProcessEnvironment.entries(environment) + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        return posix_spawn(&process, program, &actions, &attributes, &words, &variables) == 0 ? process : nil
    }

    /// The descriptors to poll.
    var pollEntries: [pollfd] {
        [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: unsent.isEmpty ? -1 : input, events: Int16(POLLOUT), revents: 0),
        ]
    }

    /// Handles events; returns the reply once it is complete.
    mutating func handle(_ events: [Int16]) -> ForwardedReply? {
        if events[1] != 0 { send() }
        guard events[0] != 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = read(output, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0, let blocks = try? parser.consume(bytes[..<count]) else { return Self.failure }
        guard let block = blocks.first else { return nil }
        return (try? ForwardedReply(block)) ?? Self.failure
    }

    private static let failure = ForwardedReply.refused(
        .init(.other, "lanyard failed there", remedies: ["look at the agent's messages"]))

    private mutating func send() {
        let count = unsent.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        unsent = count < 0 ? [] : unsent.dropFirst(count)
    }

    /// Closes its input and output, which makes it exit; it still has to be reaped.
    ///
    /// It gets no signal, which could kill it before it has told the user that a question no longer needs an answer.
    func end() {
        close(input)
        close(output)
    }
}
