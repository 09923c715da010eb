internal import Addresses
internal import CCurl
internal import Foundation
internal import Glibc
internal import HTTP
internal import OAuth
internal import PluginHost
internal import PluginOAuth
internal import Secrets
internal import Synchronization

/// Sends requests as a test's question wants it.
struct Probe {
    let question: Question
    private let environment = ProcessInfo.processInfo.environment

    init(_ question: Question) { self.question = question }

    func reply() async -> Reply {
        let before = Self.memory("VmRSS")
        var reply = Reply()
        do throws(NetworkSettingsError) {
            let network = await settings()
            let proxies = try? ProxySettings(environment: environment, setting: network.proxy)
            (reply.proxy, reply.source) = (
                proxies?.proxy(for: StrictURL(question.url)?.host.withoutAnyPort.text ?? "")?.url, proxies?.source
            )
            for _ in 0..<question.times where question.peer != .nobody { try await send(network, &reply) }
            if question.peer == .nobody { _ = try HTTPClient(userAgent: "probe", network) }
        } catch {
            reply.reason = "\(error)"
        }
        if lanyard_curl_open() == nil { reply.library = String(cString: curl_version_info(0).pointee.ssl_version) }
        reply.growth = Self.memory("VmHWM") - before
        return reply
    }

    private func settings() async -> NetworkSettings {
        var settings: NetworkSettings
        if question.asksGit {
            let git = await GitNetwork(environment: environment).settings(for: question.url)
            settings = NetworkSettings(git.network, environment)
        } else {
            settings = NetworkSettings(environment: environment)
            settings.proxy = question.proxy
            settings.proxyAuthentication = question.proxyAuthentication.flatMap(ProxyAuthentication.init)
            settings.needsTLS13 = question.needsTLS13
        }
        settings.caFiles += question.caFiles
        settings.system = .init(folder: "/nowhere", bundles: question.bundle.map { [$0] } ?? [])
        return settings
    }

    private func send(_ network: NetworkSettings, _ reply: inout Reply) async throws(NetworkSettingsError) {
        let pairs = stride(from: 0, to: question.headers.count, by: 2)
        let headers = pairs.map { (name: question.headers[$0], value: question.headers[$0 + 1]) }
        let request = HTTPRequest(
            question.method, question.url, headers: headers.map { ($0.name, Secret($0.value)) },
            body: question.body.map { Array($0.utf8) })
        let limit = Duration.seconds(question.whole)
        let start = ContinuousClock.now
        if question.peer == .authority {
            var settings = Transport.Settings(userAgent: "probe", environment: [:])
            settings.network = network
            settings.limits.http.connect = .seconds(question.connect)
            (settings.limits.whole, settings.limits.pause) = (limit, .zero)
            do throws(OAuthError) {
                let answer = try await Transport(settings).get(question.url, headers: headers)
                reply.read(answer)
            } catch {
                (reply.reason, reply.message, reply.hint) = ("\(error.kind)", error.message, error.hint)
            }
        } else {
            var limits = HTTPClient.Limits()
            limits.connect = .seconds(question.connect)
            let client =
                question.peer == .machine
                ? HTTPClient(userAgent: "probe", .anyone, limits: limits)
                : try HTTPClient(userAgent: "probe", network, limits: limits)
            switch await Cancellation.result({ () async throws(HTTPError) in
                try await client.send(request, within: limit)
            }) {
            case .success(let answer): reply.read(answer)
            case .failure(let error):
                reply.reason = "\(error.reason)".replacing("HTTP.HTTPError.Obstacle.", with: "")
                    .replacing("HTTP.CertificateDefect.", with: "")
                (reply.isOfProxy, reply.mayHaveArrived) = (error.isOfProxy, error.mayHaveArrived)
            }
        }
        reply.seconds = (ContinuousClock.now - start) / .seconds(1)
        reply.secondsToCancel = Cancellation.moment.map { (ContinuousClock.now - $0) / .seconds(1) }
    }

    /// A line of the kernel's account of this process, in KiB.
    private static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

/// The pipe from the signal's handler; it is made before there are other threads.
private nonisolated(unsafe) var ends: [CInt] = [-1, -1]

/// SIGUSR1 cancels the request, as Ctrl-C cancels lanyard's.
enum Cancellation {
    private struct State {
        var moment: ContinuousClock.Instant?
        var task: Task<Result<HTTPAnswer, HTTPError>, Never>?
    }

    private static let state = Mutex(State())

    /// When the signal came; nil if it didn't.
    static var moment: ContinuousClock.Instant? { state.withLock { $0.moment } }

    /// Waits for the signal, whichever thread gets it.
    static func watch() {
        pipe(&ends)
        signal(SIGUSR1) { _ in write(ends[1], "x", 1) }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(ends[0], &byte, 1) != 1 {}
            state.withLock {
                $0.moment = .now
                $0.task?.cancel()
            }
        }
    }

    static func result(
        _ body: @escaping @Sendable () async throws(HTTPError) -> HTTPAnswer
    ) async -> Result<HTTPAnswer, HTTPError> {
        let task = Task { () async -> Result<HTTPAnswer, HTTPError> in
            do throws(HTTPError) { return .success(try await body()) } catch { return .failure(error) }
        }
        state.withLock { $0.task = task }
        return await task.value
    }
}

extension Reply {
    fileprivate mutating func read(_ answer: HTTPAnswer) {
        (status, body) = (answer.status, String(decoding: answer.body, as: UTF8.self))
        headers = answer.headers.flatMap { [$0.name, $0.value] }
    }
}
