import Addresses
import AsyncHTTPClient
import FoundationEssentials
import JSON
import NIOCore
import NIOHTTP1
import NIOSSL
import Terminal

/// A loaded page, after all redirects.
struct LoadedPage: Sendable {
    let url: URL
    let status: Int
    let document: HTMLDocument

    /// Whether this page came from a program on this computer that listens for its redirect.
    var isLoopbackRedirect: Bool { url.scheme == "http" }
}

/// A browser without a window: it follows redirects, stores cookies and submits forms.
struct ScriptedBrowser {
    private static let mostRedirects = 20
    private static let largestPage = 1024 * 1024

    let client: HTTPClient
    /// The cookies by host and, unlike in real browsers, port, so that two sandboxes never share any.
    private var cookies: [String: [String: String]] = [:]
    /// The file that keeps the cookies for the next run.
    private var jar: URL?
    /// Whether this browser is on another computer, where nothing listens on the loopback port.
    var isElsewhere = false

    private init(client: HTTPClient, jar: URL?) throws {
        self.client = client
        self.jar = jar
        if let jar, let data = try? Data(contentsOf: jar) {
            cookies = try JSONDecoder().decode([String: [String: String]].self, from: data)
        }
    }

    /// Runs the body with a browser that stores its cookies in a file, if one is given.
    static func withBrowser<Result: Sendable>(
        trusting caFile: String?, jar: String?, _ body: (inout ScriptedBrowser) async throws -> Result
    ) async throws -> Result {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let caFile { tls.trustRoots = .file(caFile) }
        return try await HTTPClient.withHTTPClient(
            configuration: .init(tlsConfiguration: tls, redirectConfiguration: .disallow)
        ) { client in
            var browser = try ScriptedBrowser(client: client, jar: jar.map { URL(filePath: $0) })
            return try await body(&browser)
        }
    }

    /// Opens a page as if its address had been typed.
    mutating func open(_ url: URL) async throws -> LoadedPage {
        try await load(url, method: .GET, form: nil)
    }

    /// Submits a form with one of its buttons.
    mutating func submit(
        _ form: HTMLDocument.Form, _ button: HTMLDocument.Field?, filling values: [String: String] = [:],
        on page: LoadedPage
    ) async throws -> LoadedPage {
        guard let target = form.action.isEmpty ? page.url : URL(string: form.action, relativeTo: page.url)?.absoluteURL
        else { throw CommandError("the form goes to an odd address: \(form.action)") }
        var fields = form.fields.map { (name: $0.name, value: values[$0.name] ?? $0.value) }
        if let button, !button.name.isEmpty { fields.append((button.name, button.value)) }
        return try await load(target, method: .POST, form: Form(fields))
    }

    private mutating func load(_ url: URL, method: HTTPMethod, form: Form?) async throws -> LoadedPage {
        var (url, method, form) = (url, method, form)
        for _ in 0..<Self.mostRedirects {
            if isElsewhere, url.scheme == "http" {
                return LoadedPage(url: url, status: 200, document: HTMLDocument(""))
            }
            let response = try await client.execute(request(url, method, form), timeout: .seconds(30))
            try keepCookies(of: response, from: url)
            guard (301...308).contains(response.status.code), let location = response.headers.first(name: "location")
            else {
                let body = try await response.body.collect(upTo: Self.largestPage)
                return LoadedPage(
                    url: url, status: Int(response.status.code), document: HTMLDocument(String(buffer: body)))
            }
            guard let next = URL(string: location, relativeTo: url)?.absoluteURL else {
                throw CommandError("the page redirects to an odd address: \(location)")
            }
            url = next
            // As in real browsers, only 307 and 308 repeat the form.
            if response.status.code < 307 { (method, form) = (.GET, nil) }
        }
        throw CommandError("too many redirects")
    }

