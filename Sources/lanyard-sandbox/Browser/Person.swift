/// The user of the scripted browser, and the user's input on each page.
struct Person: Sendable {
    let username: String?
    let password: String
    let declines: Bool
    /// The button to press on B2C's page instead of signing in: `cancel` or `forgot`.
    let way: String?
    let userCode: String?

    private static let mostPages = 15

    /// Submits page after page until there is no form left, and returns the last page.
    ///
    /// - Throws: `SandboxError` if a page says no or asks for something this person doesn't have.
    @discardableResult
    func signIn(from first: LoadedPage, in browser: inout ScriptedBrowser) async throws -> LoadedPage {
        var page = first
        var hasTypedPassword = false
        for _ in 0..<Self.mostPages {
            guard page.status < 400 else {
                throw SandboxError(page.document.alert ?? "the page answers \(page.status): \(page.document.title)")
            }
            if page.isLoopbackRedirect { return page }
            guard let step = try step(on: page.document) else { return page }
            if step.isPassword, hasTypedPassword {
                throw SandboxError(page.document.alert ?? "the page asks for the password again")
            }
            hasTypedPassword = hasTypedPassword || step.isPassword
            page = try await browser.submit(step.form, step.button, filling: step.values, on: page)
        }
        throw SandboxError("the sign-in doesn't come to an end")
    }

    private struct Step {
        var form: HTMLDocument.Form
        var button: HTMLDocument.Field?
        var values: [String: String] = [:]
        var isPassword = false
    }

    private func step(on document: HTMLDocument) throws -> Step? {
        for form in document.forms {
            if let step = try step(in: form, of: document) { return step }
        }
        return document.forms.first.map { Step(form: $0, button: $0.buttons.first) }
    }

    private func step(in form: HTMLDocument.Form, of document: HTMLDocument) throws -> Step? {
        if let way, document.forms.contains(where: { $0.button("b2c", way) != nil }) {
            return form.button("b2c", way).map { Step(form: form, button: $0) }
        }
        if let field = form.field("otc") { return try typeCode(form, field, document) }
        if form.button("account") != nil { return pick(form) }
        if let field = form.field("loginfmt") { return try typePassword(form, field) }
        if form.field("new_username") != nil { return try create(form) }
        if form.field("reset_username") != nil { return try reset(form) }
        if form.field("profile_name") != nil { return Step(form: form, button: form.buttons.first) }
        let answers =
            declines
            ? [("consent", "decline"), ("device", "decline"), ("proof", "deny")]
            : [("consent", "accept"), ("device", "approve"), ("proof", "approve")]
        return answers.lazy.compactMap { form.button($0, $1) }.first.map { Step(form: form, button: $0) }
    }

    private func typeCode(
        _ form: HTMLDocument.Form, _ field: HTMLDocument.Field, _ document: HTMLDocument
    ) throws -> Step {
        if let alert = document.alert { throw SandboxError(alert) }
        guard let code = userCode ?? (field.value.isEmpty ? nil : field.value) else {
            throw SandboxError("the page asks for a device's code: give it with --code")
        }
        return Step(form: form, button: form.buttons.first, values: ["otc": code])
    }

    private func pick(_ form: HTMLDocument.Form) -> Step {
        let own = form.buttons.first { $0.name == "account" && $0.value.lowercased() == username?.lowercased() }
        return Step(form: form, button: own ?? form.button("account", "other"))
    }

    private func typePassword(_ form: HTMLDocument.Form, _ field: HTMLDocument.Field) throws -> Step {
        guard let username = username ?? [field.value, field.placeholder].first(where: { !$0.isEmpty }) else {
            throw SandboxError("the page asks who signs in: say so with --as or LANYARD_SANDBOX_USER")
        }
        let values = ["loginfmt": username, "passwd": password]
        return Step(form: form, button: form.buttons.first, values: values, isPassword: true)
    }

    private func reset(_ form: HTMLDocument.Form) throws -> Step {
        guard let username else { throw SandboxError("the page asks whose password to reset: say so with --as") }
        let values = ["reset_username": username, "new_passwd": password]
        return Step(form: form, button: form.buttons.first, values: values, isPassword: true)
    }

    private func create(_ form: HTMLDocument.Form) throws -> Step {
        guard let username else { throw SandboxError("the page asks for a new username: give it with --as") }
        let values = ["new_username": username, "new_name": username, "new_passwd": password]
        return Step(form: form, button: form.buttons.first, values: values, isPassword: true)
    }
}
