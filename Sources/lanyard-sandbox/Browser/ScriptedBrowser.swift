import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL

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
        else { throw SandboxError("the form goes to an odd address: \(form.action)") }
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
                throw SandboxError("the page redirects to an odd address: \(location)")
            }
            url = next
            // As in real browsers, only 307 and 308 repeat the form.
            if response.status.code < 307 { (method, form) = (.GET, nil) }
        }
        throw SandboxError("too many redirects")
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
        if let jar, !headers.isEmpty { try JSONEncoder().encode(cookies).write(to: jar, options: .atomic) }
    }

    private static func origin(_ url: URL) -> String { "\(url.host() ?? ""):\(url.port ?? 443)" }
}
