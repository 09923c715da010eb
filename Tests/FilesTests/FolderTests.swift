import Files
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Open folders, and reading and writing files in them.
@Suite struct FolderTests {
    private static let somebody: uid_t = 65_534

    private static func permissions(_ path: String) -> mode_t? { FileStatus(of: path)?.permissions }

    @Test func `what is written is read, and only this user can`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            for bytes in [[], [1, 2, 3], [UInt8](repeating: 7, count: 100_000)] {
                try folder.write(bytes, to: "file", isDurable: true)
                #expect(try folder.read("file", atMost: 100_000) == bytes)
            }
            #expect(Self.permissions(scratch.path + "/file") == 0o600)
            #expect(try folder.read("file", atMost: 100_000, first: 2) == [7, 7])
            #expect(folder.names(atMost: 100).filter { $0.hasPrefix(".") } == [])
        }
    }

    @Test(arguments: ["link", "pipe", "folder", "socket", "open to others", "too long", "nothing"])
    func `what is no private file is not read`(_ what: String) async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            try folder.write([1], to: "real", isDurable: false)
            let path = scratch.path + "/file"
            var expected = FileError.irregular
            switch what {
            case "link":
                #expect(symlink("real", path) == 0)
                expected = .refused(.tooManySymbolicLinkLevels)
            case "pipe": #expect(mkfifo(path, 0o600) == 0)
            case "folder": #expect(mkdir(path, 0o700) == 0)
            case "socket":
                #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
                expected = .refused(.noSuchAddressOrDevice)
            case "open to others":
                try folder.write([1], to: "file", isDurable: false)
                #expect(chmod(path, 0o640) == 0)
                expected = .exposed
            case "too long":
                try folder.write([UInt8](repeating: 0, count: 11), to: "file", isDurable: false)
                expected = .tooLong
            default: expected = .refused(.noSuchFileOrDirectory)
            }
            let problem = #expect(throws: FileError.self) { try folder.read("file", atMost: 10) }
            #expect(problem == expected)
            #expect(problem?.isMissing == (what == "nothing"))
        }
    }

    @Test func `a file of sparse terabytes costs no memory`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            try folder.write([], to: "file", isDurable: false)
            #expect(truncate(scratch.path + "/file", 1 << 42) == 0)
            #expect(throws: FileError.tooLong) { try folder.read("file", atMost: 1 << 20) }
            #expect(throws: FileError.tooLong) {
                try OpenFile(scratch.path + "/file").contents(atMost: 1 << 20)
            }
        }
    }

    @Test func `a link is replaced, and what it leads to stays`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            try folder.write([1], to: "real", isDurable: false)
            #expect(symlink("real", scratch.path + "/file") == 0)
            try folder.write([2], to: "file", isDurable: false)
            #expect(try folder.read("real", atMost: 10) == [1] && folder.read("file", atMost: 10) == [2])
        }
    }

    @Test func `what can't be put in place leaves nothing behind`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path + "/home")
            #expect(mkdir(scratch.path + "/home/file", 0o700) == 0)
            #expect(throws: FileError.refused(.isDirectory)) { try folder.write([1], to: "file", isDurable: true) }
            #expect(folder.names(atMost: 10) == ["file"])
        }
    }

    @Test func `a folder stays the same when another is put in its place`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path + "/home")
            #expect(rename(scratch.path + "/home", scratch.path + "/old") == 0)
            #expect(symlink("/tmp", scratch.path + "/home") == 0)
            try folder.write([1], to: "file", isDurable: false)
            #expect(access(scratch.path + "/old/file", F_OK) == 0)
        }
    }

    @Test func `of two that write, a reader sees one or the other whole`() async throws {
        try await ScratchDirectory.with { scratch in
            let path = scratch.path
            try Folder(path).write([0], to: "file", isDurable: false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 1...2 {
                    group.addTask {
                        let bytes = [UInt8](repeating: UInt8(writer), count: writer * 5000)
                        for _ in 0..<200 { try Folder(path).write(bytes, to: "file", isDurable: false) }
                    }
                }
                group.addTask {
                    for _ in 0..<400 {
                        let bytes = try Folder(path).read("file", atMost: 10_000)
                        #expect(Set(bytes).count == 1 && bytes.count == max(1, Int(bytes[0]) * 5000))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a private folder is made for this user, and one that is open to others is closed`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            #expect(throws: FileError.refused(.noSuchFileOrDirectory)) {
                _ = try folder.privateFolder("new", making: false)
            }
            _ = try folder.privateFolder("new", making: true)
            #expect(Self.permissions(scratch.path + "/new") == 0o700)
            #expect(chmod(scratch.path + "/new", 0o777) == 0)
            _ = try folder.privateFolder("new", making: false)
            #expect(Self.permissions(scratch.path + "/new") == 0o700)
        }
    }

    @Test(arguments: ["link", "file"])
    func `what is no folder of this user's is no private folder`(_ what: String) async throws {
        try await ScratchDirectory.with { scratch in
            let path = scratch.path + "/private"
            if what == "link" {
                #expect(symlink("home", path) == 0)
            } else {
                _ = try scratch.write("", to: "private")
            }
            let folder = try Folder(scratch.path)
            let problem = #expect(throws: FileError.self) { _ = try folder.privateFolder("private", making: true) }
            #expect(problem == .refused(.notDirectory))
        }
    }

    @Test func `whose a folder is, and what it grants others, decides`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            try folder.requireOwn(closedTo: 0o077)
            #expect(chmod(scratch.path, 0o755) == 0)
            try folder.requireOwn(closedTo: 0o022)
            #expect(throws: FileError.exposed) { try folder.requireOwn(closedTo: 0o077) }
            if geteuid() == 0 {
                #expect(chown(scratch.path, Self.somebody, Self.somebody) == 0)
                #expect(throws: FileError.foreign) { try folder.requireOwn() }
                #expect(!Folder.isOwn(scratch.path))
            } else {
                #expect(throws: FileError.foreign) { try Folder("/").requireOwn() }
                #expect(!Folder.isOwn("/"))
            }
        }
    }

    @Test func `folders above are made, and one that is there stays as it is`() async throws {
        try await ScratchDirectory.with { scratch in
            #expect(chmod(scratch.path + "/home", 0o755) == 0)
            for path in ["/home/a/b", "/home//a/b/c/"] { Folder.make(scratch.path + path) }
            #expect(Self.permissions(scratch.path + "/home") == 0o755)
            for path in ["/home/a", "/home/a/b", "/home/a/b/c"] {
                #expect(Self.permissions(scratch.path + path) == 0o700, "\(path)")
            }
        }
    }

    @Test func `a folder that root makes for an heir is theirs, and what is there stays as it is`() async throws {
        try await ScratchDirectory.with { scratch in
            let somebody = geteuid() == 0 ? Self.somebody : geteuid()
            let given = scratch.path + "/given"
            #expect(mkdir(given, 0o700) == 0 && chown(given, somebody, gid_t.max) == 0)
            Folder.make(scratch.path + "/home/own/a") { _ in nil }
            Folder.make(given + "/a/b", permissions: 0o750) { around in
                #expect(around == given || around == given + "/a")
                return FileStatus(of: around)
            }
            for path in [given + "/a", given + "/a/b"] {
                #expect(FileStatus(of: path)?.owner == somebody && Self.permissions(path) == 0o750, "\(path)")
            }
            #expect(FileStatus(of: scratch.path + "/home/own/a")?.isOwn == true && Self.permissions(given) == 0o700)
        }
    }

    @Test func `a lock file is this user's and no link`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            _ = try folder.openFile("lock")
            #expect(Self.permissions(scratch.path + "/lock") == 0o600)
            #expect(symlink(scratch.path + "/elsewhere", scratch.path + "/link") == 0)
            #expect(throws: FileError.refused(.tooManySymbolicLinkLevels)) { _ = try folder.openFile("link") }
            #expect(access(scratch.path + "/elsewhere", F_OK) != 0)
            #expect(mkfifo(scratch.path + "/pipe", 0o600) == 0)
            #expect(throws: FileError.irregular) { _ = try folder.openFile("pipe") }
        }
    }

    @Test func `what has a name is removed, but not what a link leads to nor a folder with something in it`()
        async throws
    {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path + "/home")
            try folder.write([1], to: "file", isDurable: false)
            #expect(symlink("file", scratch.path + "/home/link") == 0)
            _ = try folder.privateFolder("empty", making: true)
            try folder.privateFolder("full", making: true).write([1], to: "x", isDurable: false)
            for name in ["link", "empty", "full", "missing"] { folder.remove(name) }
            #expect(folder.names(atMost: 10).sorted() == ["file", "full"])
            #expect(folder.names(atMost: 1).count == 1)
        }
    }
}

extension FolderTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        @Test func `what is somebody else's is not private`() async throws {
            try await ScratchDirectory.with { scratch in
                let folder = try Folder(scratch.path)
                try folder.write([1], to: "file", isDurable: false)
                for name in ["file", "home"] { #expect(chown("\(scratch.path)/\(name)", somebody, somebody) == 0) }
                #expect(throws: FileError.foreign) { try folder.read("file", atMost: 10) }
                #expect(throws: FileError.foreign) { _ = try folder.privateFolder("home", making: true) }
            }
        }
    }
}
