import Foundation
import SettingsFile
import Terminal
import Testing

/// Atomic replacement of settings files.
@Suite struct SettingsTextTests {
    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "/lanyard-settings-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    /// Returns a file's owner and permissions.
    private static func facts(_ path: String) throws -> [Int] {
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        return [.ownerAccountID, .groupOwnerAccountID, .posixPermissions].map { facts[$0] as? Int ?? -1 }
    }

    /// Another user if the tests may change a file's owner, else the current one.
    private static let somebody = geteuid() == 0 ? (65534, 65534) : (Int(geteuid()), Int(getegid()))

    private static func give(_ path: String, mode: Int) throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: somebody.0, .groupOwnerAccountID: somebody.1, .posixPermissions: mode], ofItemAtPath: path
        )
    }

    @Test(arguments: [0o600, 0o640, 0o644])
    func `owner and permissions stay, through a link too`(mode: Int) async throws {
        try await Self.withFolder { folder in
            try "a = 1\n".write(toFile: folder + "/real.toml", atomically: true, encoding: .utf8)
            try Self.give(folder + "/real.toml", mode: mode)
            try FileManager.default.createSymbolicLink(atPath: folder + "/link.toml", withDestinationPath: "real.toml")
            try SettingsText(reading: folder + "/link.toml").replace(with: "a = 2\n")
            #expect(try Self.facts(folder + "/real.toml") == [Self.somebody.0, Self.somebody.1, mode])
            #expect(try String(contentsOfFile: folder + "/link.toml", encoding: .utf8) == "a = 2\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    @Test func `what is made in somebody's folder is theirs, and for nobody else`() async throws {
        try await Self.withFolder { folder in
            try Self.give(folder, mode: 0o755)
            try SettingsText(reading: folder + "/config/lanyard/config.toml").replace(with: "a = 1\n")
            for (path, mode) in [("config", 0o700), ("config/lanyard", 0o700), ("config/lanyard/config.toml", 0o600)] {
                #expect(try Self.facts("\(folder)/\(path)") == [Self.somebody.0, Self.somebody.1, mode], "\(path)")
            }
        }
    }

    @Test func `what is made for everybody is everybody's to read, and what is there stays as it is`() async throws {
        try await Self.withFolder { folder in
            let path = "\(folder)/etc/lanyard/config.toml"
            try SettingsText(reading: path).replace(with: "a = 1\n", for: .everybody)
            for (name, mode) in [("etc", 0o755), ("etc/lanyard", 0o755), ("etc/lanyard/config.toml", 0o644)] {
                #expect(try Self.facts("\(folder)/\(name)").last == mode, "\(name)")
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try SettingsText(reading: path).replace(with: "a = 2\n", for: .everybody)
            #expect(try Self.facts(path).last == 0o600)
        }
    }

    @Test func `a program is its owner's to run, whether or not it was before`() async throws {
        try await Self.withFolder { folder in
            let path = folder + "/program"
            for text in ["#!/bin/sh\n", "#!/bin/sh\nfalse\n"] {
                try SettingsText(reading: path).replace(with: text, for: .ownerToRun)
                #expect(try Self.facts(path).last == 0o700)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            }
        }
    }

    @Test func `what changed since it was read is not replaced, and no draft stays`() async throws {
        try await Self.withFolder { folder in
            let path = folder + "/config.toml"
            let read = try SettingsText(reading: path)
            try "b = 1\n".write(toFile: path, atomically: true, encoding: .utf8)
            let error = #expect(throws: SettingsError.self) { try read.replace(with: "a = 1\n") }
            #expect(error?.message == "changed while it was edited")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "b = 1\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["config.toml"])
        }
    }

    @Test func `of many that edit at once, none loses what another wrote`() async throws {
        try await Self.withFolder { folder in
            let path = folder + "/config.toml"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        for line in 0..<10 { try Self.append("\(writer).\(line)\n", to: path) }
                    }
                }
                try await group.waitForAll()
            }
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(Set(lines).count == 80)
        }
    }

    /// Adds a line, retrying while others change the file in the meantime.
    private static func append(_ line: String, to path: String) throws {
        while true {
            do throws(SettingsError) {
                let file = try SettingsText(reading: path)
                return try file.replace(with: (file.text ?? "") + line)
            } catch {
                guard error.message == "changed while it was edited" else { throw error }
            }
        }
    }
}
