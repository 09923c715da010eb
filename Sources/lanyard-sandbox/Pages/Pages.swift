import Addresses

/// The hidden part of each form: its action and its interaction.
struct InteractionForm: Sendable {
    let action: String
    let id: String

    func form(_ content: HTML) -> HTML {
        """
        <form method="post" action="\(action)">
        <input type="hidden" name="ctx" value="\(id)">
        \(content)
        </form>
        """
    }

    /// Returns a form with two buttons of one name, the first for going on.
    func choice(
        _ name: String, yes: (value: String, label: String), no: (value: String, label: String)
    ) -> HTML {
        form(
            """
            <div class="buttons">
            <button class="go" type="submit" name="\(name)" value="\(yes.value)">\(yes.label)</button>
            <button type="submit" name="\(name)" value="\(no.value)">\(no.label)</button>
            </div>
            """)
    }
}

/// The pages for the user.
///
/// They work without scripts and are readable without styles.
enum Pages {
    static func layout(_ title: String, _ content: HTML, script: HTML? = nil) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>\(title) · lanyard sandbox</title>
        <style>\(stylesheet)</style>
        </head>
        <body>
        <main>
        <p class="brand"><span class="mark" aria-hidden="true"></span>lanyard sandbox</p>
        \(content)
        </main>
        <footer><p>A local stand-in for Microsoft Entra, made for tests. Nothing typed here leaves this computer.</p></footer>
        \(script)
        </body>
        </html>
        """
    }

    /// What went wrong before, if something did.
    static func alert(_ message: String?) -> HTML? {
        message.map { "<p class=\"alert\" role=\"alert\">\($0)</p>" }
    }

    /// The form for a user name and a password.
    static func passwordForm(_ form: InteractionForm, asking label: String, hint: String?, example: String?) -> HTML {
        form.form(
            """
            <label for="loginfmt">\(label)</label>
            <input id="loginfmt" name="loginfmt" type="text" autocomplete="username" autocapitalize="none"
              spellcheck="false" required placeholder="\(example ?? "")" value="\(hint ?? "")" \(hint == nil ? "autofocus" : "")>
            <label for="passwd">Password</label>
            <input id="passwd" name="passwd" type="password" autocomplete="current-password" required
              \(hint == nil ? "" : "autofocus")>
            <div class="buttons"><button class="go" type="submit">Sign in</button></div>
            """)
    }

    private static let stylesheet: HTML = """
        :root {
          --ground: #f3f1ec; --card: #ffffff; --ink: #1d2230; --soft: #5b6272; --line: #d5d3cc; --accent: #1a5fb4;
          --on-accent: #ffffff; --hover: #eef2f8; --bad: #a51d2d; --hint: #f7f3e3;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #14161c; --card: #1e212a; --ink: #eceef3; --soft: #a7aebd; --line: #3a3f4c; --accent: #8ab8f5;
            --on-accent: #10141c; --hover: #282d39; --bad: #ff9a9a; --hint: #2a2a22;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center;
          justify-content: center; gap: 1.25rem; padding: 1.5rem 1rem; background: var(--ground); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
        }
        main {
          width: 100%; max-width: 27.5rem; background: var(--card); border: 1px solid var(--line);
          border-radius: .75rem; padding: 2rem; box-shadow: 0 .5rem 2rem rgb(0 0 0 / .07);
        }
        .brand {
          display: flex; align-items: center; gap: .6rem; margin: 0 0 1.25rem; color: var(--soft); font-size: .9rem;
        }
        .mark {
          width: 1.1rem; height: 1.1rem; border: .25rem solid var(--accent); border-radius: 50%;
          border-bottom-color: transparent;
        }
        h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 600; margin: 0 0 .5rem; }
        p { margin: 0 0 1rem; }
        p.who { color: var(--soft); overflow-wrap: anywhere; }
        label { display: block; font-weight: 600; margin: 0 0 .3rem; }
        input:not([type=hidden]) {
          width: 100%; font: inherit; color: inherit; background: transparent; border: 1px solid var(--soft);
          border-radius: .4rem; padding: .6rem .7rem; margin: 0 0 1rem;
        }
        input.code { letter-spacing: .2em; text-transform: uppercase; font-family: ui-monospace, monospace; }
        button {
          font: inherit; font-weight: 600; border-radius: .4rem; border: 1px solid var(--soft); padding: .55rem 1.2rem;
          background: transparent; color: inherit; cursor: pointer;
        }
        button:hover { background: var(--hover); }
        button.go { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        button.go:hover { filter: brightness(1.08); }
        button.link { border: 0; padding: 0; color: var(--accent); font-weight: 400; text-decoration: underline; }
        .links { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; margin: 1.25rem 0 0; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .buttons { display: flex; flex-direction: row-reverse; gap: .75rem; margin-top: .5rem; }
        .accounts { display: grid; gap: .6rem; margin: 1rem 0 0; padding: 0; list-style: none; }
        .accounts button { width: 100%; text-align: left; padding: .75rem 1rem; font-weight: 400; }
        .accounts strong, .accounts small { display: block; overflow-wrap: anywhere; }
        small { color: var(--soft); }
        ul.permissions { margin: 0 0 1rem; padding-left: 1.2rem; }
        .alert { color: var(--bad); font-weight: 600; }
        .hint { background: var(--hint); border-radius: .4rem; padding: .7rem .9rem; margin: 1.25rem 0 0; font-size: .9rem; }
        code, pre { font-family: ui-monospace, "Cascadia Mono", Menlo, monospace; font-size: .9em; }
        dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem .8rem; font-size: .85rem; color: var(--soft); }
        dd { margin: 0; overflow-wrap: anywhere; }
        footer { max-width: 27.5rem; text-align: center; color: var(--soft); font-size: .85rem; }
        footer p { margin: 0; }
        """

    // The pages of the code hosts.

    static func signIn(at site: HostSite, form: InteractionForm, hint: String?, message: String?) -> HTML {
        let people = site.world.directory.users
        let names = people.prefix(8).map(\.login).joined(separator: ", ")
        return layout(
            "Sign in",
            """
            <h1>Sign in</h1>
            <p class="who">to \(site.name)</p>
            \(alert(message))
            \(passwordForm(form, asking: "Username or email address", hint: hint, example: people.first?.login))
            <p class="hint">In this sandbox: \(names). The passwords are in <code>users.toml</code>.</p>
            """)
    }

    static func refusal(_ failure: HostError) -> HTML {
        layout(
            "Sign-in failed",
            """
            <h1>We couldn't sign you in</h1>
            <p role="alert">\(failure.error): \(failure.message)</p>
            """)
    }

    static func front(of site: HostSite) -> HTML {
        let people = site.world.directory.users.map { user -> HTML in "<li>\(user.login) (\(user.name))</li>" }
        return layout(
            "Welcome",
            """
            <h1>This is a sandbox</h1>
            <p>\(site.name), with made-up people:</p>
            <ul class="permissions">\(HTML(joining: people))</ul>
            """)
    }

    static let nothingHere = layout("Not found", "<h1>There is nothing here</h1>")

    /// Returns a page that posts a response to the client (OAuth 2.0 Form Post Response Mode).
    static func formPost(_ fields: Form, to uri: String, scriptNonce: String) -> HTML {
        let inputs = fields.fields.map { field -> HTML in
            "<input type=\"hidden\" name=\"\(field.name)\" value=\"\(field.value)\">"
        }
        return layout(
            "Signing you in",
            """
            <h1>Signing you in…</h1>
            <form id="answer" method="post" action="\(uri)">
            \(HTML(joining: inputs))
            <noscript>
            <p>Scripts are off in this browser, so one more step is needed.</p>
            <div class="buttons"><button class="go" type="submit">Continue</button></div>
            </noscript>
            </form>
            """,
            script: "<script nonce=\"\(scriptNonce)\">document.getElementById('answer').submit()</script>")
    }

    /// Returns the page for a refusal that only the user sees.
    static func refusal(_ failure: OAuthErrorResponse, _ visit: Visit) -> HTML {
        layout(
            "Sign-in failed",
            """
            <h1>We couldn't sign you in</h1>
            <p role="alert">\(failure.label): \(failure.message)</p>
            <dl>
            <dt>Correlation ID</dt><dd>\(visit.correlationID)</dd>
            <dt>Timestamp</dt><dd>\(visit.arrived.entraTimestamp)</dd>
            </dl>
            """)
    }

    static let stale = layout(
        "Start again",
        """
        <h1>This page has been used already</h1>
        <p>Go back to the program that sent you here and sign in again.</p>
        """)

    static let notFound = layout(
        "Not found", "<h1>There is nothing here</h1><p>This is the authority's port of a lanyard sandbox.</p>")

    static let signedOut = layout(
        "Signed out", "<h1>You signed out</h1><p>It's a good idea to close all browser windows.</p>")

    static func deviceCode(action: String, code: String = "", isWrong: Bool = false) -> HTML {
        layout(
            "Enter code",
            """
            <h1>Enter code</h1>
            <p>Enter the code that your app or device shows.</p>
            \(alert(isWrong ? "That code didn't work. Check it and try again." : nil))
            <form method="post" action="\(action)">
            <label for="otc">Code</label>
            <input id="otc" class="code" name="otc" type="text" autocomplete="off" autocapitalize="characters"
              spellcheck="false" maxlength="20" required autofocus value="\(code)">
            <div class="buttons"><button class="go" type="submit">Next</button></div>
            </form>
            """)
    }

    static func deviceConfirm(_ client: String, _ user: User, form: InteractionForm) -> HTML {
        layout(
            "Are you signing in to \(client)?",
            """
            <p class="who">\(user.username)</p>
            <h1>Are you trying to sign in to \(client)?</h1>
            <p>Only continue if you started this on your own device and got the code from it yourself.</p>
            \(form.choice("device", yes: ("approve", "Continue"), no: ("decline", "Cancel")))
            """)
    }

    static let deviceDone = layout(
        "Signed in", "<h1>You have signed in on your device</h1><p>You may now close this window.</p>")

    static let deviceDeclined = layout(
        "Not signed in", "<h1>You cancelled the sign-in</h1><p>The device was told. You may close this window.</p>")

    static func front(_ world: World) -> HTML {
        let people = world.directory.users.map { user -> HTML in "<li>\(user.username) (\(user.name))</li>" }
        return layout(
            "Welcome",
            """
            <h1>This is a sandbox</h1>
            <p>An authority that speaks Microsoft Entra's protocols, with made-up people:</p>
            <ul class="permissions">\(HTML(joining: people))</ul>
            <p><a href="/common/v2.0/.well-known/openid-configuration">Discovery document</a> ·
            <a href="/devicelogin">Enter a device code</a></p>
            """)
    }
}

extension HostSite {
    /// The host's name on its pages.
    fileprivate var name: String {
        switch style {
        case .issuer: "an OpenID Connect issuer"
        case .forge: "a host that works as GitHub does"
        case .gitea: "a host that works as \(host.realm) does"
        }
    }
}

/// HTML markup; interpolated text is escaped, interpolated markup isn't.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    var markup: String

    init(stringLiteral value: String) { markup = value }
    init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }
    init(joining parts: [HTML]) { markup = parts.map(\.markup).joined(separator: "\n") }

    struct StringInterpolation: StringInterpolationProtocol {
        var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        mutating func appendLiteral(_ literal: String) { markup += literal }
        mutating func appendInterpolation(_ html: HTML?) { markup += html?.markup ?? "" }
        mutating func appendInterpolation(_ text: some StringProtocol) { markup += text.htmlEscaped }
    }
}
