import Crypto
import FoundationEssentials

/// The page that a browser shows when it comes back.
///
/// It is self-contained, without script or motion, readable aloud, in the dark and on a phone. It tells what happened and what
/// to do, and never anything of what came.
package struct LoopbackPage: Sendable, Equatable {
    /// What the page's sign says at a glance; the words say it too.
    package enum Sign: String, Sendable {
        case done = "✓"
        /// It is over, and isn't done.
        case stopped = "×"
        /// It goes on.
        case wait = "…"
    }

    let status: Int
    let sign: Sign
    let title: String
    let text: String
    /// Whether it tells how the sign-in ended.
    var isLast: Bool { status == 200 }

    /// A page that tells how a sign-in ended, for what only one kind of authority knows.
    ///
    /// - Parameters:
    ///   - sign: what it says at a glance.
    ///   - title: a few words; as HTML, like the text.
    ///   - text: what happened and what to do.
    package init(_ sign: Sign, title: String, text: String) {
        self.init(status: 200, sign: sign, title: title, text: text)
    }

    private init(status: Int, sign: Sign, title: String, text: String) {
        self.status = status
        self.sign = sign
        self.title = title
        self.text = text
    }

    /// The page after an error: for an end by the person, or for all else.
    package init(after error: OAuthError) {
        self = error.kind == .cancelled || error.isDenial ? .declined : .failure
    }

    /// All went well.
    package static let success = LoopbackPage(
        status: 200, sign: .done, title: "You are signed in",
        text: "Return to your terminal; it goes on by itself. You can close this page.")
    /// The person ended it.
    package static let declined = LoopbackPage(
        status: 200, sign: .stopped, title: "Sign-in was cancelled",
        text: "Nothing was stored. Return to your terminal; it says how to try again. You can close this page.")
    /// It did not work.
    package static let failure = LoopbackPage(
        status: 200, sign: .stopped, title: "Sign-in did not work",
        text: "Nothing was stored. Return to your terminal; it says why, and what to do. You can close this page.")
    /// It took too long.
    package static let expired = LoopbackPage(
        status: 200, sign: .stopped, title: "Sign-in took too long",
        text: "The time for it was over, so nothing was stored. Return to your terminal; it says how to try again. "
            + "You can close this page.")
    static let wrongState = LoopbackPage(
        status: 400, sign: .stopped, title: "This answer belongs to another sign-in",
        text: "It was not used. Finish the sign-in on the page that your terminal opened last, or start again there.")
    static let codeInAddress = LoopbackPage(
        status: 405, sign: .stopped, title: "This answer came the wrong way",
        text: "The code was in the page’s address, where it can leak, so it was not used. Return to your terminal and "
            + "start the sign-in again.")
    static let notHere = LoopbackPage(
        status: 404, sign: .wait, title: "Nothing is here", text: "lanyard waits at this port for a sign-in to finish.")
    static let wrongMethod = LoopbackPage(
        status: 405, sign: .wait, title: "A sign-in is under way",
        text: "lanyard waits here for it to finish in your browser.")
    static let wrongHost = LoopbackPage(
        status: 421, sign: .stopped, title: "Wrong host", text: "lanyard answers here as localhost only.")
    static let otherUser = LoopbackPage(
        status: 403, sign: .stopped, title: "This browser is another user’s",
        text: "A sign-in can be finished only by the user of this computer who started it, so the answer was not used. "
            + "Return to your terminal.")
    static let wrongType = LoopbackPage(
        status: 415, sign: .stopped, title: "This is no answer to a sign-in",
        text: "It was not used. Return to your terminal.")
    static let tooLarge = LoopbackPage(
        status: 413, sign: .stopped, title: "This answer is too large",
        text: "It was not used. Return to your terminal and start the sign-in again.")

    /// What is sent besides the page: nothing may be loaded, framed, kept or told onwards.
    static let headers: [(String, String)] = [
        ("content-type", "text/html; charset=utf-8"),
        (
            "content-security-policy",
            "default-src 'none'; style-src 'sha256-\(styleDigest)'; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'"
        ),
        ("cache-control", "no-store"), ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff"),
        ("connection", "close"),
    ]

    /// The document; its texts are fixed ones, so nothing is escaped.
    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <p class="\(sign)" aria-hidden="true">\(sign.rawValue)</p>
        <h1 tabindex="-1" autofocus>\(title)</h1>
        <p>\(text)</p>
        </main>
        </body>
        </html>

        """
    }

    private static let styleDigest = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
    /// Every pair of colours has a contrast of more than 7:1 (WCAG 2.2, 1.4.6).
    private static let style = """
        :root{color-scheme:light dark;--page:#f6f7f9;--text:#1b1f24;--done:#0b5a2b;--stopped:#8a1c1c;--wait:#3d444d}
        body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--page);color:var(--text);
        font:1.125rem/1.5 system-ui,sans-serif}
        main{box-sizing:border-box;width:100%;max-width:34rem;padding:2rem 1.5rem;border-inline-start:.375rem solid}
        main:has(.done){border-color:var(--done)}
        main:has(.stopped){border-color:var(--stopped)}
        main:has(.wait){border-color:var(--wait)}
        h1{font-size:1.75rem;line-height:1.25;margin:0 0 .75rem;overflow-wrap:anywhere}
        h1:focus{outline:none}
        p{margin:0}
        .done,.stopped,.wait{font-size:2.25rem;line-height:1;font-weight:700;margin:0 0 1rem}
        .done{color:var(--done)}
        .stopped{color:var(--stopped)}
        .wait{color:var(--wait)}
        @media (prefers-color-scheme:dark){
        :root{--page:#14171a;--text:#e8eaed;--done:#6fdc97;--stopped:#ff9d97;--wait:#b6bec9}}
        """
}
