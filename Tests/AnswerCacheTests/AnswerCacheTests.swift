import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import AnswerCache

/// A directory with one test's answers, with a separate key.
private final class Place {
    let scratch: ScratchDirectory
    let answers: AnswerCache
    private let key: String

    /// The time in all tests, in seconds since 1970.
    static let now = 1_800_000_000
    static let text = Array("password=s3cret\n".utf8)

    init(_ scratch: ScratchDirectory) {
        self.scratch = scratch
        key = "lanyard:test:\(scratch.path)"
        answers = Place.answers(scratch, key)
    }

    // The kernel limits the number of a user's keys.
    deinit { AnswerEncryptionKey.revoke(key) }

    /// Returns the answer cache for other variables.
    func answers(_ variables: [String: String]) -> AnswerCache { Place.answers(scratch, key, variables) }

    private static func answers(
        _ scratch: ScratchDirectory, _ key: String, _ variables: [String: String] = [:]
    ) -> AnswerCache {
        let bus = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(scratch.path)/bus"]
        let environment = scratch.environment.merging(bus) { $1 }.merging(variables) { $1 }
        return AnswerCache(environment: environment, keyDescription: key)
    }

    var name: AnswerCacheKey { answers.name(fields: ["https", "host.example", nil], files: []) }
    var folder: String { scratch.path + "/run/lanyard/answers" }
    var file: String { folder + "/" + name.file }
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    /// Stores an answer; returns false if this machine has no kernel keyring for its users.
    func keep(until: Int = now + 1000, now: Int = now) -> Bool {
        guard let key = answers.key() else { return false }
        answers.keep(Self.text, as: name, now: now, until: until, key: key)
        return true
    }

    func given(now: Int = now) -> [UInt8]? { answers.answer(name, now: now) }
}

@Suite struct SealedAnswerTests {
    private let key = AnswerEncryptionKey.random()
    private let name = AnswerCacheKey(fields: ["a"], files: [])

    private func sealed(until: Int = 2000) throws -> [UInt8] {
        try #require(SealedAnswer.seal(Place.text, as: name, at: 1000, until: until, key))
    }

    @Test func `what was sealed is opened with its key and name only`() throws {
        let answer = try #require(SealedAnswer(try sealed()))
        #expect(answer.opened(name, key) == Place.text)
        #expect(answer.opened(AnswerCacheKey(fields: ["b"], files: []), key) == nil)
        #expect(answer.opened(name, .random()) == nil)
        let file = String(decoding: try sealed(), as: UTF8.self)
        #expect(!file.contains("s3cret"))
    }

    @Test func `no byte can be changed, none left out, none added`() throws {
        let bytes = try sealed()
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(SealedAnswer(changed)?.opened(name, key) == nil, "byte \(index)")
            #expect(SealedAnswer(Array(bytes[..<index]))?.opened(name, key) == nil, "cut at \(index)")
        }
        #expect(SealedAnswer(bytes + [0])?.opened(name, key) == nil)
    }

    @Test(arguments: [(999, false), (1000, true), (1999, true), (2000, false)])
    func `an answer counts from when it was made until its end`(now: Int, counts: Bool) throws {
        let answer = try #require(SealedAnswer(try sealed()))
        #expect(answer.counts(at: now) == counts)
    }

    @Test func `times that no clock shows and answers of any length do no harm`() throws {
        var bytes = try sealed()
        for index in 8..<24 { bytes[index] = 0xFF }
        #expect(SealedAnswer(bytes) == nil)
        #expect(SealedAnswer.seal([], as: name, at: -1, until: 5, key) == nil)
        let long = [UInt8](repeating: 1, count: SealedAnswer.longest)
        #expect(SealedAnswer.seal(long, as: name, at: 1, until: 5, key) == nil)
    }
}

