import Addresses
import Foundation
import Glibc
import Secrets
import TestSupport
import Testing

@testable import Keyring
@testable import SealedKeyring

/// A sealed keyring in a throwaway home, with the user's real kernel keyring.
struct SealedFixture {
    let scratch: ScratchDirectory
    let keyring: SealedKeyring

    static func with(
        _ protector: Protector? = .session, machine: String = "a", _ body: (SealedFixture) async throws -> Void
    ) async throws {
        try await ScratchDirectory.with { scratch in
            let fixture = SealedFixture(scratch: scratch, keyring: made(scratch, machine))
            if let protector { try fixture.keyring.create(protector) }
            // The kernel limits the number of a user's keys.
            defer { try? fixture.keyring.lock() }
            try await body(fixture)
        }
    }

    static func made(
        _ scratch: ScratchDirectory, _ machine: String = "a", socket: String = "/nonexistent"
    ) -> SealedKeyring {
        SealedKeyring(
            environment: scratch.environment.merging(["XDG_STATE_HOME": scratch.path + "/state"]) { $1 },
            machine: machine, credentials: SystemdCredentials(socket: socket), runtimeFolder: scratch.path + "/run")
    }

    var folder: String { keyring.path ?? "" }

    /// The names of the items' files.
    var files: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/items")) ?? []
        return names.sorted()
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))) }
    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    /// Runs an operation with the keyring.
    func run<Result>(
        _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try keyring.run(KeyringConfiguration(keyring, group: "test"), body)
    }

    func store(_ name: String, _ secret: String) throws(KeyringError) {
        try run { session throws(KeyringError) in
            try session.openForStoring()
            try session.store(
                ["xdg:schema": "test", "name": name], label: "label", secret: Array(secret.utf8),
                contentType: "text/plain")
        }
    }

    /// Returns the secrets of the items with at least these attributes.
    func secrets(_ attributes: [String: String] = ["xdg:schema": "test"]) throws(KeyringError) -> [String] {
        try run { session throws(KeyringError) in
            try session.secrets(of: session.search(attributes).unlocked).values.map {
                String(decoding: $0, as: UTF8.self)
            }
            .sorted()
        }
    }
}

/// The reason of a keyring's error; nil if there was none.
private func reason(_ body: () throws -> Void) -> KeyringError.Reason? {
    do { try body() } catch { return (error as? KeyringError)?.reason }
    return nil
}

@Suite struct SealedKeyringTests {
    @Test(arguments: [Protector.session, .passphrase(Secret("p"))])
    func `nobody has the key after the last logout, although the kernel does`(protector: Protector) async throws {
        try await SealedFixture.with(protector) { fixture in
            try fixture.store("a", "one")
            #expect(try SealedFixture.made(fixture.scratch).state().items == 1)
            // What systemd does.
            try FileManager.default.removeItem(atPath: fixture.scratch.path + "/run/lanyard")
            guard protector.kind == .session else {
                #expect(reason { _ = try fixture.secrets() } == .locked)
                try fixture.keyring.unlock(Secret("p"))
                return #expect(try fixture.secrets() == ["one"])
            }
            #expect(try fixture.secrets() == [])
            try fixture.store("b", "two")
            #expect(try fixture.secrets() == ["two"])
        }
    }

    @Test func `items are found by what they have, replaced, and deleted`() async throws {
        try await SealedFixture.with { fixture in
            try fixture.store("a", "one")
            try fixture.store("b", "two")
            try fixture.store("a", "three")
            #expect(try fixture.secrets() == ["three", "two"])
            #expect(try fixture.secrets(["name": "b"]) == ["two"])
            #expect(try fixture.secrets(["name": "c"]) == [])
            try fixture.run { session throws(KeyringError) in
                let items = try session.items(at: session.search(["name": "a"]).unlocked, areLocked: false)
                #expect(items.map(\.attributes) == [["xdg:schema": "test", "name": "a"]])
                #expect(try session.label(of: items[0]) == "label")
                #expect(try session.modified(items[0]) > 1_700_000_000)
                try session.replaceSecret(of: items[0], with: Array("four".utf8), contentType: "text/plain")
                #expect(try session.secrets(of: [items[0].path]).values.first == Array("four".utf8))
                try session.delete(items[0])
                try session.delete(items[0])
                #expect(try session.items(at: [items[0].path], areLocked: false).isEmpty)
            }
            #expect(try fixture.secrets() == ["two"])
            #expect(try fixture.keyring.state().items == 1)
        }
    }

