import Addresses
import Claims
import Secrets
import Subprocess

/// A git server's answer to a request without credentials.
///
/// git sends the request, as it would before it asks for a credential, with its own proxies and certificates. lanyard
/// itself speaks no HTTP.
enum ServerAnswer: Sendable, Equatable {
    /// The values of its `WWW-Authenticate` headers, which have at least one challenge.
    case challenges([String])
    /// The server needs no sign-in for the URL.
    case open
    /// The server names no way to sign in; git's words, fit to show.
    case none(String)
    /// The server can't be asked; the reason, fit to show.
    case unreachable(String)

    /// The time limit for a server.
    private static let patience = Duration.seconds(10)

    /// Asks the server of a URL, without credentials and without following redirects.
    static func asking(_ url: String, in context: CommandContext) async -> ServerAnswer {
        await within(patience) { await asked(url, context) }
            ?? .unreachable("it did not answer within \(patience.components.seconds) seconds")
    }

    private static func asked(_ url: String, _ context: CommandContext) async -> ServerAnswer {
        var settings = ["credential.helper=", "http.followRedirects=false"]
        // A header that the user has configured for this URL may be a sign-in. A key on git's command line ends at `=`.
        if !url.utf8.contains(UInt8(ascii: "=")) { settings.append("http.\(url).extraHeader=") }
        do throws(Failure) {
            let run = try await Git(context: context).run(
                ["-C", "/"] + settings.flatMap { ["-c", $0] } + ["ls-remote", "--", url, "HEAD"],
                with: [
                    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "GIT_ALLOW_PROTOCOL": "https:http",
                    "GIT_TRACE_CURL": "1", "GIT_TRACE_CURL_NO_DATA": "1",
                ])
            return ServerAnswer(run)
        } catch {
            return .unreachable(error.message)
        }
    }

    /// Reads git's trace of its conversation with the server.
    init(_ run: Git.Output) {
        let headers = run.errors.pieces(between: "\n").compactMap(Self.challenge)
        guard AuthenticateChallenge.read(headers).isEmpty else {
            self = .challenges(headers)
            return
        }
        let prefix = "fatal: "
        let said = run.errors.pieces(between: "\n").last { $0.utf8.starts(with: prefix.utf8) }
        let words = said.map { $0.utf8.dropFirst(prefix.utf8.count) }.map { String(Substring($0)) }
        guard run.status != 0 else {
            self = .open
            return
        }
        let reason = words.flatMap(Self.reasonUnreachable)?.displayable(limit: 300)
        self = reason.map(Self.unreachable) ?? .none((words ?? "git got no answer").displayable(limit: 300))
    }

    /// Returns git's reason why the URL couldn't be read; nil if the server answered, or if git's words aren't about
    /// that.
    private static func reasonUnreachable(_ words: String) -> String? {
        guard words.utf8.starts(with: "unable to access '".utf8), let mark = words.utf8.firstRange(of: "': ".utf8)
        else { return nil }
        let reason = words[mark.upperBound...]
        // curl's words for an HTTP error.
        return reason.hasBytes("returned error: ") ? nil : String(reason)
    }

    /// Returns the value of a `WWW-Authenticate` header in a line of git's trace; nil for any other line.
    private static func challenge(_ line: Substring) -> String? {
        guard let mark = line.utf8.firstRange(of: "<= Recv header: ".utf8),
            let (name, value) = line[mark.upperBound...].cut(at: ":"), name.lowercased() == "www-authenticate"
        else { return nil }
        return String(value.trimmed(of: " \r"))
    }

    /// The reason why the server can't be asked; nil if it answered.
    var reasonUnreachable: String? {
        if case .unreachable(let reason) = self { reason } else { nil }
    }

    /// The values of the server's `WWW-Authenticate` headers; empty if it names no way to sign in.
    var headers: [String] { if case .challenges(let headers) = self { headers } else { [] } }

    /// The server's challenges; empty if it names no way to sign in.
    var challenges: [AuthenticateChallenge] { AuthenticateChallenge.read(headers) }

    /// The realms in the server's challenges.
    var realms: [String] { challenges.compactMap { $0.parameters["realm"] } }

    /// The URL of the document with the server's requirements (RFC 9728); nil if it names none.
    var resourceMetadata: String? {
        challenges.lazy.compactMap { $0.parameters["resource_metadata"] }.first { !$0.isEmpty }
    }
}
