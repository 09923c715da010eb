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
