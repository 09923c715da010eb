import Addresses
import CredentialEngine
import Rules
import Secrets

/// Go 1.24 and later, by `GOAUTH` (`go help goauth`): called without a URL before the first download, and with one after
/// each answer of 4xx, which is then on stdin.
///
/// The first call gets nothing: whatever it got, Go would keep for each host that the rules name, and that is a look at the keyring
/// and perhaps a renewal for each of them at every command that downloads anything.
public struct GoConsumer: Consumer {
    private let arguments: [String]
    private var input = ToolInput()
    private var request = CredentialRequest()

    /// Serves what follows `goauth`: nothing, or the URL that Go couldn't load.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Only a URL with https is answered, as Go asks for no other.
    public mutating func begin() -> Turn {
        guard let url = arguments.first else { return Turn(.end(0)) }
        guard arguments.count == 1, !url.hasPrefix("-") else {
            return .fail(
                "goauth takes one URL at most", remedy: "set GOAUTH=\"lanyard goauth\"; go adds the URL", status: 64)
        }
        do throws(RequestError) { request = try CredentialRequest(wholeURL: url, takesAuthorizations: true) } catch {
            return .fail("this can't be the URL of a module: \(url.displayableURL)")
        }
        return request.scheme == "https" ? Turn(.read) : Turn(.end(0))
    }

    /// Reads the server's answer, asks the engine once, and answers.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
        switch event {
        case .input(let bytes): read(bytes)
        case .credential(let credential): answer(credential)
        case .nothing: Turn(.end(0))
        case .refused(let refusal): Turn(complaint: .refusal, .end(refusal.status))
        }
    }

    /// Reads up to a blank line or the end of the input.
    private mutating func read(_ bytes: [UInt8]) -> Turn {
        input.take(bytes)
        if input.isTooLong { return .fail("the server's answer is longer than 1 MiB") }
        let isWhole = bytes.isEmpty || input.all.ends(with: "\n\n") || input.all.ends(with: "\r\n\r\n")
        guard isWhole else { return Turn(.read) }
        let lines = input.all.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        guard lines.first?.hasPrefix("HTTP/") != false else {
            return .fail("standard input holds no answer of an HTTP server")
        }
        for line in lines.dropFirst() { request.hear(header: line) }
        return Turn(.ask(.get(request)))
    }

    private func answer(_ credential: Credential) -> Turn {
        let value = credential.authorizationHeader
        guard !value.hasControlCharacter else { return Turn(complaint: .unwritable(request), .end(1)) }
        let lines = prefixes + ["", "Authorization: \(value)", ""]
        return Turn(output: lines.flatMap { Array($0.utf8) + [0x0A] }, .end(0))
    }

    /// What Go is to use the credential for: what it asked for, all below it, and all versions of the same module.
    ///
    /// It is nothing that another rule could be for. Go compares it with whole URLs, queries included, cutting segments off their end.
    private var prefixes: [String] {
        let url = arguments[0]
        let path = url.beforeQuery
        var prefixes = [url]
        if path.endIndex < url.endIndex { prefixes.append(String(path)) }
        let segments = path.pieces(between: "/", omittingEmpty: false)
        if let index = segments.lastIndex(where: { $0.isSame(as: "@v") }), index < segments.count - 1 {
            prefixes.append(segments[...index].joined(separator: "/"))
        }
        return prefixes
    }
}

extension [UInt8] {
    fileprivate func ends(with end: StaticString) -> Bool {
        suffix(end.utf8CodeUnitCount).elementsEqual("\(end)".utf8)
    }
}