    @Test func `an item that replaces another one takes its place`() async throws {
        try await SealedFixture.with { fixture in
            func create(_ attributes: [String: String], replacing: Bool) throws {
                try fixture.run { session throws(KeyringError) in
                    try session.create(
                        attributes, label: "", secret: Array("s\(attributes.count)".utf8), contentType: "",
                        replacing: replacing)
                }
            }
            try create(["a": "1", "b": "2"], replacing: true)
            try create(["a": "1"], replacing: false)
            #expect(try fixture.secrets([:]) == ["s1", "s2"])
            try create(["b": "2"], replacing: true)
            #expect(try fixture.secrets([:]) == ["s1", "s1"])
        }
    }

    @Test func `files show neither names nor contents`() async throws {
        try await SealedFixture.with(.passphrase(Secret("correct horse battery"))) { fixture in
            try fixture.store("host.example", "hunter2")
            let path = fixture.folder
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                guard let text = try? fixture.bytes(name) else { continue }
                for word in ["host.example", "hunter2", "label", "test", "correct"] {
                    #expect(String(decoding: text, as: UTF8.self).range(of: word) == nil, "\(name)")
                }
            }
            #expect(try fixture.bytes("items/\(fixture.files[0])").count == 24 + 12 + 256 + 16)
        }
    }

    @Test func `every byte changed is noticed, and the file is kept`() async throws {
        try await SealedFixture.with { fixture in
            try fixture.store("a", "one")
            try fixture.store("b", "two")
            let name = fixture.files[0]
            let original = try fixture.bytes("items/\(name)")
            for place in original.indices {
                var changed = original
                changed[place] ^= 1
                try fixture.write(changed, to: "items/\(name)")
                // The byte of the version.
                if place == 7 {
                    #expect(reason { _ = try fixture.secrets() } == .broken)
                } else {
                    #expect(try fixture.secrets().count == 1, "byte \(place)")
                }
            }
            for length in [0, 5, 20, 40, original.count - 1] {
                try fixture.write(Array(original.prefix(length)), to: "items/\(name)")
                #expect(try fixture.secrets().count == 1)
            }
            #expect(try fixture.keyring.state().unopened.map(\.name) == [name])
            // Both are stored again; what couldn't be opened stays.
            try fixture.store("a", "three")
            try fixture.store("b", "four")
            #expect(try fixture.secrets() == ["four", "three"])
            #expect(fixture.files.count { $0.hasSuffix(".unopened") } == 1)
            #expect(try fixture.keyring.state().unopened.count == 1)
        }
    }

    @Test func `files that trade places are noticed`() async throws {
        try await SealedFixture.with { fixture in
            try fixture.store("a", "one")
            try fixture.store("b", "two")
            let (first, second) = (
                try fixture.bytes("items/\(fixture.files[0])"), try fixture.bytes("items/\(fixture.files[1])")
            )
            try fixture.write(second, to: "items/\(fixture.files[0])")
            #expect(try fixture.secrets().count == 1)
            try fixture.write(first, to: "items/\(fixture.files[1])")
            #expect(try fixture.secrets().isEmpty)
            #expect(try fixture.keyring.state().unopened.map(\.reason) == ["is damaged", "is damaged"])
            try await SealedFixture.with(machine: "b") { other in
                try other.store("a", "theirs")
                try other.write(first, to: "items/\(other.files[0])")
                #expect(try other.secrets().isEmpty)
                #expect(try other.keyring.state().unopened.map(\.reason) == ["belongs to another keyring"])
            }
        }
    }

    @Test func `what a later version wrote is never replaced`() async throws {
        try await SealedFixture.with { fixture in
            try fixture.store("a", "one")
            let name = "items/\(fixture.files[0])"
            var bytes = try fixture.bytes(name)
            bytes[7] = 2
            try fixture.write(bytes, to: name)
            #expect(reason { try fixture.store("a", "two") } == .broken)
            #expect(try fixture.bytes(name) == bytes)
            var header = try fixture.bytes("keyring")
            header[7] = 2
            try fixture.write(header, to: "keyring")
            #expect(reason { try fixture.store("b", "two") } == .broken)
            #expect(reason { try fixture.keyring.create(.session) } == .broken)
            #expect(fixture.files.count == 1)
        }
    }

    @Test func `a damaged, missing or outdated index is made anew`() async throws {
        try await SealedFixture.with { fixture in
            try fixture.store("a", "one")
            let old = try fixture.bytes("index")
            try fixture.store("b", "two")
            for index in [old, [], Array("nonsense".utf8)] {
                try fixture.write(index, to: "index")
                #expect(try fixture.secrets() == ["one", "two"])
            }
            unlink("\(fixture.folder)/index")
            #expect(try fixture.secrets() == ["one", "two"])
            // Somebody else removed an item.
            unlink("\(fixture.folder)/items/\(fixture.files[0])")
            #expect(try fixture.secrets().count == 1)
            // A copy of a program that synchronises isn't an item.
            try fixture.write(try fixture.bytes("items/\(fixture.files[0])"), to: "items/x (conflicted copy)")
            #expect(try fixture.secrets().count == 1)
        }
    }

    @Test func `an index finds what has all marks`() {
        var index = ItemIndex()
        let names = (0..<100).map { [UInt8](repeating: UInt8($0), count: 16).hexadecimal }
        for (number, name) in names.enumerated() { index.add(name, [UInt64(number % 10), 100 + UInt64(number % 3)]) }
        index.add(names[0], [7])
        #expect(index.names == names)
        #expect(index.names(with: [4, 101]) == names.enumerated().filter { $0.0 % 10 == 4 && $0.0 % 3 == 1 }.map(\.1))
        index.remove(names[4])
        #expect(!index.names.contains(names[4]) && index.names.count == 99)
        #expect(ItemIndex(index.encoded) == index)
        for length in 0..<index.encoded.count where length != 8 && (length - 8) % 33 != 0 {
            #expect(ItemIndex(Array(index.encoded.prefix(length))) == nil, "\(length)")
        }
    }
}