@Suite struct AnswerNameTests {
    @Test func `lists of fields that read alike have different names`() {
        let lists: [[String?]] = [[], [nil], [""], ["", ""], ["ab"], ["a", "b"], ["a", nil, "b"], ["b", "a"]]
        let names = lists.map { AnswerCacheKey(fields: $0, files: []).file }
        #expect(Set(names).count == lists.count)
        #expect(AnswerCacheKey(fields: ["/f"], files: []) != AnswerCacheKey(fields: [], files: ["/f"]))
    }

    @Test func `every change to a file is another name`() async throws {
        try await ScratchDirectory.with { scratch in
            let path = scratch.path + "/config.toml"
            func name() -> AnswerCacheKey { AnswerCacheKey(fields: [], files: [path]) }
            var names = [name()]
            _ = try scratch.write("one", to: "config.toml")
            names.append(name())
            #expect(name() == name())
            _ = try scratch.write("three", to: "config.toml")
            names.append(name())
            // The same length and the old time, as after a careful copy: the inode and the change time differ.
            var status = stat()
            stat(path, &status)
            _ = try scratch.write("seven", to: "new")
            let times = [status.st_atim, status.st_mtim]
            #expect(utimensat(AT_FDCWD, scratch.path + "/new", times, 0) == 0)
            #expect(rename(scratch.path + "/new", path) == 0)
            names.append(name())
            usleep(20_000)
            _ = try scratch.write("eight", to: "config.toml")
            #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
            names.append(name())
            #expect(unlink(path) == 0)
            #expect(name() == names[0])
            #expect(Set(names.map(\.file)).count == names.count)
        }
    }
}

