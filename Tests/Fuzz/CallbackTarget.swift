import Dispatch
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization

@testable import OAuth

extension FuzzTarget {
    /// Requests to the loopback port of a sign-in.
    ///
    /// `STATE` stands for the state of the sign-in.
    static let callback = FuzzTarget("callback") { input in
        for incoming in requests(replacing("STATE", with: sent.state, in: input)) {
            let taken = Mutex(0)
            let catcher = RedirectCatcher(request: sent, port: 4711, path: "/") { _ in
                taken.withLock { $0 += 1 }
                return .success
            }
            guard let page = waited({ await catcher.answer(incoming) }) else { continue }
            try require([200, 400, 404, 405, 413, 415, 421].contains(page.status), "a page of status \(page.status)")
            try require((page.status == 200) == (taken.withLock { $0 } == 1), "an answer that is taken and refused")
            if page.status == 200 { try requireAnswer(incoming) }
        }
    }

    private static let sent = AuthorizationRequest(redirectURI: "http://localhost", responseMode: .formPost)

    /// Requires that an accepted response has the state once, was sent to this computer by name, and has a code only in
    /// a form.
    private static func requireAnswer(_ incoming: LoopbackRequest) throws {
        let hosts = incoming.headers["host"].map { Array($0.utf8).lowercasedASCII }
        let names = ["localhost:4711", "127.0.0.1:4711", "[::1]:4711"].map { Array($0.utf8) }
        try require(hosts.count == 1 && names.contains(hosts[0]), "taken for another host")
        let isPost = incoming.method == .POST
        let query = Array(incoming.target.utf8).parts(UInt8(ascii: "?"), atMost: 2).dropFirst().first ?? []
        let fields = otherForm(isPost ? Array((incoming.body ?? "").utf8) : query)
        let states = fields.filter { $0.name == Array("state".utf8) }.map(\.value)
        try require(states == [Array(sent.state.utf8)], "taken with \(states.count) states, or another")
        let hasCode = fields.contains { $0.name == Array("code".utf8) }
        try require(isPost || !hasCode, "a code in the address is taken")
    }

    /// Returns the requests that the HTTP parser reads from bytes, complete as in the listener.
    private static func requests(_ bytes: [UInt8]) -> [LoopbackRequest] {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish() }
        var requests: [LoopbackRequest] = []
        guard accepted({ try channel.pipeline.syncOperations.configureHTTPServerPipeline() }) != nil else { return [] }
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        var head: HTTPRequestHead?
        var body: [UInt8] = []
        while let part = (try? channel.readInbound(as: HTTPServerRequestPart.self)) ?? nil {
            switch part {
            case .head(let begun): (head, body) = (begun, [])
            case .body(let chunk): body += chunk.readableBytesView
            case .end:
                guard let head else { continue }
                let text = String(validating: body, as: UTF8.self)
                requests.append(
                    LoopbackRequest(method: head.method, target: head.uri, headers: head.headers, body: text))
            }
        }
        return requests
    }

    private static func replacing(_ word: String, with text: String, in bytes: [UInt8]) -> [UInt8] {
        bytes.split(separator: Array(word.utf8), omittingEmptySubsequences: false).map { Array($0) }
            .joined(separator: Array(text.utf8)).map(\.self)
    }

    private static func waited<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value? {
        let value = Mutex<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task {
            let result = await body()
            value.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return value.withLock(\.self)
    }
}
