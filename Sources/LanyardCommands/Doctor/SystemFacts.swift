import Addresses
import Glibc
import Secrets

extension Examination {
    /// The facts about the machine that a stranger needs to understand a report.
    var systemFacts: [Finding] {
        [
            .pass("system", (OSRelease.here["PRETTY_NAME"] ?? "unknown").displayable(limit: 100)),
            .pass("kernel", Self.kernel),
            .pass("desktop", context.variable("XDG_CURRENT_DESKTOP")?.displayable(limit: 60) ?? "none"),
            .pass("session", context.variable("XDG_SESSION_TYPE")?.displayable(limit: 60) ?? "none"),
            .pass("shell", shell), .pass("TERM", context.variable("TERM")?.displayable(limit: 60) ?? "none"),
        ]
    }

    /// The name of the login shell, whose path may contain the user's name.
    private var shell: String {
        let name = context.variable("SHELL")?.pieces(between: "/").last
        return name.map { String($0).displayable(limit: 60) } ?? "unknown"
    }

    private static var kernel: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))".displayable(limit: 100)
    }
}
