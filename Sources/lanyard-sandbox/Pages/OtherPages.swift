extension Pages {
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
    static func refusal(_ failure: OAuthFailure, _ visit: Visit) -> HTML {
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
