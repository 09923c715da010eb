import Addresses
import CredentialEngine
import Rules
import Secrets

/// The `GOAUTH` protocol of Go 1.24 and later (`go help goauth`): Go calls once without a URL before the first
/// download, and again with a URL after each 4xx answer, which it writes to stdin.
///
/// The first call returns nothing. Go would cache what it gets for every host that the rules name, and each of them
/// would take a look at the keyring, and perhaps a renewal, for every command that downloads anything.
public struct GoConsumer: Consumer {
    private let arguments: [String]
    private var input = ToolInput()
    private var request = CredentialRequest()

    /// Creates a consumer for the arguments after `goauth`: none, or the URL that Go couldn't load.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Ends without an answer unless there is an https URL; Go asks for no other.
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
        let isWhole =
            bytes.isEmpty || ["\n\n", "\r\n\r\n"].contains { input.all.suffix($0.utf8.count).elementsEqual($0.utf8) }
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

    /// The URL prefixes that Go may use the credential for: the requested URL, everything below it, and all versions of
    /// the module.
    ///
    /// No other rule can match them. Go compares the prefixes with whole URLs, including queries, and cuts segments off
    /// the end.
    private var prefixes: [String] {
        let url = arguments[0]
        let path = url[...].beforeQuery
        var prefixes = [url]
        if path.endIndex < url.endIndex { prefixes.append(String(path)) }
        let segments = path.pieces(between: "/", omittingEmpty: false)
        if let index = segments.lastIndex(where: { $0.isSame(as: "@v") }), index < segments.count - 1 {
            prefixes.append(segments[...index].joined(separator: "/"))
        }
        return prefixes
    }
}
