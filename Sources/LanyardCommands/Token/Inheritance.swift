import Glibc

/// The state that this process started with, and that a program in its place must get back.
///
/// Ignored and blocked signals and resource limits survive exec(2). lanyard changes some of them for itself, and
/// Swift's threads block most signals.
struct Inheritance: Sendable {
    private static let signals = 1..<Int32(65)

    private let ignored: Set<Int32>
    private let blocked: sigset_t
    private let coreLimit: rlimit

    /// The state at the start of the process; read it before anything is changed.
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

    /// Restores the state on this thread.
    ///
    /// Whether memory may be read needn't be restored, because the kernel decides it anew for each program.
    func restore() {
        for number in Self.signals where Self.isIgnored(number) && !ignored.contains(number) {
            signal(number, SIG_DFL)
        }
        for number in ignored { signal(number, SIG_IGN) }
        var mask = blocked
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        var limit = coreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN isn't a function but the number 1, and Swift can only compare it as a number.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
