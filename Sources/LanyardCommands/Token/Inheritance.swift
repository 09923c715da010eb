import Glibc

/// What this process was started with and a program in its place is to get back.
///
/// Signals that a program ignores or blocks, and its limits, stay with the one that takes its place; lanyard changes some
/// of them for itself, and the threads that Swift runs on block most signals.
struct Inheritance: Sendable {
    private static let signals = 1..<Int32(65)

    private let ignored: Set<Int32>
    private let blocked: sigset_t
    private let coreLimit: rlimit

    /// What the process was started with; to be asked for before anything is changed.
    static let atStart = Inheritance()

    private init() {
        ignored = Set(Self.signals.filter(Self.isIgnored))
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        blocked = mask
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        coreLimit = limit
    }

    /// Gives it back, on this thread.
    ///
    /// Whether memory may be read needs no giving back: the kernel decides that anew for each program.
    func restore() {
        for number in Self.signals where Self.isIgnored(number) && !ignored.contains(number) {
            signal(number, SIG_DFL)
        }
        var mask = blocked
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        var limit = coreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN is no function but the number 1, which Swift can only compare as one.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