@Suite struct AnswerCacheTests {
    @Test func `an answer is given again until its end, and then removed`() async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            guard place.keep() else { return #expect(place.given() == nil && place.files.isEmpty) }
            #expect(place.given() == Place.text)
            #expect(place.given(now: Place.now + 999) == Place.text)
            #expect(place.files == [place.name.file])
            #expect(place.given(now: Place.now + 1000) == nil)
            #expect(place.files.isEmpty)
        }
    }

    @Test func `a clock that was set back makes it absent`() async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            _ = place.keep()
            #expect(place.given(now: Place.now - 1) == nil)
            #expect(place.files.isEmpty)
        }
    }

    @Test(arguments: ["cut", "changed", "foreign", "long", "open to others", "link", "folder", "pipe"])
    func `what is no answer of ours is absent and removed`(_ how: String) async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            guard place.keep() else { return #expect(place.given() == nil) }
            var bytes = [UInt8](FileManager.default.contents(atPath: place.file) ?? Data())
            switch how {
            case "cut": bytes.removeLast()
            case "changed": bytes[40] ^= 1
            case "foreign": bytes = Array("hello".utf8)
            case "long": bytes += [UInt8](repeating: 0, count: SealedAnswer.longest)
            default: break
            }
            let elsewhere = try scratch.write("", to: "elsewhere")
            try Data(bytes).write(to: URL(filePath: elsewhere))
            #expect(chmod(elsewhere, how == "open to others" ? 0o640 : 0o600) == 0)
            switch how {
            case "link": #expect(unlink(place.file) == 0 && symlink(elsewhere, place.file) == 0)
            case "folder": #expect(unlink(place.file) == 0 && mkdir(place.file, 0o700) == 0)
            case "pipe": #expect(unlink(place.file) == 0 && mkfifo(place.file, 0o600) == 0)
            default: #expect(rename(elsewhere, place.file) == 0)
            }
            #expect(place.given() == nil)
            #expect(place.files.isEmpty)
            #expect(how != "link" || access(elsewhere, F_OK) == 0)
        }
    }

    @Test(arguments: ["lanyard", "answers"]) func `a folder that is a link is not used`(_ which: String) async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            let folder = which == "lanyard" ? scratch.path + "/run/lanyard" : place.folder
            if which == "answers" { #expect(mkdir(scratch.path + "/run/lanyard", 0o700) == 0) }
            #expect(symlink(scratch.path + "/home", folder) == 0)
            #expect(!place.keep())
            #expect(place.given() == nil)
            place.answers.forget()
            let elsewhere = try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/home")
            #expect(elsewhere.isEmpty)
        }
    }

    @Test func `a folder that others may enter is closed, and a runtime directory that they may write to is not used`()
        async throws
    {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            #expect(mkdir(scratch.path + "/run/lanyard", 0o755) == 0 && mkdir(place.folder, 0o777) == 0)
            #expect(chmod(place.folder, 0o777) == 0)
            _ = place.keep()
            var status = stat()
            #expect(stat(place.folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
            #expect(chmod(scratch.path + "/run", 0o770) == 0)
            #expect(!place.keep() && place.given() == nil)
        }
    }

    @Test(arguments: [nil, "", "run", "/does/not/exist"])
    func `without a runtime directory nothing is kept`(_ directory: String?) async throws {
        try await ScratchDirectory.with { scratch in
            let answers = Place(scratch).answers(["XDG_RUNTIME_DIR": directory ?? ""])
            #expect(answers.key() == nil)
            #expect(answers.answer(answers.name(fields: [], files: []), now: Place.now) == nil)
            answers.forget()
        }
    }

    @Test func `a change makes everything unreadable, put back or not`() async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            guard place.keep() else { return }
            let copy = FileManager.default.contents(atPath: place.file)
            place.answers.changing {
                #expect(place.given() == nil)
                // An answer that another process stores in the meantime may be outdated.
                _ = place.keep()
            }
            #expect(place.given() == nil && place.files.isEmpty)
            try copy?.write(to: URL(filePath: place.file))
            #expect(chmod(place.file, 0o600) == 0)
            #expect(place.given() == nil)
        }
    }

    @Test func `an answer that was under way while something changed is never given`() async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            guard let key = place.answers.key() else { return }
            place.answers.changing {}
            place.answers.keep(Place.text, as: place.name, now: Place.now, until: Place.now + 1000, key: key)
            #expect(place.files.count == 1)
            #expect(place.given() == nil)
            #expect(place.keep() && place.given() == Place.text)
        }
    }

    @Test func `another bus has other names, and a guid is no other bus`() async throws {
        try await ScratchDirectory.with { scratch in
            let bus = "unix:path=\(scratch.path)/bus"
            let place = Place(scratch)
            guard place.keep() else { return }
            #expect(place.answers(["DBUS_SESSION_BUS_ADDRESS": bus + ",guid=0123"]) == place.answers)
            let other = place.answers(["DBUS_SESSION_BUS_ADDRESS": bus + "2"])
            #expect(other.name(fields: ["one"], files: []) != place.answers.name(fields: ["one"], files: []))
            let implied = place.answers(["DBUS_SESSION_BUS_ADDRESS": ""])
            let usual = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(scratch.path)/run/bus"]
            #expect(implied == place.answers(usual))
        }
    }

    @Test func `what has ended or was never finished is swept away when another answer is kept`() async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            guard let key = place.answers.key() else { return }
            for number in 0..<3 {
                let name = place.answers.name(fields: [String(number)], files: [])
                place.answers.keep(Place.text, as: name, now: Place.now, until: Place.now + 100 * number, key: key)
            }
            try Data([1]).write(to: URL(filePath: place.folder + "/.draft"))
            try Data([1]).write(to: URL(filePath: place.folder + "/" + String(repeating: "0", count: 64) + ".sealed"))
            #expect(place.files.count == 4)
            #expect(place.keep(now: Place.now + 150))
            #expect(place.files.count == 2)
        }
    }

    @Test func `there are never more than so many`() async throws {
        try await ScratchDirectory.with { scratch in
            let place = Place(scratch)
            guard let key = place.answers.key() else { return }
            for number in 0..<AnswerCacheFolder.mostFiles + 3 {
                let name = place.answers.name(fields: [String(number)], files: [])
                place.answers.keep(Place.text, as: name, now: Place.now, until: Place.now + 100, key: key)
            }
            #expect(place.files.count == AnswerCacheFolder.mostFiles)
        }
    }
}