@Suite struct ProtectorTests {
    @Test func `a passphrase opens the keyring until it is locked`() async throws {
        try await SealedFixture.with(.passphrase(Secret("correct horse"))) { fixture in
            try fixture.store("a", "one")
            try fixture.keyring.lock()
            #expect(reason { _ = try fixture.secrets() } == .locked)
            #expect(reason { try fixture.store("b", "two") } == .locked)
            #expect(reason { try fixture.keyring.unlock(Secret("correct hors")) } == .denied)
            #expect(try fixture.keyring.state().problem?.reason == .locked)
            try fixture.keyring.unlock(Secret("correct horse"))
            #expect(try fixture.secrets() == ["one"])
            #expect(throws: KeyringError.self) { try fixture.keyring.create(.session) }
        }
    }

    @Test func `protectors come and go without touching items`() async throws {
        try await SealedFixture.with(.session) { fixture in
            try fixture.store("a", "one")
            let files = fixture.files
            try fixture.keyring.protect(.passphrase(Secret("p")))
            try fixture.keyring.protect(.command(wrap: ["cat"], unwrap: ["cat"]))
            #expect(try fixture.keyring.state().protectors == [.passphrase, .command, .session])
            try fixture.keyring.unprotect(.session)
            try fixture.keyring.lock()
            // The command needs nobody.
            #expect(try fixture.secrets() == ["one"])
            try fixture.keyring.unprotect(.command)
            #expect(reason { try fixture.keyring.unprotect(.passphrase) } == .forbidden)
            try fixture.keyring.lock()
            #expect(reason { _ = try fixture.secrets() } == .locked)
            #expect(reason { try fixture.keyring.protect(.session) } == .locked)
            #expect(fixture.files == files)
        }
    }

    @Test func `a session that ended leaves an empty keyring`() async throws {
        try await SealedFixture.with(.session) { fixture in
            try fixture.store("a", "one")
            try fixture.keyring.lock()
            #expect(try fixture.secrets() == [])
            #expect(try fixture.keyring.state().isLost)
            try fixture.store("b", "two")
            #expect(try fixture.secrets() == ["two"])
            #expect(fixture.files.count == 1)
        }
    }

