internal import Glibc
internal import Secrets

/// A remote client's connection to the agent: a request, possibly a process that answers it, and the reply.
struct Connection {
    let descriptor: CInt
    /// The name of its forward.
    let forwardName: String
    private(set) var state: State
    /// When it is closed, in milliseconds.
    private(set) var deadline: Int

    enum State {
        case reading(AttributeParser)
        case queued(ForwardedRequest)
        case working(Worker)
        case writing(ArraySlice<UInt8>)
    }

    /// The next step for the agent.
    enum Step {
        /// Do nothing.
        case goOn
        case end
        /// Answer this request.
        case request(Attributes)
        /// Send the process's reply.
        case reply(ForwardedReply)
    }

    init(_ descriptor: CInt, forwardName: String, now: Int) {
        self.descriptor = descriptor
        self.forwardName = forwardName
        state = .reading(AttributeParser(longestInput: ForwardedRequest.longest))
        deadline = now + Limit.transfer
    }

    var isQueued: Bool { if case .queued = state { true } else { false } }
    var isWorking: Bool { if case .working = state { true } else { false } }

    /// The descriptors to poll, always including the connection, because the other end may close it.
    var pollEntries: [pollfd] {
        switch state {
        case .reading, .queued: [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        case .writing: [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
        case .working(let worker): [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)] + worker.pollEntries
        }
    }

    mutating func handle(_ events: [Int16], now: Int) -> Step {
        let hasEvent = events[0] != 0
        switch state {
        case .reading(let parser): return hasEvent ? receive(parser) : late(now)
        // The other end may only close the connection, which withdraws the request.
        case .queued: return hasEvent ? .end : late(now)
        case .working(let worker):
            guard !hasEvent else { return .end }
            return step(worker, Array(events.dropFirst()), now)
        case .writing(let rest): return hasEvent ? send(rest) : late(now)
        }
    }

    private func late(_ now: Int) -> Step { now >= deadline ? .end : .goOn }

    private mutating func receive(_ parser: AttributeParser) -> Step {
        var parser = parser
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return .goOn }
        guard count > 0, let blocks = try? parser.consume(bytes[..<count]) else { return .end }
        state = .reading(parser)
        guard let block = blocks.first else { return .goOn }
        // A connection has only one request.
        return blocks.count == 1 && (try? parser.finish()) == .some(nil) ? .request(block) : .end
    }

    private mutating func step(_ worker: Worker, _ events: [Int16], _ now: Int) -> Step {
        var worker = worker
        let reply = worker.handle(events)
        state = .working(worker)
        if let reply { return .reply(reply) }
        return late(now)
    }

    private mutating func send(_ bytes: ArraySlice<UInt8>) -> Step {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? .goOn : .end }
        let rest = bytes.dropFirst(count)
        state = .writing(rest)
        return rest.isEmpty ? .end : .goOn
    }

    /// Queues the request until a process can be started for it.
    mutating func queue(_ request: ForwardedRequest, now: Int) {
        state = .queued(request)
        deadline = now + Limit.unattended
    }

    /// Starts waiting for a process's reply.
    mutating func work(_ worker: Worker, isUnattended: Bool, now: Int) {
        state = .working(worker)
        deadline = now + (isUnattended ? Limit.unattended : Limit.attended)
    }

    /// Starts sending a reply.
    mutating func reply(_ reply: ForwardedReply, now: Int) {
        state = .writing(reply.bytes[...])
        deadline = now + Limit.transfer
    }

    func hangUp() { close(descriptor) }
}
