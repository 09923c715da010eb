import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Keyring

/// The file of the accounts that the user selected.
@Suite struct SelectionFileTests {
    private static func account(_ name: String) throws -> SelectedAccount {
        try #require(SelectedAccount(homeAccountID: "\(name).utid", environment: "login.microsoftonline.com"))
    }

    /// Runs the body with a selection in a separate home.
    private static func withFile(
        _ body: (_ file: SelectionFile, _ folder: String) async throws -> Void
    ) async throws {
        try await ScratchDirectory.with { scratch in
            let file = try #require(SelectionFile(environment: ["HOME": scratch.path], isShared: false))
            try await body(file, scratch.path + "/.local/state/lanyard")
        }
    }

    @Test func `the last one chosen comes first, and only this user can read it`() async throws {
        try await Self.withFile { file, folder in
            #expect(file.read().isEmpty)
            let (alice, bob) = (try Self.account("alice"), try Self.account("bob"))
            for account in [alice, bob, alice] { try file.select(account) }
            #expect(file.read() == [alice, bob])
            try file.append(bob)
            try file.append(try Self.account("carol"))
            #expect(try file.read() == [alice, bob, Self.account("carol")])
            try file.remove { $0 == alice }
            #expect(file.read().first == bob)
            #expect(file.path == folder + "/selection")
            var status = stat()
            #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["selection"])
        }
    }

    @Test func `it holds at most a hundred and twenty-eight, each as long as it may be`() async throws {
        try await Self.withFile { file, _ in
            func longest(_ number: Int) throws -> SelectedAccount {
                let id = String(1000 + number) + String(repeating: "a", count: 508)
                let environment = String(repeating: "e", count: 256)
                let authority = "/" + String(repeating: "t", count: 519)
                return try #require(
                    SelectedAccount(homeAccountID: id, environment: environment, authority: authority))
            }
            for number in 0..<140 { try file.select(try longest(number)) }
            #expect(file.read().count == 128)
            #expect(try file.read().first == longest(139) && file.read().last == longest(12))
            try file.append(try longest(1))
            #expect(try file.read().count == 128 && file.read().last == longest(1))
        }
    }

    @Test func `an account has a place for each authority that it was chosen for`() async throws {
        try await Self.withFile { file, _ in
            func account(_ authority: String?) throws -> SelectedAccount {
                try #require(SelectedAccount(homeAccountID: "A.B", environment: "Login.example", authority: authority))
            }
            let all = [try account("/Contoso.example"), try account(nil), try account("/tenant/b2c_1_x")]
            for choice in all.reversed() { try file.select(choice) }
            #expect(file.read() == all)
            let text = try String(contentsOfFile: file.path, encoding: .utf8)
            #expect(
                text == """
                    a.b login.example /contoso.example
                    a.b login.example
                    a.b login.example /tenant/b2c_1_x

                    """)
            try file.select(try account("/contoso.example"))
            #expect(file.read() == all)
            #expect(SelectedAccount(homeAccountID: "a.b", environment: "e", authority: "contoso") == nil)
            #expect(SelectedAccount(homeAccountID: "a.b", environment: "e", authority: "/a b") == nil)
        }
    }

    @Test(arguments: [
        ("a.b login.example\nc.d login.example\n", 2), ("A.B LOGIN.example\na.b login.example\n", 1),
        ("a.b  login.example\n", 0), ("a.b\n\n\nlogin.example\nx.y login.example", 1),
        ("a.b login.example extra\n", 0), ("a.b login.example /contoso\na.b login.example\n", 2),
        ("a.b login.example /contoso more\n", 0), ("a.b login.example \n", 0),
        ("a.b login.example /\(String(repeating: "t", count: 520))\n", 0), ("a.b log\u{1B}in\n", 0),
        ("a.b löginn\n", 0),
        ("\(String(repeating: "a", count: 600)).b login.example\nc.d login.example\n", 1), ("", 0),
    ])
    func `a line that is none is passed over`(_ text: String, _ count: Int) async throws {
        try await Self.withFile { file, folder in
            try file.select(try Self.account("x"))
            try text.write(toFile: file.path, atomically: true, encoding: .utf8)
            chmod(file.path, 0o600)
            #expect(file.read().count == count)
        }
    }

    @Test(arguments: ["link", "open to others", "too long", "not text", "a pipe", "a folder"])
    func `what others may have written is not read, and is replaced whole`(_ what: String) async throws {
        try await Self.withFile { file, folder in
            let alice = try Self.account("alice")
            try file.select(alice)
            let kept = folder + "/kept"
            switch what {
            case "link":
                rename(file.path, kept)
                symlink(kept, file.path)
            case "open to others": chmod(file.path, 0o622)
            case "too long":
                try String(repeating: alice.line, count: 8000).write(
                    toFile: file.path, atomically: false, encoding: .utf8)
            case "not text": try Data([0xFF, 0xFE, 0x0A]).write(to: URL(fileURLWithPath: file.path))
            case "a pipe":
                unlink(file.path)
                mkfifo(file.path, 0o600)
            default:
                unlink(file.path)
                mkdir(file.path, 0o700)
            }
            #expect(file.read().isEmpty)
            let bob = try Self.account("bob")
            guard what != "a folder" else {
                #expect(throws: FileError.self) { try file.select(bob) }
                return
            }
            try file.select(bob)
            #expect(file.read() == [bob])
            if what == "link" { #expect(try String(contentsOfFile: kept, encoding: .utf8) == alice.line) }
        }
    }

    @Test func `a folder that others may write to is not used`() async throws {
        try await Self.withFile { file, folder in
            try file.select(try Self.account("alice"))
            chmod(folder, 0o777)
            #expect(file.read().isEmpty)
            let error = #expect(throws: FileError.self) {
                try file.select(try Self.account("bob"))
            }
            #expect(file.folder == folder && error?.reason == "other users can write to it")
        }
    }

    @Test func `to take out what was never kept makes nothing`() async throws {
        try await Self.withFile { file, folder in
            try file.remove { _ in true }
            #expect(access(folder, F_OK) != 0)
        }
    }

    @Test func `many at once lose nothing`() async throws {
        try await Self.withFile { file, _ in
            try await withThrowingTaskGroup { group in
                for number in 0..<24 { group.addTask { try file.append(try Self.account("a\(number)")) } }
                try await group.waitForAll()
            }
            #expect(file.read().count == 24)
        }
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/s", "HOME": "/h"], false, "/s/lanyard/selection"),
        (["XDG_STATE_HOME": "s", "HOME": "/h"], false, "/h/.local/state/lanyard/selection"),
        (["HOME": "/h", "XDG_RUNTIME_DIR": "/r"], true, "/r/lanyard/selection"), (["HOME": "/h"], true, nil),
        ([:], false, nil),
    ])
    func `where it is`(_ environment: [String: String], _ isShared: Bool, _ path: String?) {
        #expect(SelectionFile(environment: environment, isShared: isShared)?.path == path)
    }
}

extension SelectionFileTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        @Test func `what is somebody else's is not read, and is replaced`() async throws {
            try await SelectionFileTests.withFile { file, _ in
                try file.select(try SelectionFileTests.account("alice"))
                #expect(chown(file.path, 65_534, 65_534) == 0 && file.read().isEmpty)
                let bob = try SelectionFileTests.account("bob")
                try file.select(bob)
                #expect(file.read() == [bob])
            }
        }
    }
}
