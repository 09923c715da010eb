import Files
import Glibc
import TestSupport
import Testing

/// Which users could have written a file.
@Suite struct FileTrustTests {
    private static func check(_ path: String) -> FileTrust.Verdict {
        var trust = FileTrust()
        return trust.check(path)
    }

    private static func withProgram(_ body: (_ folder: String, _ program: String) async throws -> Void) async throws {
        try await ScratchDirectory.with { scratch in
            try await body(scratch.path + "/home", try scratch.write("", to: "home/program"))
        }
    }

    @Test func `a file of this user's below folders of theirs and root's is trusted, and so is a link to it`()
        async throws
    {
        try await Self.withProgram { folder, program in
            #expect(Self.check(program) == .trusted(program))
            #expect(symlink("program", folder + "/link") == 0)
            #expect(Self.check(folder + "/link") == .trusted(program))
            #expect(Self.check(folder + "/none") == .missing)
        }
    }

    @Test(arguments: [(0o666, 0o700), (0o602, 0o700), (0o600, 0o777), (0o600, 0o702), (0o600, 0o1777)])
    func `what others can write to, or replace, is not`(file: Int, folder mode: Int) async throws {
        try await Self.withProgram { folder, program in
            #expect(chmod(program, mode_t(file)) == 0 && chmod(folder, mode_t(mode)) == 0)
            // A sticky folder of root's counts as root's own.
            guard mode != 0o1777 || geteuid() != 0 else {
                #expect(Self.check(program) == .trusted(program))
                return
            }
            #expect(Self.check(program) == .writable(file == 0o600 ? folder : program))
        }
    }

    /// Whether this user's group is theirs alone: it has their name, and no other members.
    private static var hasPrivateGroup: Bool {
        guard let user = getpwuid(geteuid()), let group = getgrgid(user.pointee.pw_gid) else { return false }
        return String(cString: user.pointee.pw_name) == String(cString: group.pointee.gr_name)
            && group.pointee.gr_mem.pointee == nil
    }

    @Test(arguments: [(0o660, 0o700), (0o600, 0o770), (0o600, 0o775), (0o660, 0o2775)])
    func `what the group can write to is trusted if it is the user's own`(file: Int, folder mode: Int) async throws {
        try await Self.withProgram { folder, program in
            let group = try #require(getpwuid(geteuid())).pointee.pw_gid
            #expect(chown(program, geteuid(), group) == 0 && chown(folder, geteuid(), group) == 0)
            #expect(chmod(program, mode_t(file)) == 0 && chmod(folder, mode_t(mode)) == 0)
            let culprit = file == 0o600 ? folder : program
            #expect(Self.check(program) == (Self.hasPrivateGroup ? .trusted(program) : .writable(culprit)))
        }
    }

    @Test(.enabled(if: access("/usr/bin/setfacl", X_OK) == 0))
    func `a group that is the user's own doesn't excuse a list of other users`() async throws {
        try await Self.withProgram { folder, program in
            let ended = try await run("/usr/bin/setfacl", ["-m", "u:65533:rwx", folder], environment: [:])
            guard ended.status == 0 else { return }
            #expect(Self.check(program) == .writable(folder))
        }
    }

    @Test func `a folder is judged once, and one that others can write to each time`() async throws {
        try await Self.withProgram { folder, program in
            var trust = FileTrust()
            #expect(chmod(folder, 0o777) == 0)
            #expect(trust.check(program) == .writable(folder) && trust.check(program) == .writable(folder))
            #expect(chmod(folder, 0o700) == 0)
            #expect(trust.check(program) == .trusted(program))
            #expect(chmod(folder, 0o777) == 0)
            #expect(trust.check(program) == .trusted(program))
        }
    }

    @Test func `a program is a regular file that may be run`() async throws {
        try await Self.withProgram { folder, program in
            #expect(!FileTrust.isProgram(program))
            #expect(chmod(program, 0o700) == 0)
            #expect(FileTrust.isProgram(program) && !FileTrust.isProgram(folder))
        }
    }

    @Test(arguments: [
        ("/a/b", "/a"), ("/a", "/"), ("/", "/"), ("a/b", "a"), ("a", "."), ("/a/\u{301}b", "/a"),
    ])
    func `the folder that a path is in`(path: String, folder: String) {
        #expect(FileTrust.parent(of: path) == folder)
    }
}

extension FileTrustTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        @Test(arguments: [("staff", true), ("adm", false)])
        func `a group of root's files without members is root's`(_ name: String, _ isTrusted: Bool) async throws {
            guard let group = getgrnam(name) else { return }
            let isEmpty = group.pointee.gr_mem.pointee == nil
            guard isTrusted == isEmpty else { return }
            try await FileTrustTests.withProgram { folder, program in
                #expect(chown(folder, 0, group.pointee.gr_gid) == 0 && chmod(folder, 0o2775) == 0)
                #expect(FileTrustTests.check(program) == (isTrusted ? .trusted(program) : .writable(folder)))
            }
        }

        @Test(arguments: ["program", ""])
        func `what belongs to another user is not`(_ name: String) async throws {
            try await FileTrustTests.withProgram { folder, program in
                let foreign = name.isEmpty ? folder : program
                #expect(chown(foreign, 65_534, 65_534) == 0)
                #expect(FileTrustTests.check(program) == .writable(foreign))
            }
        }
    }
}
