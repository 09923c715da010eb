import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Something that is to go wrong with requests whose path contains a text.
struct Fault: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case path, status, body, delay, hold, headers, times, close, truncate, issuer, nonce, state
        case contentType = "content_type"
    }

    var path: String
    var status: Int?
    var body: String?
    var contentType: String?
    var delay: Double?
    /// The request is kept waiting until the faults are cleared.
    var hold: Bool?
    var headers: [String: String]?
    /// How often it happens; without, until the faults are cleared.
    var times: Int?
    /// The connection is closed without an answer.
    var close: Bool?
    /// The answer breaks off half-way.
    var truncate: Bool?
    var issuer: String?
    var nonce: String?
    var state: String?

    /// Whether it changes what an answer says, not how it gets there.
    var isForgery: Bool { issuer != nil || nonce != nil || state != nil }
}

/// The faults that were asked for and are still to happen.
final class Faults: Sendable {
    private let planned = Mutex<[Fault]>([])
    private let clearings = Atomic(0)
    private let waiting = Atomic(0)

    /// How many requests are kept waiting.
    var held: Int { waiting.load(ordering: .relaxed) }

    func plan(_ fault: Fault) { planned.withLock { $0.append(fault) } }

    func clear() {
        planned.withLock { $0 = [] }
        clearings.add(1, ordering: .relaxed)
    }

    /// Waits until the faults are cleared, or the server stops.
    private func hold() async throws {
        let before = clearings.load(ordering: .relaxed)
        waiting.add(1, ordering: .relaxed)
        defer { waiting.subtract(1, ordering: .relaxed) }
        while clearings.load(ordering: .relaxed) == before { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// The forged text for an answer at this path, if one is planned.
    func take(_ forged: @Sendable (Fault) -> String?, at path: String) -> String? {
        take(at: path) { forged($0) != nil }.flatMap(forged)
    }

    private func take(at path: String, where fits: @Sendable (Fault) -> Bool) -> Fault? {
        planned.withLock { planned in
            guard let index = planned.firstIndex(where: { path.contains($0.path) && fits($0) }) else { return nil }
            let fault = planned[index]
            if let times = fault.times {
                planned[index].times = times - 1
                if times <= 1 { planned.remove(at: index) }
            }
            return fault
        }
    }

    /// Answers a request as usual, or as a planned fault wants it.
    func applied(
        to visit: Visit, on channel: any Channel, log: (Int) -> Void, _ usual: () async throws -> Response
    ) async throws -> Response {
        guard let fault = take(at: visit.path, where: { !$0.isForgery }) else {
            let response = try await usual()
            log(response.status.code)
            return response
        }
        if let delay = fault.delay { try await Task.sleep(for: .seconds(min(max(delay, 0), 600))) }
        if fault.hold == true { try await hold() }
        if fault.close == true {
            log(0)
            channel.close(promise: nil)
            return Response(status: .serviceUnavailable)
        }
        var response = fault.status == nil ? try await usual() : fault.response
        for (name, value) in fault.headers ?? [:] {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        log(response.status.code)
        return fault.truncate == true ? response.truncated(on: channel) : response
    }
}

extension Fault {
    fileprivate var response: Response {
        Response(
            status: .init(code: status ?? 500),
            headers: [.contentType: contentType ?? "application/json; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: body ?? "")))
    }
}

extension Response {
    /// The same answer that breaks off half-way.
    fileprivate func truncated(on channel: any Channel) -> Response {
        var response = self
        let whole = body
        response.body = ResponseBody(contentLength: body.contentLength.map { max($0, 2) } ?? 4096) { writer in
            var collected = ByteBuffer()
            try await whole.write(Collector { collected.writeImmutableBuffer($0) })
            try await writer.write(collected.getSlice(at: 0, length: collected.readableBytes / 2) ?? ByteBuffer())
            try await channel.close()
        }
        return response
    }
}

/// Gathers a body instead of sending it.
private struct Collector: ResponseBodyWriter {
    let take: (ByteBuffer) -> Void

    mutating func write(_ buffer: ByteBuffer) async throws { take(buffer) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
