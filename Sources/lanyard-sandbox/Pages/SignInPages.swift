extension Pages {
    static func signIn(
        at realm: Realm, of directory: Directory, form: InteractionForm, hint: String?, message: String? = nil
    ) -> HTML {
        let isB2C = realm.policy != nil
        let example = directory.users.first { realm.issuer(for: $0, in: directory) != nil }
        return layout(
            "Sign in",
            """
            <h1>Sign in</h1>
            <p class="who">\(place(realm))</p>
            \(alert(message))
            \(passwordForm(form, asking: isB2C ? "Email address" : "Username", hint: hint, example: example?.username))
            \(isB2C ? b2cWays(form) : nil)
            \(whoIsThere(at: realm, of: directory))
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
    private static func whoIsThere(at realm: Realm, of directory: Directory) -> HTML? {
        let people = directory.users.filter { realm.admits($0, in: directory) }.prefix(8)
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

    static func create(form: InteractionForm, _ realm: Realm, message: String? = nil) -> HTML {
        layout(
            "Create an account",
            """
            <h1>Create an account</h1>
            <p class="who">\(place(realm))</p>
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

    static func consent(_ client: String, _ user: User, _ permissions: [String], form: InteractionForm) -> HTML {
        let items = permissions.map { permission in "<li>\(permission)</li>" as HTML }
        return layout(
            "Permissions requested",
            """
            <p class="who">\(user.username)</p>
            <h1>Permissions requested</h1>
            <p><strong>\(client)</strong> asks for:</p>
            <ul class="permissions">\(HTML(joining: items))</ul>
            \(form.choice("consent", yes: ("accept", "Accept"), no: ("decline", "Decline")))
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
            \(form.choice("proof", yes: ("approve", "Approve"), no: ("deny", "Deny")))
            """)
    }
}

/// The pages of B2C policies other than the sign-in.
extension Pages {
    static func reset(form: InteractionForm, _ realm: Realm, hint: String?, message: String? = nil) -> HTML {
        layout(
            "Reset your password",
            """
            <h1>Reset your password</h1>
            <p class="who">\(place(realm))</p>
            \(alert(message))
            \(form.form("""
                <label for="reset_username">Email address</label>
                <input id="reset_username" name="reset_username" type="email" autocomplete="username" required
                  autofocus value="\(hint ?? "")">
                <label for="new_passwd">New password</label>
                <input id="new_passwd" name="new_passwd" type="password" autocomplete="new-password" required>
                <div class="buttons">
                <button class="go" type="submit">Reset</button>
                <button type="submit" name="b2c" value="cancel" formnovalidate>Cancel</button>
                </div>
                """))
            """)
    }

    static func edit(_ user: User, form: InteractionForm) -> HTML {
        layout(
            "Edit your profile",
            """
            <p class="who">\(user.username)</p>
            <h1>Edit your profile</h1>
            \(form.form("""
                <label for="profile_name">Display name</label>
                <input id="profile_name" name="profile_name" type="text" autocomplete="name" required
                  value="\(user.name)">
                <div class="buttons">
                <button class="go" type="submit">Save</button>
                <button type="submit" name="b2c" value="cancel" formnovalidate>Cancel</button>
                </div>
                """))
            """)
    }
}
