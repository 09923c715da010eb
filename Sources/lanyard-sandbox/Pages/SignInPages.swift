/// The contents of the sign-in page.
struct SignInPage {
    let form: InteractionForm
    let hint: String?
    let message: String?
    let authority: AuthorityPath
    let world: World
}

extension Pages {
    static func signIn(_ page: SignInPage) -> HTML {
        let isB2C = page.authority.realm.policy != nil
        return layout(
            "Sign in",
            """
            <h1>Sign in</h1>
            <p class="who">\(place(page.authority.realm))</p>
            \(alert(page.message))
            \(passwordForm(page.form, asking: isB2C ? "Email address" : "Username", hint: page.hint))
            \(isB2C ? b2cWays(page.form) : nil)
            \(whoIsThere(page))
            """)
    }

    /// Returns the additional buttons of B2C's page.
    private static func b2cWays(_ form: InteractionForm) -> HTML {
        form.form(
            """
            <p class="links">
            <button class="link" type="submit" name="b2c" value="forgot">Forgot your password?</button>
            <button class="link" type="submit" name="b2c" value="signup">Sign up now</button>
            <button class="link" type="submit" name="b2c" value="cancel">Cancel</button>
            </p>
            """)
    }

    /// Returns the list of users and passwords, because this is a sandbox.
    private static func whoIsThere(_ page: SignInPage) -> HTML? {
        let directory = page.world.directory
        let people = directory.users.filter { page.authority.realm.admits($0, in: directory) }.prefix(8)
        guard let first = people.first else { return nil }
        let names = people.map(\.username).joined(separator: ", ")
        guard people.allSatisfy({ $0.password == first.password }) else {
            return "<p class=\"hint\">In this sandbox: \(names).</p>"
        }
        return "<p class=\"hint\">In this sandbox: \(names). The password is <code>\(first.password)</code>.</p>"
    }

    static func place(_ realm: Realm) -> String {
        switch realm {
        case .common: "with your work, school or personal account"
        case .organizations: "with your work or school account"
        case .consumers: "with your personal account"
        case .tenant(let tenant), .policy(let tenant, _): "to continue to \(tenant.name)"
        }
    }

    static func picker(_ accounts: [SignedIn], form: InteractionForm, _ directory: Directory) -> HTML {
        let buttons = accounts.map { account -> HTML in
            """
            <li><button type="submit" name="account" value="\(account.username)">
            <strong>\(directory.user(account.username)?.name ?? account.username)</strong>
            <small>\(account.username) · signed in</small></button></li>
            """
        }
        return layout(
            "Pick an account",
            """
            <h1>Pick an account</h1>
            \(form.form("""
                <ul class="accounts">
                \(HTML(joining: buttons))
                <li><button type="submit" name="account" value="other"><strong>Use another account</strong></button></li>
                </ul>
                """))
            """)
    }

    static func create(
        form: InteractionForm, _ authority: AuthorityPath, _ directory: Directory, message: String? = nil
    ) -> HTML {
        layout(
            "Create an account",
            """
            <h1>Create an account</h1>
            <p class="who">\(place(authority.realm))</p>
            \(alert(message))
            \(form.form("""
                <label for="new_username">Email address</label>
                <input id="new_username" name="new_username" type="email" autocomplete="username" required autofocus>
                <label for="new_name">Display name</label>
                <input id="new_name" name="new_name" type="text" autocomplete="name">
                <label for="new_passwd">Password</label>
                <input id="new_passwd" name="new_passwd" type="password" autocomplete="new-password" required>
                <div class="buttons"><button class="go" type="submit">Create</button></div>
                """))
            """)
    }

    static func consent(_ client: Client, _ user: User, _ permissions: [String], form: InteractionForm) -> HTML {
        let items = permissions.map { permission in "<li>\(permission)</li>" as HTML }
        return layout(
            "Permissions requested",
            """
            <p class="who">\(user.username)</p>
            <h1>Permissions requested</h1>
            <p><strong>\(client.name)</strong> asks for:</p>
            <ul class="permissions">\(HTML(joining: items))</ul>
            \(form.form("""
                <div class="buttons">
                <button class="go" type="submit" name="consent" value="accept">Accept</button>
                <button type="submit" name="consent" value="decline">Decline</button>
                </div>
                """))
            """)
    }

    static func proof(user: User, context: String, form: InteractionForm) -> HTML {
        layout(
            "Prove it's you",
            """
            <p class="who">\(user.username)</p>
            <h1>Prove it's you</h1>
            <p>What you are opening asks for a second proof (authentication context <code>\(context)</code>).
            A real tenant would ring your phone now.</p>
            \(form.form("""
                <div class="buttons">
                <button class="go" type="submit" name="proof" value="approve">Approve</button>
                <button type="submit" name="proof" value="deny">Deny</button>
                </div>
                """))
            """)
    }
}