    private func request(_ url: URL, _ method: HTTPMethod, _ form: Form?) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method
        request.headers.add(name: "User-Agent", value: "lanyard-sandbox sign-in")
        request.headers.add(name: "Accept", value: "text/html")
        let jar = cookies[Self.origin(url)] ?? [:]
        if !jar.isEmpty {
            let pairs = jar.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            request.headers.add(name: "Cookie", value: pairs.joined(separator: "; "))
        }
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: form.encoded))
        }
        return request
    }

    /// Stores the cookies before following the redirect: its target may open the next page immediately.
    private mutating func keepCookies(of response: HTTPClientResponse, from url: URL) throws {
        let headers = response.headers["set-cookie"]
        for header in headers {
            let pair = header.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            cookies[Self.origin(url), default: [:]][String(pair[0])] = String(pair[1])
        }
        if let jar, !headers.isEmpty, let kept = JSONValue.encode(cookies) {
            try Data(kept).write(to: jar, options: .atomic)
        }
    }

    private static func origin(_ url: URL) -> String { "\(url.host() ?? ""):\(url.port ?? 443)" }
}

/// A page as the scripted browser sees it: its forms and its alert.
struct HTMLDocument: Sendable {
    /// A field, or a button that submits the form; its name is empty if it has none.
    struct Field: Sendable, Equatable {
        var name: String
        var value: String
        /// The example that shows while the field is empty.
        var placeholder = ""
    }

    struct Form: Sendable {
        var action: String
        var fields: [Field] = []
        var buttons: [Field] = []

        func field(_ name: String) -> Field? { fields.first { $0.name == name } }
        func button(_ name: String, _ value: String? = nil) -> Field? {
            buttons.first { $0.name == name && (value == nil || $0.value == value) }
        }
    }

    private(set) var forms: [Form] = []
    private(set) var title = ""
    /// The text of the page's `role="alert"` element.
    private(set) var alert: String?

    init(_ markup: String) {
        var scanner = TagScanner(markup)
        var open: Form?
        while let (name, tag) = scanner.next() {
            switch name {
            case "title": title = scanner.textAhead()
            case "form": open = Form(action: tag["action"] ?? "")
            case "/form":
                if let form = open { forms.append(form) }
                open = nil
            case "input":
                if let name = tag["name"] {
                    let placeholder = tag["placeholder"] ?? ""
                    open?.fields.append(Field(name: name, value: tag["value"] ?? "", placeholder: placeholder))
                }
            case "button": open?.buttons.append(Field(name: tag["name"] ?? "", value: tag["value"] ?? ""))
            default: break
            }
            if tag["role"] == "alert" { alert = scanner.textAhead() }
        }
    }
}

/// Scans markup tag by tag; it supports only well-formed pages.
private struct TagScanner {
    private var rest: Substring

    init(_ markup: String) { rest = markup[...] }

    /// Returns the text up to the next tag.
    func textAhead() -> String { Self.decode(rest.prefix { $0 != "<" }) }

    mutating func next() -> (name: String, attributes: [String: String])? {
        guard let start = rest.firstIndex(of: "<") else { return nil }
        rest = rest[rest.index(after: start)...]
        let name = String(rest.prefix { !$0.isWhitespace && $0 != ">" }).lowercased()
        rest = rest.dropFirst(name.count)
        var attributes: [String: String] = [:]
        while let (key, value) = attribute() { attributes[key] = value }
        rest = rest.dropFirst()
        return (name, attributes)
    }

