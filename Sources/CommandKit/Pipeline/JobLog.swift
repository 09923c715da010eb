import Addresses
import Files
import Glibc
import Model
import SystemPackage
import Terminal

// A command that masks a value contains the value. So it may only go where the job's log reads it, because the log
// removes it; in a file, a variable or another program it would be a leak. In `X=$(lanyard token)`, stdout goes to the
// variable, and stderr to the log unless it is redirected. Nothing at one end of a pipe shows who reads the other. But
// processes inherit the log's pipe from each other, and a process doesn't write to a pipe that it reads. So lanyard
// examines its ancestors up to the first that writes elsewhere. In `$(… 2>&1)` that is the job's shell, so nothing is
// masked. Otherwise it must be the service's own program, above the job, which reads the pipe. That is no shell: one
// without the variable has only been given the variable for a command.

/// The log of the job that this process belongs to.
struct JobLog: Sendable {
    let service: PipelineService

    /// Whether the log, and nothing else, reads what is written to an open file; nil if the process that reads it is out
    /// of sight, as in a container.
    func reads(_ file: FileDescriptor) -> Bool? {
        guard let place = OpenRegion(file), place.isStream else { return false }
        var process = getppid()
        // A job's step starts lanyard. If nothing is above lanyard, or nothing of a job, the variable alone says nothing.
        guard isOfJob(process) == true else { return false }
        while process > 0 {
            if ![1, 2].contains(where: { OpenRegion("/proc/\(process)/fd/\($0)") == place }) {
                return isAbove(process) && !Self.isShell(process) && (!place.isPipe || Self.reads(place, process))
            }
            guard let parent = ProcessFields(of: process)?.parent else { return false }
            process = parent
        }
        return nil
    }

    /// Whether a process is the service's rather than a job's.
    ///
    /// Node runs the service's tasks and passes on their programs' output, so its parent decides.
    private func isAbove(_ process: pid_t) -> Bool {
        guard isOfJob(process) != false else { return true }
        guard Self.program(process)?.hasPrefix("node") == true, let parent = ProcessFields(of: process)?.parent else {
            return false
        }
        return parent == 0 || isOfJob(parent) == false
    }

    /// Whether a process has the variable that all processes of a job have; nil if that isn't known.
    private func isOfJob(_ process: pid_t) -> Bool? {
        guard let text = try? OpenFile("/proc/\(process)/environ").contents(atMost: 1 << 21) else { return nil }
        let mark = Array("\(service.rawValue)=".utf8)
        return text.split(separator: 0).contains { $0.starts(with: mark) }
    }

    private static func isShell(_ process: pid_t) -> Bool {
        program(process).map { $0.hasSuffix("sh") || $0 == "busybox" } ?? true
    }

    /// Whether a process has a pipe open.
    private static func reads(_ pipe: OpenRegion, _ process: pid_t) -> Bool {
        let folder = "/proc/\(process)/fd"
        return (try? Folder(folder))?.names(atMost: 4096).contains { OpenRegion("\(folder)/\($0)") == pipe } ?? false
    }

    /// Returns the name of a process's program; nil if that isn't known.
    private static func program(_ process: pid_t) -> Substring? {
        FileStatus.linkTarget(of: "/proc/\(process)/exe")?.pieces(between: "/").last
    }
}

/// The identity of an open file, the same in all processes that have it open.
private struct OpenRegion: Equatable {
    /// Whether it is a pipe, a socket or a terminal, which can be read while it is written.
    let isStream: Bool
    let isPipe: Bool
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
        isPipe = status.st_mode & S_IFMT == S_IFIFO
        device = status.st_dev
        number = status.st_ino
    }

    static func == (one: Self, other: Self) -> Bool { one.device == other.device && one.number == other.number }
}

extension CommandContext {
    /// Makes the log of this process's job, if there is one, hide values from now on.
    ///
    /// Services read the two outputs independently, so output to one may overtake earlier output to the other.
    package func mask(_ values: [String]) {
        guard let service = PipelineService(environment) else { return }
        let (log, masks) = (JobLog(service: service), service.masks(of: values))
        // Out of a container, standard output may lead to a variable, as in `$(docker run …)`.
        let mayBeLog = OpenRegion(console.errors) != OpenRegion(console.output)
        if log.reads(console.errors) ?? mayBeLog { console.command(masks) }
        if log.reads(console.output) == true { console.write(Array(masks.utf8)) }
    }
}

/// A service that runs pipelines, and whose logs can hide values, by the variable that all processes of a job have.
enum PipelineService: String, Sendable, CaseIterable {
    /// GitHub Actions, and compatible runners such as Gitea's.
    case githubActions = "GITHUB_ACTIONS"
    case azurePipelines = "TF_BUILD"

    /// Returns the service of this process's job; nil outside of jobs, and for services whose logs can't be told to
    /// hide values, such as GitLab's.
    init?(_ environment: [String: String]) {
        let service = Self.allCases.first { environment[$0.rawValue]?.lowercased() == "true" }
        guard let service else { return nil }
        self = service
    }

    /// Returns the lines that make the log hide some values.
    ///
    /// The log is compared line by line, so each line of a value is hidden separately. A line of a few characters isn't
    /// a secret, and hiding it would make the log unreadable.
    func masks(of values: [String]) -> String {
        var hidden: [String] = []
        for value in values where !value.isEmpty {
            let lines = value.utf8.split { $0 == 0x0A || $0 == 0x0D }.compactMap { String($0) }
            for text in [value] + lines.filter({ $0.utf8.count >= 4 }) where !hidden.contains(text) {
                hidden.append(text)
            }
        }
        return hidden.map { "\(command)\(escaped($0))\n" }.joined()
    }

    /// Returns what the job lacks if its variables describe only the machine's identity, which is rarely what is meant.
    func advice(on identity: Identity, _ environment: [String: String]) -> String? {
        guard identity.name == Identity.environment.name, identity.application == nil else { return nil }
        return switch self {
        case .githubActions where environment["ACTIONS_ID_TOKEN_REQUEST_URL"]?.isEmpty ?? true:
            "for an application, give the job the permission: permissions: id-token: write"
        case .githubActions: "for an application, name it in the job's env: AZURE_TENANT_ID and AZURE_CLIENT_ID"
        case .azurePipelines:
            "for an application, run this in an AzureCLI@2 task, with SYSTEM_ACCESSTOKEN: $(System.AccessToken) in its env"
        }
    }

    /// GitHub's command must begin a line, and another process may have begun one.
    private var command: String {
        switch self {
        case .githubActions: "\n::add-mask::"
        case .azurePipelines: "##vso[task.setsecret]"
        }
    }

    private func escaped(_ text: String) -> String {
        var escaped = text.replacing(bytes: "%", with: self == .githubActions ? "%25" : "%AZP25")
            .replacing(bytes: "\r", with: "%0D").replacing(bytes: "\n", with: "%0A")
        if self == .azurePipelines {
            escaped = escaped.replacing(bytes: ";", with: "%3B").replacing(bytes: "]", with: "%5D")
        }
        return escaped
    }
}
