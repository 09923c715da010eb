import Foundation
import Glibc
import Rules
import SettingsFile
import Terminal
import Testing

/// The owners whose configuration is read: its `browser` is a command.
@Suite struct ConfigurationTrustTests {
    private static func load(
        mode: mode_t, owner: uid_t = geteuid(), group: gid_t = getegid()
    ) throws -> Configuration {
        let folder = NSTemporaryDirectory() + "/lanyard-trust-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/it's mine.toml"
        try "group = \"g\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(chown(file, owner, group) == 0 && chmod(file, mode) == 0)
        return try Configuration.load(environment: ["LANYARD_CONFIG": file])
    }

    @Test(arguments: [0o600, 0o644, 0o755])
    func `a file of one's own is read`(mode: mode_t) throws {
        #expect(try Self.load(mode: mode).group == "g")
    }

    @Test(arguments: [0o602, 0o646, 0o666])
    func `a file that others may write to is refused`(mode: mode_t) throws {
        let error = try #require(throws: SettingsError.self) { try Self.load(mode: mode) }
        #expect(error.message == "other users can write to it, and could have commands run as you")
        #expect(error.command.prefix(2) == ["chmod", "go-w"] && error.command.last?.hasPrefix("/") == true)
        #expect(error.command.last?.hasSuffix("/it's mine.toml") == true)
    }

    @Test func `/dev/null stands for an empty file, and a folder for none`() throws {
        #expect(try Configuration.load(environment: ["LANYARD_CONFIG": "/dev/null"]).group != "g")
        let error = try #require(throws: SettingsError.self) {
            try Configuration.load(environment: ["LANYARD_CONFIG": "/"])
        }
        #expect(error.message == "is not a regular file")
    }
}

extension ConfigurationTrustTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        // root's group has root's name, and no other members.
        @Test(arguments: [(gid_t(0), true), (gid_t(65_534), false)])
        func `a group may write to it only if it is the user's own`(group: gid_t, isRead: Bool) throws {
            let read = try? ConfigurationTrustTests.load(mode: 0o664, group: group)
            #expect((read?.group == "g") == isRead)
        }

        @Test func `another user's file is refused, by root too`() throws {
            let error = try #require(throws: SettingsError.self) {
                try ConfigurationTrustTests.load(mode: 0o600, owner: 65_534)
            }
            #expect(error.message == "belongs to another user, who could have commands run as you")
            #expect(error.hint == "to use root's own file: sudo -H")
        }
    }
}
