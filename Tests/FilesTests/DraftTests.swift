import Files
import Glibc
import TestSupport
import Testing

/// Files before they get their final name.
@Suite struct DraftTests {
    @Test func `a draft that is given up is gone, and what has the name stays`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path + "/home")
            try folder.write([1], to: "file", isDurable: false)
            do {
                let draft = try Draft(in: folder)
                try draft.write([2])
                #expect(folder.names(atMost: 10).count == 2)
            }
            #expect(folder.names(atMost: 10) == ["file"])
            #expect(try folder.read("file", atMost: 10) == [1])
        }
    }

    @Test func `a draft is nobody else's before it has its name, whatever it has then`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path + "/home")
            let before = umask(0)
            defer { umask(before) }
            let draft = try Draft(in: folder)
            let name = try #require(folder.names(atMost: 10).first)
            #expect(folder.status(of: name)?.permissions == 0o600)
            draft.setPermissions(0o644)
            try draft.place(as: "file")
            #expect(folder.status(of: "file")?.permissions == 0o644 && folder.names(atMost: 10) == ["file"])
        }
    }

    @Test func `only drafts are taken for drafts`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path + "/home")
            let names = [".hidden", "lanyard-draft.1.2", ".lanyard-draft", ".config.toml.1"]
            for name in names {
                try folder.write([1], to: name, isDurable: false)
                try Self.age(scratch.path + "/home/" + name)
            }
            #expect(symlink(".hidden", scratch.path + "/home/.lanyard-draft.1.2") == 0)
            Draft.removeStale(in: folder)
            #expect(folder.names(atMost: 10).count == names.count + 1)
        }
    }

    /// Makes a file look old enough to be abandoned.
    static func age(_ path: String) throws {
        let times = [timespec](repeating: timespec(tv_sec: time(nil) - 120, tv_nsec: 0), count: 2)
        try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
    }
}
