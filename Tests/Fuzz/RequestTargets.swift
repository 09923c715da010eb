import Addresses
import Model

@testable import Claims
@testable import Rules
@testable import Secrets
@testable import Tools

extension FuzzTarget {
    /// git's input to a helper.
    static let request = FuzzTarget("request") { input in
        let blocks = parsed([input])
        let half = input.count / 2
        try require(
            blocks == parsed([Array(input[..<half]), Array(input[half...])]), "two reads give other blocks than one")
        for block in blocks ?? [] {
            try requireRoundTrip(block)
            guard let request = accepted({ try GitRequest(block) }) else { continue }
            try requirePlain(request)
            try requireLines(request)
        }
    }

    /// A `url` alone, which other programs parse, too.
    static let url = FuzzTarget("url") { input in
        guard let text = input.text else { return }
        var block = Attributes()
        guard accepted({ try block.append("url", text) }) != nil,
            let request = accepted({ try GitRequest(block) }), let host = request.wanted.host
        else { return }
        try requirePlain(request)
        let path = request.wanted.path ?? ""
        let again = StrictURL("https://h.example/" + path.percentEncodedPath)?.tail.percentDecodedPath
        try require(again.map { Array($0.utf8) } == Array("/\(path)".utf8), "a path that isn't stable: \(path)")
        for asBrowsers in [false, true] {
            let other = OtherURL(input, asBrowsers: asBrowsers)
            try require(other != nil, "no URL to others")
            try require(request.wanted.scheme.map { Array($0.utf8) } == other?.scheme, "others read another scheme")
            try requireSame(host, other?.host ?? [], port: other?.port ?? [])
        }
    }

    /// URLs that authorities, plugins and manifests name, and a proxy's, which other programs parse, too.
    static let address = FuzzTarget("address") { input in
        guard let text = input.text else { return }
        for asBrowsers in [false, true] {
            guard let url = StrictURL(web: text) else { break }
            let other = OtherURL(input, asBrowsers: asBrowsers)
            try requireSame(url.host, other?.host ?? [], port: other?.port ?? [])
        }
        if let redirect = RedirectURI(text), redirect.isLoopback {
            let sent = OtherURL(Array(redirect.text(listeningAt: 4711).utf8), asBrowsers: true)
            try require(["localhost", "127.0.0.1", "::1"].contains(sent?.host.text), "a redirect to another computer")
            try require(sent?.port.isEmpty == false, "a redirect without a port")
        }
        if let authority = AuthorityURL(text) {
            try require(AuthorityURL(authority.description) == authority, "an authority that isn't stable")
        }
        if let proxy = ProxyURL(text), !proxy.name.utf8.contains(UInt8(ascii: "%")) {
            let isBare = StrictURL.scheme(of: text) == nil
            let other = OtherURL(isBare ? Array("http://".utf8) + input : input, asBrowsers: false)
            let port = other?.port.isEmpty == false ? proxy.port : nil
            try requireSame(RequestHost(name: proxy.name, port: port), other?.host ?? [], port: other?.port ?? [])
        }
    }

    /// The requests that a rule matches: the URL counts as other programs read it.
    static let rule = FuzzTarget("rule") { input in
        for block in parsed([input]) ?? [] {
            guard let request = accepted({ try GitRequest(block).wanted }), let host = request.host else { continue }
            for pattern in patterns where pattern.fit(request) != nil {
                try require(pattern.mismatch(request) == nil, "\(pattern.text) fits, and doesn't match")
                try require(request.scheme == "https", "another scheme")
                let labels = Array(host.name.utf8).parts(UInt8(ascii: "."))
                if pattern.text.contains("*") {
                    try require(
                        labels.count == 3 && labels.dropFirst() == [Array("wild".utf8), Array("example".utf8)],
                        "a wildcard takes \(host.name)")
                    try require(
                        labels.first?.isEmpty == false && labels[0].allSatisfy { $0 > 0x20 && $0 != 0x7F },
                        "a wildcard takes a label that is none")
                } else {
                    try require(
                        Array(host.name.utf8) == Array("git.contoso.example".utf8), "another host: \(host.name)")
                    try requireBelow("team", request.path ?? "")
                    let stored = URLPath("team")
                    try require(URLPath(request.path).isBelow(stored), "a password of /team isn't for its rule's URLs")
                }
            }
        }
    }

