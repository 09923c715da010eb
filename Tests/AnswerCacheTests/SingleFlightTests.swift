import Files
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import AnswerCache

@Suite struct SingleFlightTests {
    @Test func `processes and their tasks take turns`() async throws {
        try await ScratchDirectory.with { scratch in
            let file = try scratch.write("0", to: "counter")
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        let result = try await count(in: scratch, file)
                        #expect(result.status == 0, "\(result.output)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(text(of: file) == "20")
        }
    }

    @Test func `tasks of one process take turns`() async throws {
        try await ScratchDirectory.with { scratch in
            let flight = SingleFlight(in: [scratch.path + "/run/lanyard"])
            let counter = Counter()
            try await withThrowingTaskGroup { group in
                for _ in 0..<30 {
                    group.addTask { try await flight.withLock(key: "k", deadline: 20) { try await counter.step() } }
                }
                try await group.waitForAll()
            }
            #expect(await counter.mostAtOnce == 1)
        }
    }

    @Test func `whoever waits for long is told once, and of whom`() async throws {
        try await ScratchDirectory.with { scratch in
            let flight = SingleFlight(in: [scratch.path + "/run/lanyard"])
            var holders: [Int32?] = []
            try await flight.withLock(key: "k", deadline: 1) {
                await #expect(throws: FileError.locked) {
                    try await flight.withLock(key: "k", deadline: 1.3, waiting: { holders.append($0) }) {}
                }
                await #expect(throws: FileError.locked) {
                    try await flight.withLock(key: "k", deadline: 0.2, waiting: { holders.append($0) }) {}
                }
            }
            #expect(holders == [getpid()])
            try await flight.withLock(key: "k", deadline: 1, waiting: { holders.append($0) }) {}
            #expect(holders.count == 1)
        }
    }

    @Test func `a killed holder leaves no lock behind`() async throws {
        try await ScratchDirectory.with { scratch in
            let file = try scratch.write("0", to: "counter")
            let killed = try await count(in: scratch, file, ["--die", "yes"])
            #expect(killed.status == -9)
            let next = try await count(in: scratch, file, ["--deadline", "0.1"])
            #expect(next.status == 0)
            #expect(text(of: file) == "1")
        }
    }

    @Test func `waiting ends at the deadline`() async throws {
        try await ScratchDirectory.with { scratch in
            let flight = SingleFlight(in: [scratch.path + "/run/lanyard"])
            try await flight.withLock(key: "k", deadline: 1) {
                await #expect(throws: FileError.locked) {
                    try await flight.withLock(key: "k", deadline: 0.1) {}
                }
                try await flight.withLock(key: "another", deadline: 0.1) {}
            }
        }
    }

    @Test func `a directory that others can write to is closed to them`() async throws {
        try await ScratchDirectory.with { scratch in
            let directory = scratch.path + "/run/lanyard"
            #expect(mkdir(directory, 0o700) == 0 && chmod(directory, 0o777) == 0)
            try await SingleFlight(in: [scratch.path + "/run/lanyard"]).withLock(
                key: "k", deadline: 1
            ) {}
            var status = stat()
            #expect(stat(directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
        }
    }

    @Test(arguments: ["directory", "file"]) func `links are not followed`(_ what: String) async throws {
        try await ScratchDirectory.with { scratch in
            let flight = SingleFlight(in: [scratch.path + "/run/lanyard"])
            let directory = try #require(flight.directories.first)
            let elsewhere = scratch.path + "/home"
            if what == "directory" {
                try FileManager.default.createSymbolicLink(atPath: directory, withDestinationPath: elsewhere)
            } else {
                try await flight.withLock(key: "k", deadline: 1) {}
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                let lock = directory + "/" + (names.first ?? "")
                try FileManager.default.removeItem(atPath: lock)
                try FileManager.default.createSymbolicLink(
                    atPath: lock, withDestinationPath: elsewhere + "/target")
            }
            await #expect(throws: FileError.self) { try await flight.withLock(key: "k", deadline: 1) {} }
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        }
    }

    @Test func `the name of a lock file does not tell its key`() async throws {
        try await ScratchDirectory.with { scratch in
            let flight = SingleFlight(in: [scratch.path + "/run/lanyard"])
            try await flight.withLock(key: "alice@contoso.example/../x", deadline: 1) {}
            let names = try FileManager.default.contentsOfDirectory(atPath: try #require(flight.directories.first))
            #expect(names.count == 1)
            #expect(names.allSatisfy { $0.hasSuffix(".lock") && !$0.contains("alice") && $0.count == 69 })
        }
    }

    @Test(arguments: [nil, "", "relative", "/does/not/exist", "/tmp"])
    func `whatever XDG_RUNTIME_DIR says, the lock is in the same place`(_ runtime: String?) async throws {
        try await ScratchDirectory.with { scratch in
            var environment = [
                "HOME": scratch.path + "/home", "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(scratch.path)/bus",
            ]
            let usual = SingleFlight(environment: environment)
            environment["XDG_RUNTIME_DIR"] = runtime
            environment["XDG_CACHE_HOME"] = scratch.path + "/cache"
            let flight = SingleFlight(environment: environment)
            #expect(flight.directories.first == usual.directories.first)
            let folder = ScratchDirectory.systemsRuntimeFolder ?? scratch.path + "/home/.cache"
            #expect(flight.directories.first == folder + "/lanyard")
            try await flight.withLock(key: "k", deadline: 1) {
                await #expect(throws: FileError.locked) {
                    try await usual.withLock(key: "k", deadline: 0.1) {}
                }
                #expect(throws: FileError.locked) { try usual.withLock(key: "k", blockingFor: 0.1) {} }
            }
        }
    }

    @Test func `a bus is the same one however it is written, and another bus has other locks`() async throws {
        try await ScratchDirectory.with { scratch in
            let socket = try scratch.write("", to: "bus")
            let other = try scratch.write("", to: "other")
            func flight(_ address: String, _ runtime: String? = nil) -> SingleFlight {
                var environment = ["HOME": scratch.path + "/home", "DBUS_SESSION_BUS_ADDRESS": address]
                environment["XDG_RUNTIME_DIR"] = runtime
                return SingleFlight(environment: environment)
            }
            try await flight("unix:path=\(socket)").withLock(key: "k", deadline: 1) {
                let same = [
                    flight("unix:path=\(socket),guid=12"), flight("unix:guid=12,path=\(scratch.path)/./bus"),
                    flight("unix:path=\(socket);unix:path=\(other)"), flight("", scratch.path),
                ]
                for flight in same {
                    await #expect(throws: FileError.locked) {
                        try await flight.withLock(key: "k", deadline: 0.1) {}
                    }
                }
                try await flight("unix:path=\(other)").withLock(key: "k", deadline: 1) {}
            }
        }
    }

    @Test(arguments: ["file", "link"])
    func `what stands in the place of the folder sends the lock to the cache`(_ what: String) async throws {
        try await ScratchDirectory.with { scratch in
            let place = scratch.path + "/run/lanyard"
            if what == "file" {
                _ = FileManager.default.createFile(atPath: place, contents: Data())
            } else {
                try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "/tmp")
            }
            let flight = SingleFlight(in: [scratch.path + "/run/lanyard", scratch.path + "/home/.cache/lanyard"])
            try flight.withLock(key: "k", blockingFor: 1) {}
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/home/.cache/lanyard")
            #expect(names.count == 1)
        }
    }

    @Test func `without any folder there is no lock`() {
        #expect(throws: FileError.missing) {
            try SingleFlight(in: []).withLock(key: "k", blockingFor: 1) {}
        }
    }

    private func count(
        in scratch: ScratchDirectory, _ file: String, _ options: [String] = []
    ) async throws -> Ended {
        try await TestSupport.run(
            Built.storeProbe, ["--file", file, "--key", "k"] + options + ["count"],
            environment: scratch.environment)
    }

    private func text(of file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    }
}

/// Counts the concurrent visitors of one place.
private actor Counter {
    private var current = 0
    private(set) var mostAtOnce = 0

    func step() async throws {
        current += 1
        mostAtOnce = max(mostAtOnce, current)
        try await Task.sleep(for: .milliseconds(2))
        current -= 1
    }
}
