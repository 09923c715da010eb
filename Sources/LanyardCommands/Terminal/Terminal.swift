import CredentialProtocol
import Glibc
import SystemPackage

/// The person's terminal, apart from stdin and stdout, which belong to the consumer.
struct Terminal: ~Copyable, Sendable {
    private let device: FileDescriptor

    /// Opens the controlling terminal; nil where there is none.
    init?() {
        guard let device = try? FileDescriptor.open("/dev/tty", .readWrite, options: .closeOnExec) else { return nil }
        self.device = device
    }

    deinit { try? device.close() }

    /// Whether this process has a controlling terminal.
    static var isThere: Bool {
        guard let terminal = Terminal() else { return false }
        _ = consume terminal
        return true
    }

    /// Asks for a line; nil at end of input or when the task is cancelled.
    func ask(_ question: String, echo: Bool) async -> String? {
        _ = try? device.writeAll(Array(question.utf8))
        let silenced = echo ? nil : EchoOff(device.rawValue)
        defer {
            if let silenced {
                silenced.restore()
                _ = try? device.writeAll([0x0A])
            }
        }
        return await readLine()
    }

    /// Ends a line on which nothing was typed.
    func endLine() {
        _ = try? device.writeAll([0x0A])
    }

    /// Reads a line, looking now and then whether the task still wants it.
    private func readLine() async -> String? {
        var line: [UInt8] = []
        while !Task.isCancelled {
            var poll = pollfd(fd: device.rawValue, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 0) > 0 else {
                try? await Task.sleep(for: .milliseconds(100))
                continue
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            guard let count = try? chunk.withUnsafeMutableBytes({ try device.read(into: $0) }), count > 0 else {
                return nil
            }
            line += chunk[..<count]
            guard line.last != 0x0A, line.count < AttributeParser.longestLine else { break }
        }
        guard !Task.isCancelled else { return nil }
        return String(decoding: line, as: UTF8.self).filter { !$0.isNewline }
    }
}

/// Echo turned off on a terminal, and what it was before.
private struct EchoOff {
    private let descriptor: Int32
    private let before: termios

    init?(_ descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        before = settings
        self.descriptor = descriptor
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }

    func restore() {
        var settings = before
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
