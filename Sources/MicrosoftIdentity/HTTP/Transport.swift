import AsyncHTTPClient
import AuthorityPlugin
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix

/// What an authority answered, read whole.
struct HTTPAnswer: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: Data

    /// The body as a JSON value of the type, or nil.
    func json<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: body)
    }

    /// Seconds of `Retry-After` (RFC 9110, 10.2.3), at most an hour; its date form is not understood.
    var retryAfter: Int? {
        headers.first(name: "retry-after").flatMap { Int($0) }.map { min(max($0, 0), 3_600) }
    }
}

/// HTTPS to authorities: bounded in time and size, once retried, never redirected.
package struct Transport: Sendable {
    /// How long and how much.
    package struct Limits: Sendable {
        /// Of reaching the host, TLS included.
        package var connect = Duration.seconds(10)
        /// Of one attempt, body included.
        package var whole = Duration.seconds(30)
        /// Between the two attempts, where the host does not say.
        package var pause = Duration.seconds(1)
        /// The longest pause worth waiting for; told in the error if longer.
        package var longestPause = Duration.seconds(10)
        /// Of both attempts, so that the plugin is never silent for the minute that the host allows.
        package var exchange = Duration.seconds(50)
        /// Of everything that a `renew` asks, for the same reason.
        package var renewal = Duration.seconds(55)
        /// Of a body, in bytes.
        package var body = 1 << 20

        /// Makes the usual limits.
        package init() {}
    }

    private let direct: HTTPClient
    private let proxied: HTTPClient?
    private let proxySettings: ProxySettings
    private let limits: Limits
    private let correlationID: String
    /// When nothing may be waited for any more.
    private let end: ContinuousClock.Instant?

    /// Opens clients, runs the body and closes them.
    static func with<Value: Sendable>(
        _ request: PluginRequest, environment: [String: String], limits: Limits,
        _ body: (Transport) async throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let settings = try ProxySettings(environment: environment)
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try TrustRoots.configuration(caFile: request.caFile, environment: environment),
            redirectConfiguration: .disallow,
            timeout: .init(connect: limits.connect.timeAmount, read: limits.whole.timeAmount))
        configuration.httpVersion = .http1Only
        // Never a question for a name server (RFC 6761, 6.3): one that doesn't know the name can take seconds.
        configuration.dnsOverride = ["localhost": "127.0.0.1"]
        configuration.connectionPool.retryConnectionEstablishment = false
        let direct = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        configuration.proxy = settings.proxy
        let proxied = settings.proxy.map { _ in
            HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        }
        let transport = Transport(
            direct: direct, proxied: proxied, proxySettings: settings, limits: limits,
            correlationID: request.correlationID ?? UUID().uuidString.lowercased(),
            end: request.operation == .renew ? .now + limits.renewal : nil)
        let outcome: Result<Value, PluginError>
        do { outcome = .success(try await body(transport)) } catch { outcome = .failure(error) }
        // Nobody waits for it: a TLS peer that doesn't answer takes seconds to take leave of.
        Task {
            try? await direct.shutdown()
            try? await proxied?.shutdown()
        }
        return try outcome.get()
    }

    /// Gets a document.
    func get(_ url: String) async throws(PluginError) -> HTTPAnswer {
        try await send(HTTPClientRequest(url: url), retrying: true)
    }

    /// Posts a form.
    func post(
        _ url: String, _ fields: [FormEncoding.Field], headers: [(String, String)] = [], retrying: Bool = true
    ) async throws(PluginError) -> HTTPAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        request.body = .bytes(ByteBuffer(string: FormEncoding.encode(fields)))
        return try await send(request, retrying: retrying)
    }

    private func send(_ request: HTTPClientRequest, retrying: Bool) async throws(PluginError) -> HTTPAnswer {
        let exchangeEnd = ContinuousClock.now + limits.exchange
        let last = end.map { min($0, exchangeEnd) } ?? exchangeEnd
        let first = await once(request, until: last)
        guard case .failure(let setback) = first, retrying, let pause = setback.pause, pause <= limits.longestPause,
            ContinuousClock.now + pause < last
        else { return try first.mapError(\.error).get() }
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw PluginError(.cancelled, "the sign-in was ended")
        }
        return try await once(request, until: last).mapError(\.error).get()
    }

    /// An attempt that gave no answer to work with.
    private struct Setback: Error {
        var error: PluginError
        /// How long to wait before a second attempt, where one may do better.
        var pause: Duration?
    }

    private func once(
        _ request: HTTPClientRequest, until last: ContinuousClock.Instant
    ) async -> Result<HTTPAnswer, Setback> {
        let host = (try? WebAddress(request.url))?.environment ?? "the authority"
        do throws(TransportFailure) {
            let answer = try await attempt(request, within: min(limits.whole, last - .now))
            if answer.status == 429 { return .failure(Setback(error: Self.throttling(answer, host: host))) }
            guard answer.status >= 500 else { return .success(answer) }
            let pause = answer.retryAfter.map { Duration.seconds($0) } ?? limits.pause
            return .failure(Setback(error: Self.failing(answer, host: host), pause: pause))
        } catch {
            let pause = error.isWorthRetrying ? limits.pause : nil
            return .failure(Setback(error: error.pluginError(host: host), pause: pause))
        }
    }

    private func attempt(
        _ request: HTTPClientRequest, within limit: Duration
    ) async throws(TransportFailure) -> HTTPAnswer {
        let client = client(for: request.url)
        let named = identified(request)
        let limits = limits
        do {
            return try await withDeadline(limit) {
                let response = try await client.execute(named, timeout: limits.whole.timeAmount)
                let body = try await response.body.collect(upTo: limits.body)
                return HTTPAnswer(
                    status: Int(response.status.code), headers: response.headers, body: Data(body.readableBytesView))
            }
        } catch {
            throw TransportFailure(error)
        }
    }

    private func client(for url: String) -> HTTPClient {
        guard let proxied, let address = try? WebAddress(url) else { return direct }
        return proxySettings.excepts(host: address.host, port: address.port ?? 443) ? direct : proxied
    }

    /// The request with the headers by which Entra's logs tell who asked.
    private func identified(_ request: HTTPClientRequest) -> HTTPClientRequest {
        var request = request
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "user-agent", value: "lanyard/\(AuthorityProfile.version)")
        request.headers.add(name: "x-client-sku", value: "lanyard")
        request.headers.add(name: "x-client-ver", value: AuthorityProfile.version)
        request.headers.add(name: "x-client-os", value: "linux")
        request.headers.add(name: "x-ms-lib-capability", value: "retry-after, h429")
        request.headers.add(name: "client-request-id", value: correlationID)
        request.headers.add(name: "return-client-request-id", value: "true")
        return request
    }

    private static func throttling(_ answer: HTTPAnswer, host: String) -> PluginError {
        var error = PluginError(.throttled, "\(host) says that there were too many requests")
        error.retryAfter = answer.retryAfter ?? 60
        return error
    }

    private static func failing(_ answer: HTTPAnswer, host: String) -> PluginError {
        var error = PluginError(.unavailable, "\(host) does not work at the moment (HTTP \(answer.status))")
        error.retryAfter = answer.retryAfter
        if error.retryAfter == nil { error.hint = "try again later" }
        return error
    }
}

extension Duration {
    /// The same time, as NIO counts it.
    var timeAmount: TimeAmount {
        .nanoseconds(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
