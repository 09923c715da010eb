import Foundation
import Glibc
import Synchronization

/// A TCP server on 127.0.0.1 with a thread for each connection, which does what the test wants by blocking calls.
///
/// However much it sends, it takes no memory.
final class RawServer: Sendable {
    /// A connection of a client.
    struct Connection {
        fileprivate let descriptor: CInt
        fileprivate let server: RawServer

        /// Sends bytes; returns false if the client is gone.
        @discardableResult func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Sends a text, again and again, until the client is gone.
        func flood(_ text: String) {
            let bytes = Array(String(repeating: text, count: max(1, 65_536 / text.utf8.count)).utf8)
            while send(bytes) {}
        }

        /// Receives what is there, at most so much, and has the server remember it; empty at the end.
        @discardableResult func receive(atMost most: Int = 65_536) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: most)
            let count = recv(descriptor, &bytes, most, 0)
            let got = Array(bytes.prefix(max(0, count)))
            server.state.withLock { $0.received += got }
            return got
        }

        /// Receives until the end of a head.
        @discardableResult func receiveHead() -> String {
            var text = ""
            while !text.contains("\r\n\r\n") {
                let bytes = receive()
                if bytes.isEmpty { break }
                text += String(decoding: bytes, as: UTF8.self)
            }
            return text
        }

        /// Waits until the client is gone.
        func wait() { while !receive().isEmpty {} }

        /// Passes everything on to a port of this machine, and back.
        func relay(to port: Int) {
            let other = RawServer.connect(to: port)
            defer { close(other) }
            let back = Thread { RawServer.copy(from: other, to: descriptor) }
            back.start()
            RawServer.copy(from: descriptor, to: other)
            while !back.isFinished { usleep(1_000) }
        }
    }

    private struct State {
        var open: Set<CInt> = []
        var isOver = false
        var connections = 0
        var received: [UInt8] = []
    }

    private let listener: CInt
    private let state = Mutex(State())
    let port: Int

    /// How many clients came.
    var connections: Int { state.withLock { $0.connections } }
    /// What they sent, as far as the test received it.
    var received: [UInt8] { state.withLock { $0.received } }
    /// The same as text.
    var text: String { String(decoding: received, as: UTF8.self) }

    /// Runs the body with a server.
    static func run(
        _ serve: @escaping @Sendable (Connection) -> Void, _ body: (RawServer) async throws -> Void
    ) async throws {
        let server = RawServer(serve)
        defer { server.stop() }
        try await body(server)
    }

    private init(_ serve: @escaping @Sendable (Connection) -> Void) {
        (listener, port) = Self.listen(backlog: 64)
        Thread.detachNewThread { self.accept(serve) }
    }

    private func accept(_ serve: @escaping @Sendable (Connection) -> Void) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let isOver = state.withLock {
                if !$0.isOver { $0.open.insert(descriptor) }
                $0.connections += 1
                return $0.isOver
            }
            if isOver {
                close(descriptor)
                break
            }
            Thread.detachNewThread {
                serve(Connection(descriptor: descriptor, server: self))
                self.state.withLock {
                    $0.open.remove(descriptor)
                    // Within the lock, so that nobody shuts down another's connection of the same number.
                    // A program that another test has just started may have it, too.
                    shutdown(descriptor, CInt(SHUT_RDWR))
                    close(descriptor)
                }
            }
        }
        close(listener)
    }

    private func stop() {
        state.withLock {
            $0.isOver = true
            for descriptor in $0.open { shutdown(descriptor, CInt(SHUT_RDWR)) }
        }
        shutdown(listener, CInt(SHUT_RDWR))
    }

    /// Listens on a free port.
    static func listen(backlog: CInt) -> (descriptor: CInt, port: Int) {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var (address, size) = (loopback(0), socklen_t(MemoryLayout<sockaddr_in>.size))
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                precondition(bind(descriptor, $0, size) == 0 && Glibc.listen(descriptor, backlog) == 0)
                getsockname(descriptor, $0, &size)
            }
        }
        return (descriptor, Int(in_port_t(bigEndian: address.sin_port)))
    }

    /// Connects to a port of this machine; with a flag such as SOCK_NONBLOCK's without waiting.
    static func connect(to port: Int, flag: UInt32 = 0) -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flag), 0)
        var address = loopback(port)
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }

    private static func copy(from one: CInt, to other: CInt) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(one, &bytes, bytes.count, 0)
            guard count > 0, send(other, bytes, count, CInt(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(other, CInt(SHUT_RDWR))
        shutdown(one, CInt(SHUT_RD))
    }
}
