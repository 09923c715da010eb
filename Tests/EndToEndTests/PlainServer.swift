import Foundation

/// A server on 127.0.0.1 without TLS.
enum PlainServer {
    /// Runs the body with the port of a server that answers everything with one text, or never answers.
    static func run<Result: Sendable>(
        answering answer: String?, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let listener = try Listener()
        defer { listener.close() }
        // A client that isn't accepted is connected anyway, and waits.
        if let answer {
            listener.serve { peer in
                if !peer.read().isEmpty { peer.write(Array(answer.utf8)) }
            }
        }
        return try await body(listener.port)
    }

    /// Runs the body with the port of a proxy that connects to any port of this computer (RFC 9110, 9.3.6), or to one only.
    static func tunnelling<Result: Sendable>(
        onlyTo allowed: UInt16? = nil, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let listener = try Listener()
        defer { listener.close() }
        listener.serve { peer in
            let head = String(decoding: peer.read(), as: UTF8.self)
            let target = head.split(separator: " ").dropFirst().first?.split(separator: ":").last
            guard let port = target.flatMap({ UInt16($0) }), port == allowed ?? port,
                let other = Peer(connectingTo: port)
            else { return peer.write(Array("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n".utf8)) }
            peer.write(Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
            Thread.detachNewThread { other.copy(to: peer) }
            peer.copy(to: other)
        }
        return try await body(listener.port)
    }
}

extension PlainServer {
    /// Runs the body with the port of a SOCKS proxy (RFC 1928) that connects to any port of this computer, whatever the
    /// host's name.
    static func socks<Result: Sendable>(_ body: (Int) async throws -> Result) async throws -> Result {
        let listener = try Listener()
        defer { listener.close() }
        listener.serve { peer in
            guard peer.read().first == 5 else { return }
            peer.write([5, 0])
            let request = peer.read()
            // A name, or an address of this machine.
            guard request.count > 6, request.starts(with: [5, 1, 0]),
                let other = Peer(
                    connectingTo: UInt16(request[request.count - 2]) << 8 | UInt16(request[request.count - 1]))
            else { return }
            peer.write([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
            Thread.detachNewThread { other.copy(to: peer) }
            peer.copy(to: other)
        }
        return try await body(listener.port)
    }
}

/// A listening socket.
private struct Listener {
    private let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = address.withSocketAddress { [descriptor] place in
            bind(descriptor, place, length) == 0 && listen(descriptor, 16) == 0
                && getsockname(descriptor, place, &length) == 0
        }
        guard isBound else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Serves one peer after another on a separate thread, until the listener is closed.
    func serve(_ body: @escaping @Sendable (Peer) -> Void) {
        Thread.detachNewThread { [descriptor] in
            while case let peer = accept(descriptor, nil, nil), peer >= 0 {
                Thread.detachNewThread {
                    let peer = Peer(descriptor: peer)
                    body(peer)
                    peer.close()
                }
            }
        }
    }

    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }
}

/// The other end of a connection.
private struct Peer: Sendable {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to a port of this computer; nil if nothing listens there.
    init?(connectingTo port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in(port: port)
        let isConnected = address.withSocketAddress { [descriptor] place in
            connect(descriptor, place, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
        guard isConnected else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// Reads the next bytes; empty at the end.
    func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return Array(buffer.prefix(max(count, 0)))
    }

    func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Forwards all bytes, then ends the other connection.
    func copy(to other: Peer) {
        while case let bytes = read(), !bytes.isEmpty { other.write(bytes) }
        shutdown(other.descriptor, Int32(SHUT_RDWR))
    }

    func close() { Glibc.close(descriptor) }
}

extension sockaddr_in {
    /// Creates the address of a port of this computer.
    fileprivate init(port: UInt16) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        sin_port = port.bigEndian
    }

    /// Calls the body with the address in the form that socket calls expect.
    fileprivate mutating func withSocketAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Bool) -> Bool {
        withUnsafeMutablePointer(to: &self) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
