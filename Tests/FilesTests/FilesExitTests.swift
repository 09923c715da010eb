import Files
import Glibc
import TestSupport
import Testing

/// Files and locks after a process ends.
@Suite struct FilesExitTests {
    @Test func `a writer that is killed leaves what was there, and its draft goes with the next`() async throws {
        try await ScratchDirectory.with { scratch in
            let path = scratch.path + "/home"
            let folder = try Folder(path)
            try folder.write([1], to: "file", isDurable: true)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let draft = try Draft(in: Folder(path))
                try draft.write([2])
                try draft.flush()
                kill(getpid(), SIGKILL)
            }
            #expect(try folder.read("file", atMost: 10) == [1])
            let left = try #require(folder.names(atMost: 10).first { $0 != "file" })
            #expect(folder.status(of: left)?.permissions == 0o600)
            // A draft that is still being written stays.
            Draft.removeStale(in: folder)
            #expect(folder.names(atMost: 10).count == 2)
            try DraftTests.age(path + "/" + left)
            try folder.write([3], to: "file", isDurable: true)
            Draft.removeStale(in: folder)
            #expect(folder.names(atMost: 10) == ["file"])
        }
    }

    @Test func `the umask takes nothing from the permissions of a folder that is made`() async throws {
        try await ScratchDirectory.with { scratch in
            let path = scratch.path + "/home"
            await #expect(processExitsWith: .success) { [path = path as String] in
                umask(0o077)
                Folder.make(path + "/a/b", permissions: 0o755)
                umask(0)
                Folder.make(path + "/c")
            }
            let permissions = ["/a", "/a/b", "/c"].map { FileStatus(of: path + $0)?.permissions }
            #expect(permissions == [0o755, 0o755, 0o700])
        }
    }

    @Test func `a process that is killed gives its lock back`() async throws {
        try await LockTests.withLock { path in
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let file = try OpenFile(path)
                guard try file.tryLock() else { return }
                kill(getpid(), SIGKILL)
                withExtendedLifetime(file) {}
            }
            let isFree = try LockTests.isFree(path)
            #expect(isFree)
        }
    }

    @Test func `a process that waits can end`() async throws {
        try await LockTests.withLock { path in
            let holder = try OpenFile(path)
            #expect(try holder.tryLock())
            await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
                guard try !OpenFile(path).lock(within: .milliseconds(10)) else { return }
                exit(7)
            }
            withExtendedLifetime(holder) {}
        }
    }
}
