import Addresses
import Glibc
import Secrets

/// What a stranger has to know of the machine to understand a report.
struct SystemFacts {
    private let context: CommandContext

    init(_ context: CommandContext) {
        self.context = context
    }

    var findings: [Finding] {
        [
            .pass("system", Self.release), .pass("kernel", Self.kernel),
            .pass("desktop", context.variable("XDG_CURRENT_DESKTOP")?.displayable(limit: 60) ?? "none"),
            .pass("session", context.variable("XDG_SESSION_TYPE")?.displayable(limit: 60) ?? "none"),
            .pass("shell", (context.variable("TERM") ?? "no terminal").displayable(limit: 60)),
        ]
    }

    /// The distribution's name for itself (os-release(5)).
    private static var release: String {
        guard let file = fopen("/etc/os-release", "re") else { return "unknown" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("PRETTY_NAME=") else { continue }
            return String(Substring(text.utf8.dropFirst(12)).trimmed(of: "\"\n")).displayable(limit: 100)
        }
        return "unknown"
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