    @Test func `a command that fails, hangs or lies makes no slot`() async throws {
        try await SealedFixture.with(nil) { fixture in
            for (wrap, unwrap) in [
                (["false"], ["cat"]), (["cat"], ["false"]), (["cat"], ["echo", "x"]), (["/nonexistent"], ["cat"]),
                (["cat"], ["yes"]), (["sh", "-c", "kill -9 $$"], ["cat"]),
                // What these run would depend on the working directory.
                (["./cat"], ["cat"]), (["cat"], ["../../bin/cat"]), (["cat"], ["sh", "-c", "test $PWD != / && cat"]),
            ] {
                #expect(
                    reason { try fixture.keyring.create(.command(wrap: wrap, unwrap: unwrap)) } == .sealedElsewhere,
                    "\(wrap) \(unwrap)")
                #expect(!fixture.keyring.exists)
            }
            let start = ContinuousClock.now
            #expect(throws: KeyringError.self) { try WrappingCommand(["sleep", "30"], seconds: 0.3).run([]) }
            #expect(ContinuousClock.now - start < .seconds(10))
        }
    }

    @Test func `gpg keeps the key, and without its own nothing is lost`() async throws {
        try await SealedFixture.with(nil) { fixture in
            let home = fixture.scratch.path + "/gnupg"
            mkdir(home, 0o700)
            let gpg = ["gpg", "--homedir", home, "--batch", "--quiet"]
            let made = try await run(
                "/usr/bin/gpg",
                gpg.dropFirst() + ["--passphrase", "", "--quick-gen-key", "me@example.org", "default", "default"],
                environment: fixture.scratch.environment)
            try #require(made.status == 0, "\(made)")
            try fixture.keyring.create(
                .command(
                    wrap: gpg + ["--trust-model", "always", "--recipient", "me@example.org", "--encrypt"],
                    unwrap: gpg + ["--decrypt"]))
            try fixture.store("a", "one")
            try fixture.keyring.lock()
            #expect(try fixture.secrets() == ["one"])
            try fixture.keyring.lock()
            rename(home, home + "2")
            #expect(reason { _ = try fixture.secrets() } == .sealedElsewhere)
            rename(home + "2", home)
            #expect(try fixture.secrets() == ["one"])
            _ = try await run(
                "/usr/bin/gpgconf", ["--homedir", home, "--kill", "all"], environment: fixture.scratch.environment)
        }
    }

    @Test(.enabled(if: access("/usr/bin/age", X_OK) == 0, "there is no age"))
    func `age keeps the key`() async throws {
        try await SealedFixture.with(nil) { fixture in
            let identity = fixture.scratch.path + "/key.txt"
            let made = try await run("/usr/bin/age-keygen", ["-o", identity], environment: fixture.scratch.environment)
            try #require(made.status == 0, "\(made)")
            try fixture.keyring.create(
                .command(
                    wrap: ["age", "--encrypt", "--identity", identity],
                    unwrap: ["age", "--decrypt", "--identity", identity]))
            try fixture.store("a", "one")
            try fixture.keyring.lock()
            #expect(try fixture.secrets() == ["one"])
        }
    }

    @Test func `slots of other versions, with costly numbers or of other keyrings are not used`() async throws {
        try await SealedFixture.with(.passphrase(Secret("p"))) { fixture in
            let text = String(decoding: try fixture.bytes("slot.passphrase"), as: UTF8.self)
            for (from, to) in [
                ("131072", "2097152"), ("131072", "131073"), ("131072", "1024"),
                ("\"block-size\" : 8", "\"block-size\" : 32"),
                ("\"lanyard\" : 1", "\"lanyard\" : 2"),
            ] {
                let changed = text.replacing(from, with: to)
                try #require(changed != text, "\(from)")
                try fixture.write(Array(changed.utf8), to: "slot.passphrase")
                #expect(reason { try fixture.keyring.unlock(Secret("p")) } == .broken, "\(to)")
            }
            try fixture.write(Array(text.utf8), to: "slot.passphrase")
            try fixture.keyring.unlock(Secret("p"))
            try await SealedFixture.with(.passphrase(Secret("p")), machine: "b") { other in
                try fixture.write(try other.bytes("slot.passphrase"), to: "slot.passphrase")
                #expect(reason { try fixture.keyring.unlock(Secret("p")) } == .forbidden)
            }
        }
    }

    @Test func `each machine has its own keyring in a shared home`() async throws {
        try await SealedFixture.with(.session, machine: "a") { fixture in
            try fixture.store("a", "one")
            let other = SealedFixture(scratch: fixture.scratch, keyring: SealedFixture.made(fixture.scratch, "b"))
            #expect(reason { _ = try other.secrets() } == .notCreated)
            #expect(other.keyring.ofOtherMachines == 1)
            try other.keyring.create(.session)
            try other.store("b", "two")
            #expect(try other.secrets() == ["two"] && fixture.secrets() == ["one"])
            try other.keyring.delete()
            #expect(!other.keyring.exists)
            #expect(try fixture.secrets() == ["one"])
        }
    }
}
