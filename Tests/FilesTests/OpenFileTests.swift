import Files
import Glibc
import TestSupport
import Testing

/// Reading files up to a limit.
@Suite struct OpenFileTests {
    @Test(arguments: [(9, true), (10, true), (11, false), (5000, false)])
    func `a file is read up to its limit`(count: Int, isRead: Bool) async throws {
        try await ScratchDirectory.with { scratch in
            let path = try scratch.write(String(repeating: "x", count: count), to: "file")
            let file = try OpenFile(path)
            if isRead {
                #expect(try file.contents(atMost: 10).count == count)
            } else {
                #expect(throws: FileError.tooLong) { try file.contents(atMost: 10) }
            }
        }
    }

    @Test func `a pipe that nobody writes to is not waited for`() async throws {
        try await ScratchDirectory.with { scratch in
            #expect(mkfifo(scratch.path + "/pipe", 0o600) == 0)
            let file = try OpenFile(scratch.path + "/pipe")
            #expect(try !file.status().isRegular && file.contents(atMost: 10).isEmpty)
        }
    }

    @Test func `a device without end is read up to the limit, and one without contents is empty`() throws {
        #expect(throws: FileError.tooLong) { try OpenFile("/dev/zero").contents(atMost: 1000) }
        let file = try OpenFile("/dev/null")
        #expect(try file.status().isCharacterDevice && file.contents(atMost: 10).isEmpty)
    }

    @Test func `what comes through a pipe in pieces is read to its end, or to the limit`() throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let (source, sink) = (ends[0], ends[1])
        Task.detached {
            for number in UInt8(1)...3 {
                _ = withUnsafePointer(to: number) { write(sink, $0, 1) }
                usleep(2000)
            }
            close(sink)
        }
        #expect(try OpenFile.bytes(from: source, atMost: 2) == [1, 2])
        #expect(try OpenFile.bytes(from: source, atMost: 10) == [3])
    }

    @Test func `a file that another takes the place of is read as it was`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = try Folder(scratch.path)
            try folder.write([1, 1, 1], to: "file", isDurable: false)
            let file = try OpenFile(scratch.path + "/file")
            try folder.write([2], to: "file", isDurable: false)
            #expect(try file.contents(atMost: 10) == [1, 1, 1])
        }
    }

    @Test func `what isn't there is told apart from what can't be had`() async throws {
        try await ScratchDirectory.with { scratch in
            let path = try scratch.write("", to: "file")
            func problem(_ path: String) -> FileError? {
                do throws(FileError) {
                    _ = try OpenFile(path)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(problem(scratch.path + "/none")?.isMissing == true)
            #expect(problem(path + "/below")?.isMissing == true)
            #expect(symlink("loop", scratch.path + "/loop") == 0)
            let looped = try #require(problem(scratch.path + "/loop"))
            #expect(!looped.isMissing && !looped.lacksPermission)
            #expect(looped.reason == "Too many levels of symbolic links")
        }
    }

    @Test func `a program that is started gets no file`() async throws {
        try await ScratchDirectory.with { scratch in
            let file = try OpenFile(try scratch.write("", to: "file"))
            #expect(fcntl(file.descriptor, F_GETFD) & FD_CLOEXEC != 0)
            let lock = try Folder(scratch.path).openFile("lock")
            #expect(fcntl(lock.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }
}
