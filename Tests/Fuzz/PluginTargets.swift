@testable import PluginHost
@testable import PluginWire
@testable import Secrets

extension FuzzTarget {
    /// A plugin's output, as the host reads it.
    static let answer = FuzzTarget("answer") { input in
        let whole = steps([input])
        try require(
            whole == steps([Array(input.prefix(input.count / 3)), Array(input.dropFirst(input.count / 3))]),
            "two reads mean another thing than one")
        for step in whole {
            switch step {
            case .ask(.openURL(let url, _)): try requireSafePage(url)
            case .ask(.showCode(_, let page, let completePage, let message, _)):
                try requireSafePage(page)
                if let completePage { try requireSafePage(completePage) }
                try requireShowable(message)
            case .ask(.prompt(_, let message)), .ask(.openWindow(let message)), .progress(let message):
                try requireShowable(message)
            case .note(let note): try requireShowable(note)
            case .ask(.progress): try require(false, "progress that is asked about")
            case .reply(let block): try require(block["reply"] != nil, "a reply without its name")
            case .end(.failed(let error)): try requireError(error)
            case .end(.result(let block)): try requireResult(block)
            }
        }
    }

    /// The host's output, as a plugin reads it.
    static let pluginRequest = FuzzTarget("plugin-request") { input in
        var parser = AttributeParser(longestInput: 1 << 20)
        guard let blocks = accepted({ try parser.consume(input + Array("\n\n".utf8)) }) else { return }
        for block in blocks where !block.isEmpty {
            do throws(PluginError) {
                let request = try PluginRequest(wire: block)
                guard let written = accepted({ try request.wire() }) else { throw PluginError(.internal, "unwritable") }
                guard let again = accepted({ try PluginRequest(wire: written) }), again == request else {
                    throw PluginError(.internal, "a request is another after a round trip")
                }
            } catch {
                try require(error.code != .internal, error.message)
                try requireError(error)
            }
        }
    }

    private static func steps(_ chunks: [[UInt8]]) -> [ConversationState.Step] {
        var exchange = ConversationState(plugin: "fuzz")
        var steps: [ConversationState.Step] = []
        for chunk in chunks { steps += exchange.receive(chunk).steps }
        return steps + [exchange.finish()].compactMap(\.self)
    }

    /// Requires that the browser opens network pages over TLS only, or this computer's own.
    private static func requireSafePage(_ url: String) throws {
        try require(url.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }, "a page's odd byte")
        let page = OtherURL(Array(url.utf8), asBrowsers: true)
        let isHere = ["127.0.0.1", "localhost", "::1"].contains(String(decoding: page?.host ?? [], as: UTF8.self))
        try require(
            page?.scheme == Array("https".utf8) || page?.scheme == Array("http".utf8) && isHere,
            "an unsafe page: \(url)")
        let authority = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
        let cut = authority.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        try require(!cut.contains(UInt8(ascii: "@")), "a page with a user: \(url)")
    }

    private static func requireResult(_ block: Attributes) throws {
        if let credential = accepted({ try PluginCredential(WireReader(block)) }) {
            try require(
                accepted({ try PluginCredential(WireReader(credential.wire())) }) == credential,
                "a credential is another after a round trip")
        }
        if let probe = accepted({ try PluginProbe(WireReader(block)) }) {
            try require(
                accepted({ try PluginProbe(WireReader(probe.wire())) }) == probe,
                "what a probe found is another after a round trip")
        }
        for operation in [PluginRequest.Operation.authorize, .authenticate] { try requireResult(block, of: operation) }
    }

    private static func requireResult(_ block: Attributes, of operation: PluginRequest.Operation) throws {
        guard let result = accepted({ try PluginResult(WireReader(block), of: operation) }) else { return }
        try require(
            accepted({ try PluginResult(WireReader(result.wire()), of: operation) }) == result,
            "a result is another after a round trip")
        try require((result.account == nil) == (operation == .authenticate), "an application with an account")
        try require(
            result.accessToken.reveal().utf8.allSatisfy { (0x21...0x7E).contains($0) },
            "a token that is more than one word")
    }

    /// Requires that an error can be written, read back and shown.
    static func requireError(_ error: PluginError) throws {
        try require(
            accepted({ try PluginError(WireReader(error.wire())) }) != nil, "an error that can't be told: \(error)")
        try requireShowable(error.message.displayable(limit: 2000))
    }

    private static func requireShowable(_ text: String) throws {
        try require(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a message with control characters")
    }
}
