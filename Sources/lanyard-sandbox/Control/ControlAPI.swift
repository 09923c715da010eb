import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Synchronization
import Terminal

/// The control API for tests, on the authority's port.
extension World {
    func control(_ visit: Visit) async -> Response {
        let body = visit.body
        guard visit.header("X-Sandbox-Control") == controlToken else {
            return .json(["error": "send the control token of sandbox.json as X-Sandbox-Control"], status: .forbidden)
        }
        do {
            switch (visit.method, visit.path) {
            case (.get, "/_sandbox/log"): return .json(log.all)
            case (.delete, "/_sandbox/log"): log.clear()
            case (.post, "/_sandbox/settings"): try changeSettings(body)
            case (.post, "/_sandbox/revoke"):
                let username = JSONValue(bytes: body.utf8)?["username"]?.string
                ledger.revoke(username)
                for host in hosts { host.revoke(username) }
                identityCenter.ledger.revoke(username)
            case (.get, "/_sandbox/faults"): return .json(["held": .integer(Int64(faults.held))])
            case (.post, "/_sandbox/assertion"):
                let changes = JSONValue(bytes: body.utf8)?.members ?? [:]
                return .json(["assertion": .string(try await workloadAssertion(changes))])
            case (.post, "/_sandbox/faults"): faults.plan(try decode(Fault.self, body))
            case (.delete, "/_sandbox/faults"): faults.clear()
            default: return .json(["error": "there is no such control"], status: .notFound)
            }
            return Response(status: .noContent)
        } catch {
            return .json(["error": .string(CommandError(any: error).message.text)], status: .badRequest)
        }
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ body: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data((body.isEmpty ? "{}" : body).utf8))
    }

    private func changeSettings(_ body: String) throws {
        guard case .object(let members)? = JSONValue(bytes: body.utf8) else { throw CommandError("send a JSON object") }
        for (name, value) in members {
            guard value == .null || value.integer != nil else { throw CommandError("\(name) is not a whole number") }
            let number = value.integer.map(Int.init)
            switch (name, number) {
            case ("refresh_in", _): change { $0.refreshIn = number }
            case ("access_token_lifetime", let number?): change { $0.accessTokenLifetime = number }
            case ("device_code_interval", let number?): change { $0.deviceCodeInterval = number }
            case ("device_code_lifetime", let number?): change { $0.deviceCodeLifetime = number }
            case ("single_use_refresh_tokens", let number?): change { $0.hasSingleUseRefreshTokens = number != 0 }
            case ("id_token_at_renewal", let number?): change { $0.sendsIDTokenAtRenewal = number != 0 }
            case ("renewal_ends_access_token", let number?): change { $0.renewalEndsAccessToken = number != 0 }
            case ("registry_token_lifetime", let number?): change { $0.registryTokenLifetime = number }
            case ("page_size", let number?): change { $0.pageSize = max(number, 1) }
            case ("key_lifetime", let number?): change { $0.keyLifetime = number }
            case ("machine_token_lifetime", let number?): change { $0.machineTokenLifetime = number }
            case ("expired_secrets", let number?): change { $0.hasExpiredSecrets = number != 0 }
            case ("default_apps", let number?): for host in hosts { host.setDefaultApp(number != 0) }
            case ("offline_access", let number?):
                guard let choice = OfflineAccess(rawValue: number) else { throw CommandError("\(name) is 0, 1 or 2") }
                change { $0.offlineAccess = choice }
            case ("registration", let number?): change { $0.offersRegistration = number != 0 }
            default: throw CommandError("there is no setting \(name)")
            }
        }
    }
}

/// A fault to inject into requests whose path contains a text.
struct Fault: Decodable, Sendable {
    /// A part of the path, or `/` for that path alone.
    var path: String
    var status: Int?
    var body: String?
    var content_type: String?
    var delay: Double?
    /// Whether to hold the request until the faults are cleared.
    var hold: Bool?
    var headers: [String: String]?
    /// How often the fault occurs; nil for until the faults are cleared.
    var times: Int?
    /// Whether to close the connection without an answer.
    var close: Bool?
    /// Whether to cut the answer off halfway.
    var truncate: Bool?
    var issuer: String?
    var nonce: String?
    var state: String?

    func isFor(_ path: String) -> Bool { self.path == "/" ? path == "/" : path.contains(self.path) }

    /// Whether it changes the contents of an answer rather than its delivery.
    var isForgery: Bool { issuer != nil || nonce != nil || state != nil }
}

/// The injected faults that are still pending.
final class Faults: Sendable {
    private let planned = Mutex<[Fault]>([])
    private let clearings = Atomic(0)
    private let waiting = Atomic(0)

    /// The number of held requests.
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

    /// Returns the forged text for an answer at this path, if one is planned.
    func consume(_ forged: @Sendable (Fault) -> String?, at path: String) -> String? {
        consume(at: path) { forged($0) != nil }.flatMap(forged)
    }

    private func consume(at path: String, where fits: @Sendable (Fault) -> Bool) -> Fault? {
        planned.withLock { planned in
            guard let index = planned.firstIndex(where: { $0.isFor(path) && fits($0) }) else { return nil }
            let fault = planned[index]
            if let times = fault.times {
                planned[index].times = times - 1
                if times <= 1 { planned.remove(at: index) }
            }
            return fault
        }
    }

    /// Answers a request normally, or with a planned fault.
    func applied(
        to visit: Visit, on channel: any Channel, log: (Int) -> Void, _ usual: () async throws -> Response
    ) async throws -> Response {
        guard let fault = consume(at: visit.path, where: { !$0.isForgery }) else {
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
            headers: [.contentType: content_type ?? "application/json; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: body ?? "")))
    }
}

extension Response {
    /// Returns this response, cut off halfway.
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

/// Collects a body instead of sending it.
private struct Collector: ResponseBodyWriter {
    let receive: (ByteBuffer) -> Void

    mutating func write(_ buffer: ByteBuffer) async throws { receive(buffer) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
