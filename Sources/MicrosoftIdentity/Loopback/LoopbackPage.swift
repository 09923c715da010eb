import Crypto
import FoundationEssentials

/// The page that a browser shows when it comes back: self-contained, without script, readable aloud and in the dark.
struct LoopbackPage: Sendable, Equatable {
    let status: Int
    let title: String
    let text: String
    /// Whether it tells how the sign-in ended.
    var isLast: Bool { status == 200 }

    static let success = LoopbackPage(
        status: 200, title: "You are signed in", text: "You can close this window and go back to your terminal.")
    static let declined = LoopbackPage(
        status: 200, title: "Sign-in was cancelled", text: "Nothing was stored. You can close this window.")
    static let failure = LoopbackPage(
        status: 200, title: "Sign-in did not work",
        text: "Your terminal says why. You can close this window.")
    static let forgottenPassword = LoopbackPage(
        status: 200, title: "Reset your password",
        text: "The page for it opens by itself; the sign-in goes on after it. You can close this window.")
    static let passwordReset = LoopbackPage(
        status: 200, title: "Your password is reset",
        text: "The sign-in goes on in a page that opens by itself. You can close this window.")
    static let wrongState = LoopbackPage(
        status: 400, title: "This answer belongs to another sign-in",
        text: "It was not used. Finish the sign-in in the window that your terminal opened last, or start again there.")
    static let codeInAddress = LoopbackPage(
        status: 405, title: "This answer came the wrong way",
        text: "The code was in the page's address, where it can leak, so it was not used. Start the sign-in again.")
    static let notHere = LoopbackPage(
        status: 404, title: "Nothing is here", text: "lanyard waits at this port for a sign-in to finish.")
    static let wrongMethod = LoopbackPage(
        status: 405, title: "A sign-in is under way", text: "lanyard waits here for it to finish in your browser.")
    static let wrongHost = LoopbackPage(
        status: 421, title: "Wrong host", text: "lanyard answers here as localhost only.")
    static let wrongType = LoopbackPage(
        status: 415, title: "This is no answer to a sign-in", text: "It was not used.")
    static let tooLarge = LoopbackPage(
        status: 413, title: "This answer is too large", text: "It was not used.")

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

    /// The document; its texts are fixed ones of this file, so nothing is escaped.
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
        <h1>\(title)</h1>
        <p>\(text)</p>
        </main>
        </body>
        </html>

        """
    }

    private static let styleDigest = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
    private static let style = """
        :root{color-scheme:light dark}
        body{margin:0;min-height:100vh;display:grid;place-items:center;background:#f6f7f9;color:#1b1f24;
        font:1.125rem/1.5 system-ui,sans-serif}
        main{max-width:32rem;padding:2rem}
        h1{font-size:1.75rem;line-height:1.25;margin:0 0 .75rem}
        p{margin:0}
        @media (prefers-color-scheme:dark){body{background:#14171a;color:#e8eaed}}
        """
}
