import Files
import Subprocess

/// The repositories of a sandbox, created on first use.
actor Repositories {
    private let home: Home
    private var made: [String: Task<Void, any Error>] = [:]

    init(home: Home) {
        self.home = home
    }

    /// Creates the repository of a path below a folder, unless it exists.
    func make(_ path: String, below root: String) async throws {
        // Concurrent requests wait for the same task.
        let task = made[root + path] ?? Task { try await create(path, in: root + path) }
        made[root + path] = task
        try await task.value
    }

    private func create(_ path: String, in directory: String) async throws(SandboxError) {
        if FileStatus(of: directory + "/HEAD") != nil { return }
        Folder.make(directory)
        do throws(FileProblem) { _ = try Folder(directory) } catch {
            throw SandboxError("cannot make \(directory): \(error.reason)")
        }
        try await git(["init", "--quiet", "--bare", "--initial-branch=main", directory])
        try await git(["-C", directory, "config", "http.receivepack", "true"])
        try await git(["-C", directory, "fast-import", "--quiet"], input: Self.history(of: path))
    }

    private func git(_ arguments: [String], input: String = "") async throws(SandboxError) {
        do {
            let result = try await run(
                .name("git"), arguments: Arguments(arguments), environment: .custom(GitBackend.environment(home: home)),
                input: .string(input), output: .discarded, error: .string(limit: 64 * 1024))
            guard result.terminationStatus.isSuccess else {
                throw SandboxError("git \(arguments.joined(separator: " ")) failed: \(result.standardError)")
            }
        } catch let error as SandboxError {
            throw error
        } catch {
            throw SandboxError("cannot run git: \(error)")
        }
    }

    /// Returns three commits for `git fast-import`.
    private static func history(of path: String) -> String {
        let commits = [
            ("Say hello", "README.md", "# hello\n\nA repository of the lanyard sandbox at `\(path)`.\n"),
            ("Add a program", "hello.sh", "#!/bin/sh\necho \"hello, ${1:-world}\"\n"),
            ("Say what to try", "TRY.md", "Change something, commit it and push: this remote takes it.\n"),
        ]
        return commits.enumerated().map { index, commit in
            let (subject, file, content) = commit
            return """
                commit refs/heads/main
                committer Sandbox <sandbox@contoso.example> \(1_760_000_000 + index * 3600) +0000
                data \(subject.utf8.count)
                \(subject)
                M 100644 inline \(file)
                data \(content.utf8.count)
                \(content)

                """
        }.joined()
    }
}
