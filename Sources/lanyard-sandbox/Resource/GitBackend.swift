import Addresses
import Files
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Subprocess
import Synchronization
import Terminal

/// Serves repositories with git's own CGI program, `git http-backend`.
final class GitBackend: Sendable {
    private let home: Home
    private let repositories: Repositories
    private let running = Mutex<[String: Task<Void, Never>]>([:])

    init(home: Home) {
        self.home = home
        repositories = Repositories(home: home)
    }

    /// Stops every running git.
    func stop() {
        running.withLock { $0.values.forEach { $0.cancel() } }
    }

    /// Returns the environment of git processes, without the user's configuration.
    static func environment(home: Home) -> [Subprocess.Environment.Key: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": home.path,
            "LANG": "C.UTF-8", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
        ]
    }

    /// Runs git for one request to a repository below `root`, making that first if it is a known one, and streams its
    /// answer.
    func respond(to visit: Visit, as username: String, root: String, making isKnown: Bool) async -> Response {
        do {
            if isKnown { try await repositories.make(visit.repository, below: root) }
        } catch {
            return .text(CommandError(any: error).message.text, status: .internalServerError)
        }
        let (output, source) = RequestBody.makeStream()
        let (heads, head) = AsyncStream.makeStream(of: CGIHead.self)
        let environment = environment(of: visit, as: username, root: root)
        let id = newIdentifier()
        let task = Task {
            try? await Self.run(environment, input: visit.request.body, output: source, head: head)
            source.finish()
            head.finish()
            running.withLock { $0[id] = nil }
        }
        running.withLock { $0[id] = task }
        let answer = await withTaskCancellationHandler {
            await heads.first { _ in true }
        } onCancel: {
            task.cancel()
        }
        guard let answer else { return .text("git could not answer this", status: .internalServerError) }
        let body = ResponseBody { writer in
            defer { task.cancel() }
            for try await chunk in output { try await writer.write(chunk) }
            try await writer.finish(nil)
        }
        return Response(status: answer.status, headers: answer.headers, body: body)
    }

    private static func run(
        _ environment: [Subprocess.Environment.Key: String], input: RequestBody, output: RequestBody.Source,
        head: AsyncStream<CGIHead>.Continuation
    ) async throws {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .milliseconds(300))]
        _ = try await Subprocess.run(
            .name("git"), arguments: ["http-backend"], environment: .custom(environment), platformOptions: options,
            input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            async let fed: Void = feed(input, to: execution.standardInputWriter)
            var parser = CGIParser()
            for try await chunk in execution.standardOutput {
                let bytes = chunk.withUnsafeBytes { ByteBuffer(bytes: $0) }
                guard let body = parser.parse(bytes, head: head) else { continue }
                if body.readableBytes > 0 { await output.yield(body) }
            }
            await fed
        }
    }

    /// Passes on a request's body; git sees its end even if the client disconnects.
    private static func feed(_ body: RequestBody, to writer: StandardInputWriter) async {
        do {
            for try await chunk in body { _ = try await writer.write(Array(chunk.readableBytesView)) }
        } catch {
            // Either git or the client is gone; in both cases, end git's input.
        }
        try? await writer.finish()
    }

    /// Returns the CGI variables (RFC 3875) of a request.
    private func environment(
        of visit: Visit, as username: String, root: String
    ) -> [Subprocess.Environment.Key: String] {
        let headers = visit.request.headers
        let variables: [Subprocess.Environment.Key: String?] = [
            "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1", "GATEWAY_INTERFACE": "CGI/1.1",
            "SERVER_PROTOCOL": "HTTP/1.1", "REQUEST_METHOD": visit.method.rawValue, "PATH_INFO": visit.plainPath,
            "QUERY_STRING": visit.request.uri.query ?? "", "REMOTE_USER": username, "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": headers[.contentType], "CONTENT_LENGTH": headers[.contentLength],
            "HTTP_CONTENT_ENCODING": headers[.contentEncoding], "HTTP_GIT_PROTOCOL": visit.header("Git-Protocol"),
            "GIT_PROTOCOL": visit.header("Git-Protocol"),
        ]
        return Self.environment(home: home).merging(variables.compactMapValues(\.self)) { $1 }
    }
}

/// The head of a CGI response (RFC 3875, 6.3).
struct CGIHead: Sendable {
    var status = HTTPResponse.Status.ok
    var headers: HTTPFields = [:]

    init(_ text: some StringProtocol) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let (name, rest) = line.cut(at: ":") else { continue }
            let value = rest.drop { $0 == " " }
            if name.lowercased() == "status" {
                status = .init(code: Int(value.prefix { $0 != " " }) ?? 500)
            } else if let name = HTTPField.Name(String(name)) {
                headers.append(HTTPField(name: name, value: String(value)))
            }
        }
    }
}

/// Separates the head from a CGI program's output.
struct CGIParser {
    private static let longestHead = 64 * 1024

    private var pending = ByteBuffer()
    private var isPastHead = false

    /// Takes a chunk and returns the part that belongs to the body; nil until the head is complete.
    mutating func parse(_ chunk: ByteBuffer, head: AsyncStream<CGIHead>.Continuation) -> ByteBuffer? {
        if isPastHead { return chunk }
        pending.writeImmutableBuffer(chunk)
        let bytes = pending.readableBytesView
        guard let end = Self.endOfHead(in: bytes) else {
            if bytes.count > Self.longestHead { head.finish() }
            return nil
        }
        isPastHead = true
        head.yield(CGIHead(String(decoding: bytes[..<end], as: UTF8.self)))
        return ByteBuffer(bytes: bytes[end...])
    }

    private static func endOfHead(in bytes: ByteBufferView) -> Int? {
        var lineStart = bytes.startIndex
        while let newline = bytes[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[lineStart..<newline]
            if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return newline + 1 }
            lineStart = newline + 1
        }
        return nil
    }
}

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

    private func create(_ path: String, in directory: String) async throws(CommandError) {
        if FileStatus(of: directory + "/HEAD") != nil { return }
        Folder.make(directory)
        do throws(FileError) { _ = try Folder(directory) } catch {
            throw CommandError("cannot make \(directory): \(error.reason)")
        }
        try await git(["init", "--quiet", "--bare", "--initial-branch=main", directory])
        try await git(["-C", directory, "config", "http.receivepack", "true"])
        try await git(["-C", directory, "fast-import", "--quiet"], input: Self.history(of: path))
    }

    private func git(_ arguments: [String], input: String = "") async throws(CommandError) {
        do {
            let result = try await run(
                .name("git"), arguments: Arguments(arguments), environment: .custom(GitBackend.environment(home: home)),
                input: .string(input), output: .discarded, error: .string(limit: 64 * 1024))
            guard result.terminationStatus.isSuccess else {
                throw CommandError(
                    "git \(arguments.joined(separator: " ")) failed: \(result.standardError, limit: 4096)")
            }
        } catch {
            throw error as? CommandError ?? CommandError("cannot run git: \(CommandError(any: error).message)")
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
