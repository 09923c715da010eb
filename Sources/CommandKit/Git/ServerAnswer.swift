import Addresses
package import Claims
import Secrets
import Subprocess
import Terminal

/// A git server's answer to a request without credentials.
///
/// git sends the request, as it would before it asks for a credential, with its own proxies and the certificates that it
/// trusts. Nothing in the request says who asks: neither `.netrc`, cookies, headers of the user's and a ticket of Kerberos,
/// nor a rewritten URL. lanyard itself speaks no HTTP.
package enum ServerAnswer: Sendable, Equatable {
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
    package static func asking(_ url: String, in context: CommandContext) async -> ServerAnswer {
        await within(patience) { await asked(url, context) }
            ?? .unreachable("it did not answer within \(patience.components.seconds) seconds")
    }

    private static func asked(_ url: String, _ context: CommandContext) async -> ServerAnswer {
        do throws(CommandError) {
            // An empty value would be an error, and every other value is a certificate.
            guard await !GitConfiguration(context).hasClientCertificate(for: url) else {
                return .unreachable("git would sign in with a client certificate (http.sslCert)")
            }
            let home = try HomeWithoutPasswords.make(context)
            let settings = try home.write(settings(for: url), to: "lanyard-settings")
            let run = try await Git(context: context).run(
                ["-C", "/", "-c", "include.path=\(settings)", "ls-remote", "--", url, "HEAD"],
                with: [
                    "HOME": home.path, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "",
                    "GIT_ALLOW_PROTOCOL": "https:http",
                    "GIT_TRACE_CURL": "1", "GIT_TRACE_CURL_NO_DATA": "1",
                ])
            return ServerAnswer(run)
        } catch {
            return .unreachable(error.message.text)
        }
    }

    /// Returns git's settings for a request that signs nobody in.
    ///
    /// They come last and name the whole URL, so no other ones replace them, whatever these are for. The longest
    /// `insteadOf` counts, and another one could add a password to the URL.
    private static func settings(for url: String) -> String {
        let quoted = "\"\(url.replacing(bytes: "\\", with: "\\\\").replacing(bytes: "\"", with: "\\\""))\""
        let http = """
            followRedirects = false
            emptyAuth = false
            proactiveAuth = none
            saveCookies = false
            cookieFile =
            extraHeader =

            """
        return """
            [credential]
            helper =
            [url \(quoted)]
            insteadOf = \(quoted)
            [http]
            \(http)[http \(quoted)]
            \(http)
            """
    }

    /// Reads git's trace of its conversation with the server.
    package init(_ run: Git.Output) {
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
        guard words.utf8.starts(with: "unable to access '".utf8), let (_, reason) = words.cut(atText: "': ")
        else { return nil }
        // curl's words for an HTTP error.
        return reason.hasBytes("returned error: ") ? nil : String(reason)
    }

    /// Returns the value of a `WWW-Authenticate` header in a line of git's trace; nil for any other line.
    private static func challenge(_ line: Substring) -> String? {
        guard let (_, header) = line.cut(atText: "<= Recv header: "),
            let (name, value) = header.cut(at: ":"), name.lowercased() == "www-authenticate"
        else { return nil }
        return String(value.trimmed(of: " \r"))
    }

    /// The reason why the server can't be asked; nil if it answered.
    package var reasonUnreachable: String? {
        if case .unreachable(let reason) = self { reason } else { nil }
    }

    /// The values of the server's `WWW-Authenticate` headers; empty if it names no way to sign in.
    package var headers: [String] { if case .challenges(let headers) = self { headers } else { [] } }

    /// The server's challenges; empty if it names no way to sign in.
    package var challenges: [AuthenticateChallenge] { AuthenticateChallenge.read(headers) }

    /// The realms in the server's challenges.
    package var realms: [String] { challenges.compactMap { $0.parameters["realm"] } }

    /// The URL of the document with the server's requirements (RFC 9728); nil if it names none.
    package var resourceMetadata: String? {
        challenges.lazy.compactMap { $0.parameters["resource_metadata"] }.first { !$0.isEmpty }
    }
}
