import Addresses
import Files
import Glibc
import SystemPackage
import Terminal

// A mask holds what it hides. So it goes only where the job's log reads it, which takes it out; in a file, a variable or another
// program it would be a leak. In `X=$(lanyard token)` standard output is the variable's, and standard error the log's unless somebody
// redirected it. Nothing tells from one end of a pipe who reads the other. But processes inherit the log's pipe from each
// other, and whoever reads a pipe doesn't write to it. So the ancestors are looked at, up to the first that writes elsewhere:
// in `$(… 2>&1)` that is the job's shell, and there is no mask; otherwise it is the service's own program, above the job.

/// The log of the job that this process is part of.
struct JobLog: Sendable {
    private let service: PipelineService

    init(of service: PipelineService) {
        self.service = service
    }

    /// Whether the log reads what is written to an open file, and nobody else does.
    func reads(_ file: FileDescriptor) -> Bool {
        guard let place = OpenPlace(file), place.isStream else { return false }
        var process = getppid()
        while process > 0 {
            if ![1, 2].contains(where: { OpenPlace("/proc/\(process)/fd/\($0)") == place }) { return isAbove(process) }
            guard let parent = ProcessFields(of: process)?.parent else { return false }
            process = parent
        }
        // In a container the service is out of sight.
        return true
    }

    /// Whether a process is the service's, and no job's.
    ///
    /// Node runs the service's tasks and passes on what their programs print: then the one above decides.
    private func isAbove(_ process: pid_t) -> Bool {
        guard isOfJob(process) != false else { return true }
        guard Self.isNode(process), let parent = ProcessFields(of: process)?.parent else { return false }
        return parent == 0 || isOfJob(parent) == false
    }

    /// Whether a process has the variable that all of a job have; nil if that can't be known.
    private func isOfJob(_ process: pid_t) -> Bool? {
        guard let text = try? OpenFile("/proc/\(process)/environ").contents(atMost: 1 << 21) else { return nil }
        let mark = Array("\(service.variable)=".utf8)
        return text.split(separator: 0).contains { $0.starts(with: mark) }
    }

    private static func isNode(_ process: pid_t) -> Bool {
        SymbolicLink.target(of: "/proc/\(process)/exe")?.pieces(between: "/").last?.hasPrefix("node") == true
    }
}

/// What an open file is: the same for all who have it open.
private struct OpenPlace: Equatable {
    /// Whether it is a pipe, a socket or a terminal: what somebody reads while it is written.
    let isStream: Bool
    private let device: dev_t
    private let number: ino_t

    init?(_ file: FileDescriptor) {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { return nil }
        self.init(status, isTerminal: isatty(file.rawValue) == 1)
    }

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status, isTerminal: false)
    }

    private init(_ status: stat, isTerminal: Bool) {
        isStream = isTerminal || [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
        device = status.st_dev
        number = status.st_ino
    }

    static func == (one: Self, other: Self) -> Bool { one.device == other.device && one.number == other.number }
}

extension CommandContext {
    /// Has the log of the job that this is part of, if there is one, hide values from now on.
    ///
    /// Services read both outputs, each by itself: what goes to one may overtake what went to the other before.
    func mask(_ values: [String]) {
        guard let service = PipelineService(environment) else { return }
        let (log, masks) = (JobLog(of: service), service.masks(of: values))
        if log.reads(console.errors) { console.command(masks) }
        if log.reads(console.output) { console.write(Array(masks.utf8)) }
    }
}