    private mutating func attribute() -> (String, String)? {
        rest = rest.drop { $0.isWhitespace || $0 == "/" }
        guard let first = rest.first, first != ">" else { return nil }
        let key = String(rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != ">" }).lowercased()
        rest = rest.dropFirst(max(key.count, 1))
        guard rest.first == "=" else { return (key, "") }
        rest = rest.dropFirst()
        let value: Substring
        if let quote = rest.first, quote == "\"" || quote == "'" {
            value = rest.dropFirst().prefix { $0 != quote }
            rest = rest.dropFirst(value.count + 2)
        } else {
            value = rest.prefix { !$0.isWhitespace && $0 != ">" }
            rest = rest.dropFirst(value.count)
        }
        return (key, Self.decode(value))
    }

    private static func decode(_ text: Substring) -> String {
        let pieces = text.pieces(between: "&", omittingEmpty: false)
        return pieces.dropFirst().reduce(String(pieces[0])) { decoded, piece in
            guard let (name, rest) = piece.cut(at: ";"), name.count <= 8, let character = entity(name) else {
                return decoded + "&" + piece
            }
            return decoded + String(character) + rest
        }
    }

    private static let entities: [Substring: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ",
    ]

    private static func entity(_ name: Substring) -> Character? {
        guard name.first == "#" else { return entities[name] }
        let digits = name.dropFirst()
        let code = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return code.flatMap(Unicode.Scalar.init).map(Character.init)
    }
}

/// The user of the scripted browser, and the user's input on each page.
struct ScriptedUser: Sendable {
    let username: String?
    let password: String
    let declines: Bool
    /// The button to press on B2C's page instead of signing in: `cancel` or `forgot`.
    let way: String?
    let userCode: String?

    private static let mostPages = 15

    /// Submits page after page until there is no form left, and returns the last page.
    ///
    /// - Throws: `CommandError` if a page says no or asks for something this user doesn't have.
    @discardableResult
    func signIn(from first: LoadedPage, in browser: inout ScriptedBrowser) async throws -> LoadedPage {
        var page = first
        var hasTypedPassword = false
        for _ in 0..<Self.mostPages {
            guard page.status < 400 else {
                throw CommandError(
                    "\(page.document.alert ?? "the page answers \(page.status): \(page.document.title)")")
            }
            if page.isLoopbackRedirect { return page }
            guard let step = try step(on: page.document) else { return page }
            if step.isPassword, hasTypedPassword {
                throw CommandError("\(page.document.alert ?? "the page asks for the password again")")
            }
            hasTypedPassword = hasTypedPassword || step.isPassword
            page = try await browser.submit(step.form, step.button, filling: step.values, on: page)
        }
        throw CommandError("the sign-in doesn't come to an end")
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
        if let alert = document.alert { throw CommandError("\(alert)") }
        guard let code = userCode ?? (field.value.isEmpty ? nil : field.value) else {
            throw CommandError("the page asks for a device's code: give it with --code")
        }
        return Step(form: form, button: form.buttons.first, values: ["otc": code])
    }

    private func pick(_ form: HTMLDocument.Form) -> Step {
        let own = form.buttons.first { $0.name == "account" && $0.value.lowercased() == username?.lowercased() }
        return Step(form: form, button: own ?? form.button("account", "other"))
    }

    private func typePassword(_ form: HTMLDocument.Form, _ field: HTMLDocument.Field) throws -> Step {
        guard let username = username ?? [field.value, field.placeholder].first(where: { !$0.isEmpty }) else {
            throw CommandError("the page asks who signs in: say so with --as or LANYARD_SANDBOX_USER")
        }
        let values = ["loginfmt": username, "passwd": password]
        return Step(form: form, button: form.buttons.first, values: values, isPassword: true)
    }

    private func reset(_ form: HTMLDocument.Form) throws -> Step {
        guard let username else { throw CommandError("the page asks whose password to reset: say so with --as") }
        let values = ["reset_username": username, "new_passwd": password]
        return Step(form: form, button: form.buttons.first, values: values, isPassword: true)
    }

    private func create(_ form: HTMLDocument.Form) throws -> Step {
        guard let username else { throw CommandError("the page asks for a new username: give it with --as") }
        let values = ["new_username": username, "new_name": username, "new_passwd": password]
        return Step(form: form, button: form.buttons.first, values: values, isPassword: true)
    }
}