    /// `WWW-Authenticate` headers, one per line, and the claims in them.
    static let challenge = FuzzTarget("challenge") { input in
        let headers = input.parts(UInt8(ascii: "\n")).compactMap(\.text)
        let challenges = AuthenticateChallenge.read(headers)
        try require(challenges.count <= AuthenticateChallenge.mostChallenges, "too many challenges")
        try require(
            challenges.allSatisfy { $0.parameters.count <= AuthenticateChallenge.mostParameters }, "too many parameters"
        )
        guard let claims = ClaimsChallenge(headers).claims, let request = accepted({ try ClaimsRequest(claims) }) else {
            return
        }
        let again = try ClaimsRequest(request.encoded)
        try require(Array(again.encoded.utf8) == Array(request.encoded.utf8), "claims that aren't stable")
    }

    private static let patterns = ["https://git.contoso.example/team", "https://*.wild.example"].compactMap(
        URLPattern.init)

    private static func parsed(_ chunks: [[UInt8]]) -> [Attributes]? {
        var parser = AttributeParser(longestInput: 1 << 20)
        return accepted {
            var blocks: [Attributes] = []
            for chunk in chunks { blocks += try parser.consume(chunk) }
            return blocks + [try parser.finish()].compactMap(\.self)
        }
    }

    private static func requireRoundTrip(_ block: Attributes) throws {
        guard !block.isEmpty else { return }
        let again = parsed([block.encoded + Array("\n".utf8)])
        try require(
            again?.count == 1 && again?.first?.encoded == block.encoded, "a block is another after a round trip")
    }

    private static func requirePlain(_ request: GitRequest) throws {
        let request = request.wanted
        for text in [request.scheme, request.host?.name, request.path, request.username].compactMap(\.self) {
            try require(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control character was accepted")
        }
    }

    /// Requires that the parts of a request that may appear in an answer form one line for each key.
    private static func requireLines(_ request: GitRequest) throws {
        let wanted = request.wanted
        var answer = Attributes()
        var count = 0
        let texts = [wanted.scheme, wanted.host?.text, wanted.path, wanted.username, request.password?.reveal()]
        for text in (texts + request.state).compactMap(\.self) where accepted({ try answer.append("key", text) }) != nil
        {
            count += 1
        }
        let lines = answer.encoded.parts(UInt8(ascii: "\n")).dropLast()
        try require(lines.count == count && lines.allSatisfy { $0.starts(with: "key=".utf8) }, "a value made a line")
    }

    private static func requireSame(_ host: RequestHost, _ other: [UInt8], port: [UInt8]) throws {
        try require(
            Array(host.name.utf8) == other, "others go to \(String(decoding: other, as: UTF8.self)), not \(host.name)")
        let number = port.isEmpty ? nil : Int(String(decoding: port, as: UTF8.self))
        try require(host.port == number && port.allSatisfy { (0x30...0x39).contains($0) }, "others read another port")
    }

    /// Requires that a path that a rule for this folder matches stays below it.
    private static func requireBelow(_ folder: String, _ path: String) throws {
        let bare = Array(path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        try require(
            bare.parts(UInt8(ascii: "/")).first == Array(folder.utf8), "the rule for /\(folder) matches \(path)")
        // However often a server decodes it, and whichever slash it takes for one.
        var served = bare
        for _ in 0..<8 {
            let segments = served.parts(UInt8(ascii: "/")).flatMap { $0.parts(UInt8(ascii: "\\")) }
            try require(!segments.contains(Array("..".utf8)), "the rule for /\(folder) matches \(path)")
            served = served.percentDecoded
        }
    }
}
