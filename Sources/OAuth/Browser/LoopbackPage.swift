import Addresses
import Secrets

/// The page that the browser shows after the redirect.
///
/// It is self-contained, has no scripts or animation, and works with screen readers, in dark mode and on phones. It
/// says what happened and what to do. Details of the sign-in appear only on a page that ends it; no other requester
/// gets one.
package struct LoopbackPage: LoopbackAnswer, Equatable {
    /// The page's icon, which shows the result at a glance; the text says the same.
    package enum Sign: String, Sendable {
        case done = "✓"
        /// The sign-in ended without success.
        case stopped = "×"
        /// The sign-in continues.
        case wait = "…"
    }

    /// A labelled value on the page.
    package struct Fact: Sendable, Equatable {
        let name: String
        let value: String

        /// Creates a fact; nil if the value is missing or empty.
        package init?(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return nil }
            self.name = name
            self.value = value.displayable(limit: 300)
        }
    }

    package let status: Int
    let sign: Sign
    let title: String
    let text: String
    /// The authority's own words, unchanged; nil if it gave none.
    package var quote: String?
    /// The details that an administrator needs if a sign-in fails.
    package var report: [Fact] = []
    /// The account that signed in, and the resource or authority.
    package var facts: [Fact] = []
    /// Whether the page shows the final result of the sign-in.
    var isLast: Bool { status == 200 }

    /// Creates a page with a sign-in's result, for results that are specific to one kind of authority.
    ///
    /// - Parameters:
    ///   - sign: The icon.
    ///   - title: A few words.
    ///   - text: What happened and what to do, in sentences.
    package init(_ sign: Sign, title: String, text: String) {
        self.init(status: 200, sign: sign, title: title, text: text)
    }

    private init(status: Int, sign: Sign, title: String, text: String) {
        self.status = status
        self.sign = sign
        self.title = title.displayable(limit: 100)
        self.text = text.displayable(limit: 1000)
    }

    /// Creates the page for an error: the user's cancellation, or any other failure.
    package init(after error: OAuthError) {
        guard error.kind != .cancelled, !error.isDenial else {
            self = .declined
            return
        }
        self = .failure
        quote = error.message
    }

    /// The sign-in succeeded.
    package static let success = LoopbackPage(
        .done, title: "You are signed in", text: "You can close this page and go back to what you were doing.")
    /// The user cancelled the sign-in.
    package static let declined = LoopbackPage(
        .stopped, title: "You cancelled the sign-in",
        text: "Nothing was stored. Start again to sign in. You can close this page.")
    /// The sign-in failed.
    package static let failure = LoopbackPage(
        .stopped, title: "Sign-in failed",
        text: "Nothing was stored. Go back to where you started it to see what to do. You can close this page.")
    /// It took too long.
    package static let expired = LoopbackPage(
        .stopped, title: "Sign-in timed out",
        text: "It took too long, so nothing was stored. Start again to sign in. "
            + "You can close this page.")
    static let wrongState = LoopbackPage(
        status: 400, sign: .stopped, title: "This answer belongs to another sign-in",
        text: "It was not used. Finish the sign-in on the page that lanyard opened last, or start again.")
    static let codeInAddress = LoopbackPage(
        status: 405, sign: .stopped, title: "This answer was sent the wrong way",
        text: "The code was in the page’s address, where it can leak, so it was not used. Start the sign-in again.")
    static let notHere = LoopbackPage(
        status: 404, sign: .wait, title: "Nothing here",
        text: "lanyard is waiting at this port for a sign-in to finish.")
    static let wrongMethod = LoopbackPage(
        status: 405, sign: .wait, title: "A sign-in is under way",
        text: "lanyard is waiting for it to finish in your browser.")
    static let wrongHost = LoopbackPage(
        status: 421, sign: .stopped, title: "Wrong host", text: "lanyard answers here only as localhost.")
    package static let otherUser = LoopbackPage(
        status: 403, sign: .stopped, title: "This browser belongs to another user",
        text: "Only the user of this computer who started a sign-in can finish it, so the answer was not used.")
    static let wrongType = LoopbackPage(
        status: 415, sign: .stopped, title: "This is not an answer to a sign-in",
        text: "It was not used. Finish the sign-in on the page that lanyard opened last, or start again.")
    static let tooLarge = LoopbackPage(
        status: 413, sign: .stopped, title: "This answer is too large",
        text: "It was not used. Start the sign-in again.")

    /// The response headers.
    package var headers: [(String, String)] { status == 405 ? Self.headers + [("allow", "POST")] : Self.headers }

    /// The headers of every page: nothing may be loaded, framed, cached or sent as a referrer.
    ///
    /// The icon is embedded in the page.
    static let headers: [(String, String)] = [
        ("content-type", "text/html; charset=utf-8"),
        (
            "content-security-policy",
            "default-src 'none'; style-src 'sha256-\(LoopbackStyle.digest)'; img-src data:; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'"
        ),
        ("cache-control", "no-store"), ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff"),
        ("connection", "close"),
    ]

    /// The response body: the HTML document; every text in it is escaped.
    package var content: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title.htmlEscaped) · lanyard</title>
        <link rel="icon" href="\(LoopbackStyle.icon)">
        <style>\(LoopbackStyle.text)</style>
        </head>
        <body>
        <main>
        <p class="brand"><span class="mark" aria-hidden="true"></span>lanyard</p>
        <p class="sign \(sign)" aria-hidden="true">\(sign.rawValue)</p>
        <h1 tabindex="-1" autofocus>\(title.htmlEscaped)</h1>
        <p>\(text.htmlEscaped)</p>
        \(details)</main>
        <footer><p>This page comes from lanyard on your own computer.</p></footer>
        </body>
        </html>

        """
    }

    private var details: String {
        let words = quote.map { "<blockquote>\($0.displayable(limit: 600).htmlEscaped)</blockquote>\n" } ?? ""
        guard !report.isEmpty else { return words + Self.list(facts) }
        return words + "<section>\n<p>If you ask your administrator for help, send this along:</p>\n"
            + Self.list(report + facts) + "</section>\n"
    }

    private static func list(_ facts: [Fact]) -> String {
        guard !facts.isEmpty else { return "" }
        let lines = facts.map { "<dt>\($0.name.htmlEscaped)</dt><dd>\($0.value.htmlEscaped)</dd>\n" }
        return "<dl>\n\(lines.joined())</dl>\n"
    }
}
