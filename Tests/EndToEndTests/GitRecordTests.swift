import Foundation
import TestSupport
import Testing

/// The changes of `configure git` to git's settings, and the record with which `unconfigure git` undoes exactly them.
@Suite struct GitRecordTests {
    private static let mine = "[user]\n\tname = Alice\n[credential]\n\thelper = cache --timeout 60\n"

    @Test func `it writes what a user would write`() async throws {
        try await Home.with { home in
            #expect(try await home.lanyard(["configure", "git", "--yes"]).status == 0)
            let wanted = """
                [credential]
                \thelper = lanyard
                [credential "https://dev.azure.com"]
                \tuseHttpPath = true

                """
            #expect(try home.text(home.gitFile) == wanted)
            let facts = try FileManager.default.attributesOfItem(atPath: home.recordFile)
            #expect(facts[.posixPermissions] as? Int == 0o600)
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: home.recordFile))
        }
    }

    @Test func `what the user wrote once more, or changed, is theirs`() async throws {
        try await Home.with { home in
            try await home.lanyard(["configure", "git", "--yes"])
            try await home.git(["config", "--global", "--add", "credential.helper", "lanyard"])
            try await home.git(["config", "--global", "credential.https://dev.azure.com.useHttpPath", "yes"])
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            let mine = ["credential.helper=lanyard", "credential.https://dev.azure.com.usehttppath=yes"]
            #expect(try await home.git(["config", "--global", "--list"]).lines == mine)
            // The record is gone: the settings now belong to the user, even if lanyard wrote the same ones before.
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).errors.contains("there is nothing that"))
            #expect(try await home.git(["config", "--global", "--list"]).lines == mine)
        }
    }

    @Test func `one host is taken back, and the others stay recorded`() async throws {
        try await Home.with { home in
            for host in ["one", "two"] {
                #expect(try await home.lanyard(["configure", "git", "--yes", "https://\(host).example"]).status == 0)
            }
            #expect(try await home.lanyard(["unconfigure", "git", "--yes", "https://one.example"]).status == 0)
            let left = try await home.git(["config", "--global", "--list"]).lines
            #expect(left == ["credential.https://two.example.helper=lanyard"])
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
        }
    }

    @Test func `several at once write it once`() async throws {
        try await Home.with { home in
            try home.write(Self.mine, to: home.gitFile)
            try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<6 { group.addTask { try await home.lanyard(["configure", "git", "--yes"]) } }
                for try await ended in group { #expect(ended.status == 0, "\(ended)") }
            }
            let helpers = try await home.git(["config", "--global", "--get-all", "credential.helper"]).lines
            #expect(helpers == ["cache --timeout 60", "lanyard"])
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try home.text(home.gitFile) == Self.mine)
        }
    }

    @Test(arguments: [("--add*helper", "lanyard"), ("--rename-section", "credential")])
    func `a lanyard that is killed while git writes leaves nothing without a record`(
        moment: String, section: String
    ) async throws {
        try await Home.with { home in
            try home.write(Self.mine, to: home.gitFile)
            try home.program(
                "git",
                #"/usr/bin/git "$@"; status=$?; case $* in *MOMENT*) kill -KILL $PPID ;; esac; exit $status"#
                    .replacingOccurrences(of: "MOMENT", with: moment))
            #expect(try await home.lanyard(["configure", "git", "--yes"]).status == -9)
            #expect(try home.text(home.gitFile) == Self.mine + "[\(section)]\n\thelper = lanyard\n")
            try FileManager.default.removeItem(atPath: home.folder + "/bin/git")
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try home.text(home.gitFile) == Self.mine)
        }
    }

    @Test func `what git refused to write is not recorded, so that the user's own stays`() async throws {
        try await Home.with { home in
            let mine = "[credential]\n\thelper = lanyard\n\thelper = store\n"
            try home.write(mine, to: home.gitFile)
            try home.write("", to: home.gitFile + ".lock")
            #expect(try await home.lanyard(["configure", "git", "--only", "--yes"]).status == 1)
            try FileManager.default.removeItem(atPath: home.gitFile + ".lock")
            let back = try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(back.errors.hasPrefix("lanyard: there is nothing that lanyard configure git wrote\n"), "\(back)")
            #expect(try home.text(home.gitFile) == mine)
        }
    }

    @Test func `what is taken back is looked for where it was written, whatever git goes by later`() async throws {
        try await Home.with { home in
            let other = ["GIT_CONFIG_GLOBAL": home.folder + "/home/other"]
            let configured = try await home.lanyard(["configure", "git", "--yes"], other)
            #expect(configured.status == 0, "\(configured)")
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: home.folder + "/home/other"))
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
        }
    }

    @Test(arguments: [
        ("{}", "is not the record that lanyard wrote"), ("not JSON", "is not the record that lanyard wrote"),
        (#"{"changes":[{"variable":"helper","value":"x"}]}"#, "is not the record that lanyard wrote"),
        // A later lanyard may have written this one.
        (#"{"changes":[{"place":"","variable":"editor","value":"x"}]}"#, "this version of lanyard doesn't know"),
    ])
    func `a record that this lanyard did not write is not gone by`(_ text: String, _ reason: String) async throws {
        try await Home.with { home in
            try home.write(text, to: home.recordFile)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: home.recordFile)
            for command in ["configure", "unconfigure"] {
                let ended = try await home.lanyard([command, "git", "--yes"])
                #expect(ended.status == 1 && ended.errors.contains(reason), "\(ended)")
            }
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: home.recordFile)
            let open = try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(open.status == 1 && open.errors.contains("other users can write to it"), "\(open)")
        }
    }

    @Test func `a record that can't be kept is a reason to write nothing`() async throws {
        try await Home.with { home in
            try home.write("", to: home.folder + "/home/.local/state")
            let ended = try await home.lanyard(["configure", "git", "--yes"])
            #expect(ended.status == 1 && ended.errors.contains("git-changes.json"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
        }
    }
}

extension Home {
    /// The record of the changes to git's settings.
    fileprivate var recordFile: String { folder + "/home/.local/state/lanyard/git-changes.json" }
}
