/// The pages of the code hosts.
extension Pages {
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

    static func refusal(_ failure: HostFailure) -> HTML {
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
}

extension HostSite {
    /// The host's name on its pages.
    fileprivate var name: String {
        switch style {
        case .issuer: "an OpenID Connect issuer"
        case .forge: "a host that works as GitHub does"
        case .gitea: "a host that works as Gitea does"
        }
    }
}
