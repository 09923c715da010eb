import Addresses
import Crypto
import FoundationEssentials
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
            "default-src 'none'; style-src 'sha256-\(styleDigest)'; img-src data:; base-uri 'none'; "
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
        <link rel="icon" href="\(Self.icon)">
        <style>\(Self.style)</style>
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

extension LoopbackPage {
    /// lanyard's logo, for the browser tab.
    static let icon =
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
        + "%3Cpath d='M3.4 12.6a6.5 6.5 0 1 1 9.2 0' fill='none' stroke='%231a5fb4' stroke-width='3'/%3E%3C/svg%3E"

    /// The digest that the pages' content security policy allows the style by.
    static let styleDigest = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()

    /// The style sheet; every pair of colours has a contrast of more than 7:1 (WCAG 2.2, 1.4.6).
    static let style = """
        :root{color-scheme:light dark;--ground:#f3f1ec;--card:#fff;--ink:#1d2230;--soft:#474e5d;--line:#d5d3cc;
        --accent:#1a5fb4;--box:#f6f5f1;--done:#0b5a2b;--stopped:#8a1c1c;--wait:#3d444d}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;
        padding:1.5rem 1rem;background:var(--ground);color:var(--ink);
        font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
        main{width:100%;max-width:34rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:2rem;
        box-shadow:0 .5rem 2rem rgb(0 0 0/.07)}
        p{margin:0}
        .brand{display:flex;align-items:center;gap:.6rem;margin:0 0 1.25rem;color:var(--soft);font-size:.9rem}
        .mark{width:1.1rem;height:1.1rem;border:.25rem solid var(--accent);border-radius:50%;border-bottom-color:transparent}
        .sign{display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;margin:0 0 1rem;color:var(--card);
        font-size:1.5rem;line-height:1;font-weight:700}
        .done{background:var(--done)}
        .stopped{background:var(--stopped)}
        .wait{background:var(--wait)}
        h1{font-size:1.5rem;line-height:1.25;font-weight:600;margin:0 0 .5rem;overflow-wrap:anywhere}
        h1:focus{outline:none}
        blockquote{margin:1rem 0 0;padding:0 0 0 .9rem;border-inline-start:.25rem solid var(--stopped);overflow-wrap:anywhere}
        section{margin:1.25rem 0 0;padding:.9rem 1rem;background:var(--box);border-radius:.4rem;font-size:.875rem}
        dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:1.25rem 0 0;font-size:.9rem}
        section dl{margin:.6rem 0 0;font-size:inherit}
        dt{color:var(--soft)}
        dd{margin:0;overflow-wrap:anywhere;user-select:all;-webkit-user-select:all}
        footer{max-width:34rem;text-align:center;color:var(--soft);font-size:.85rem}
        @media (max-width:26rem){main{padding:1.5rem 1.25rem}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .5rem}}
        @media (prefers-color-scheme:dark){
        :root{--ground:#14161c;--card:#1e212a;--ink:#eceef3;--soft:#b6bdcb;--line:#3a3f4c;--accent:#8ab8f5;--box:#262a35;
        --done:#6fdc97;--stopped:#ff9d97;--wait:#b6bec9}}
        """
}
