import Addresses
import AuthorityFixture
import CryptoExtras
import Foundation
import JSON
import PluginOAuth
import PluginWire
import Secrets
import Synchronization
import Testing

@testable import OAuth
@testable import OpenIDConnect

/// A GitHub App's requests (docs.github.com/rest/apps/apps), and what is made of the refusals that are documented for them.
@Suite struct GitHubAppTests {
    @Test(arguments: [
        ("https://github.com", "https://api.github.com"), ("https://octo.ghe.com", "https://api.octo.ghe.com"),
        ("https://github.contoso.example", "https://github.contoso.example/api/v3"),
    ])
    func `the API of each kind of GitHub is where it says`(authority: String, api: String) throws {
        let address = try #require(StrictURL(https: authority))
        #expect(IssuerTraits(kind: "github", authority: address).api == api)
    }

    /// A request to the API.
    private struct Asked: Sendable {
        let line: String
        let headers: [String: String]
        let body: String

        init(_ text: String) {
            let parts = text.components(separatedBy: "\r\n\r\n")
            let lines = parts[0].components(separatedBy: "\r\n")
            line = lines[0].replacing(" HTTP/1.1", with: "")
            headers = Dictionary(
                lines.dropFirst().compactMap { $0.cut(at: ":").map { ($0.0.lowercased(), String($0.1.trimmed())) } }
            ) { $1 }
            body = parts.dropFirst().joined()
        }
    }

    /// Returns what an App is given for a URL, and its requests, by an API that answers with these statuses and texts in turn, in which
    /// `API` stands for its URL.
    private static func result(
        for resource: String, at authority: String, below path: String, permissions: [String] = ["contents:read"],
        memo: String? = nil, _ answers: [(status: Int, headers: String, body: String)]
    ) async throws -> (Result<PluginResult, any Error>, [Asked]) {
        let log = Mutex<[Asked]>([])
        let remaining = Mutex(answers[...])
        let api = Mutex("")
        let key = FileManager.default.temporaryDirectory.appending(path: "app-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: key) }
        try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
            .write(to: key, atomically: true, encoding: .utf8)
        var told: Result<PluginResult, any Error>?
        try await Issuing.serving { text in
            log.withLock { $0.append(Asked(text)) }
            guard let answer = remaining.withLock({ $0.popFirst() }) else { return TLSServer.nothingHere }
            return .answer(
                "HTTP/1.1 \(answer.status) X\r\n\(answer.headers.replacing("API", with: api.withLock(\.self)))"
                    + "content-length: \(answer.body.utf8.count)\r\n\r\n" + answer.body)
        } _: { server in
            let place = "https://localhost:\(server.port)\(path)"
            api.withLock { $0 = place }
            var request = PluginRequest(.authenticate)
            (request.authority, request.clientID, request.kind) = (authority, "Iv23contoso", "github")
            (request.resources, request.scopes) = ([resource], permissions)
            let address = try #require(StrictURL(https: authority))
            var session = IssuerSession(
                request: request, address: address, traits: IssuerTraits(kind: "github", authority: address),
                metadata: IssuerMetadata(
                    authority, endpoints: Endpoints(authorization: nil, token: authority), isOpenID: false, scopes: [],
                    authenticationMethods: []), transport: try Issuing.transport(to: server))
            session.memo = MetadataMemo(memo)
            var app = GitHubApp(session: session, api: place)
            var identity = PluginIdentity(.client)
            identity.certificate = key.path
            do { told = .success(try await app.token(of: identity)) } catch { told = .failure(error) }
        }
        return (try #require(told), log.withLock { $0 })
    }

    private static let installation = (status: 200, headers: "", body: #"{"id": 7}"#)
    private static let token = (
        status: 201, headers: "date: Fri, 15 Jan 2027 08:00:00 GMT\r\n",
        body: #"{"token": "ghs_x.y.z", "expires_at": "2027-01-15T09:00:00Z"}"#
    )

    @Test(arguments: [("https://github.com", ""), ("https://github.contoso.example", "/api/v3")])
    func `the repository's installation is asked for a token of that repository with those permissions`(
        authority: String, path: String
    ) async throws {
        let began = Int(Date.now.timeIntervalSince1970)
        let (told, asked) = try await Self.result(
            for: "\(authority)/contoso/hello", at: authority, below: path,
            permissions: ["contents:write", "packages:read"], [Self.installation, Self.token])
        let result = try told.get()
        #expect(result.accessToken == Secret("ghs_x.y.z") && result.expiresIn == 3600)
        #expect(
            asked.map(\.line) == [
                "GET \(path)/repos/contoso/hello/installation", "POST \(path)/app/installations/7/access_tokens",
            ])
        #expect(
            asked.last?.body
                == #"{"permissions":{"contents":"write","packages":"read"},"repositories":["hello"]}"#)
        for request in asked {
            #expect(request.headers["accept"] == "application/vnd.github+json")
            #expect(request.headers["x-github-api-version"] == "2022-11-28")
            #expect(request.headers["user-agent"]?.isEmpty == false)
            let proof = try #require(request.headers["authorization"]?.split(separator: " ").last)
            let parts = proof.split(separator: ".").map { JSONValue(bytes: Base64URL.decode($0) ?? []) }
            #expect(parts.first??["alg"]?.string == "RS256" && parts[1]?["iss"]?.string == "Iv23contoso")
            // GitHub's clock may be a little behind; it takes no more than ten minutes.
            let start = try #require(parts[1]?["iat"]?.wholeNumber)
            let end = try #require(parts[1]?["exp"]?.wholeNumber)
            let now = Int(Date.now.timeIntervalSince1970)
            #expect((began - 60...now - 60).contains(start) && end - start == 600)
        }
    }

    @Test func `a wiki is its repository's, and an OAuth app's scope is the same permission`() async throws {
        let (told, asked) = try await Self.result(
            for: "https://github.com/contoso/hello.wiki", at: "https://github.com", below: "",
            permissions: ["write:packages"], [Self.installation, Self.token])
        #expect(throws: Never.self) { try told.get() }
        #expect(asked.first?.line == "GET /repos/contoso/hello/installation")
        #expect(asked.last?.body == #"{"permissions":{"packages":"write"},"repositories":["hello"]}"#)
    }

    @Test(arguments: ["contents", "contents:delete", ":read", "read:", "contents:read:write", "read"])
    func `what is no permission is refused before anything is asked`(scope: String) async throws {
        let (told, asked) = try await Self.result(
            for: "https://github.com/contoso/hello", at: "https://github.com", below: "", permissions: [scope], [])
        let error = #expect(throws: PluginError.self) { try told.get() }
        #expect(error?.code == .invalidRequest && asked.isEmpty)
    }

    @Test func `an owner's installation is an organisation's or a user's`() async throws {
        let none = (status: 404, headers: "", body: #"{"message": "Not Found"}"#)
        let (told, asked) = try await Self.result(
            for: "https://github.com/alice", at: "https://github.com", below: "", [none, Self.installation, Self.token])
        #expect(throws: Never.self) { try told.get() }
        #expect(asked.prefix(2).map(\.line) == ["GET /orgs/alice/installation", "GET /users/alice/installation"])
        #expect(asked.last?.body == #"{"permissions":{"contents":"read"}}"#)
    }

    @Test func `a known installation spares a request, and one that is gone is looked for again`() async throws {
        let (first, _) = try await Self.result(
            for: "https://github.com/Contoso/hello", at: "https://github.com", below: "",
            [Self.installation, Self.token])
        let memo = try #require(try first.get().memo?.text)
        #expect(!memo.lowercased().contains("contoso"))
        let (again, asked) = try await Self.result(
            for: "https://github.com/contoso/other", at: "https://github.com", below: "", memo: memo, [Self.token])
        #expect(throws: Never.self) { try again.get() }
        #expect(asked.map(\.line) == ["POST /app/installations/7/access_tokens"])
        for status in [404, 422] {
            let (anew, requests) = try await Self.result(
                for: "https://github.com/contoso/hello", at: "https://github.com", below: "", memo: memo,
                [(status, "", #"{"message": "Not Found"}"#), (200, "", #"{"id": 8}"#), Self.token])
            #expect(try anew.get().memo?.text.contains("8") == true)
            #expect(
                requests.dropFirst().map(\.line) == [
                    "GET /repos/contoso/hello/installation", "POST /app/installations/8/access_tokens",
                ])
        }
    }

    @Test func `a repository's former name leads to its number, at the same host and once`() async throws {
        func moved(_ place: String) -> (status: Int, headers: String, body: String) {
            (301, "location: \(place)\r\n", #"{"message": "Moved Permanently"}"#)
        }
        let place = "API/repositories/9/installation"
        let (told, asked) = try await Self.result(
            for: "https://github.contoso.example/contoso/old", at: "https://github.contoso.example", below: "/api/v3",
            [moved(place), Self.installation, Self.token])
        #expect(throws: Never.self) { try told.get() }
        #expect(asked[1].line == "GET /api/v3/repositories/9/installation")
        #expect(asked.last?.body == #"{"permissions":{"contents":"read"},"repository_ids":[9]}"#)
        for answers in [
            [moved(place), moved(place)], [moved("https://api.github.com/repositories/9/installation")],
            [moved("API/repositories/9/../x/installation")], [moved("API.evil.example/repositories/9/installation")],
        ] {
            let (refused, requests) = try await Self.result(
                for: "https://github.com/contoso/old", at: "https://github.com", below: "", answers)
            let error = #expect(throws: PluginError.self) { try refused.get() }
            #expect(error?.hint == "use its new URL" && requests.count == answers.count)
        }
    }

    @Test func `the API's clock counts where it refuses this computer's, once`() async throws {
        let late = (
            status: 401, headers: "date: Fri, 15 Jan 2027 08:00:00 GMT\r\n",
            body: #"{"message": "'Expiration time' claim ('exp') is too far in the future"}"#
        )
        let (told, asked) = try await Self.result(
            for: "https://github.com/contoso/hello", at: "https://github.com", below: "",
            [late, Self.installation, Self.token])
        #expect(throws: Never.self) { try told.get() }
        let starts = asked.compactMap { request -> Int? in
            let proof = request.headers["authorization"]?.split(separator: ".").dropFirst().first
            return proof.flatMap { JSONValue(bytes: Base64URL.decode($0) ?? []) }?["iat"]?.wholeNumber
        }
        #expect(starts.count == 3 && starts.dropFirst().allSatisfy { abs($0 - (1_799_999_940)) < 5 }, "\(starts)")
        let (refused, twice) = try await Self.result(
            for: "https://github.com/contoso/hello", at: "https://github.com", below: "", [late, late, late])
        #expect(throws: PluginError.self) { try refused.get() }
        #expect(twice.count == 2)
    }

    /// An answer to the first request or, after an installation, to the second; and the error.
    private struct Refused: CustomTestStringConvertible, Sendable {
        var isSecond = false
        let status: Int
        var headers = ""
        let message: String
        var code = PluginError.Code.invalidRequest
        let hint: String?
        var wait: Int?
        var testDescription: String { message }
    }

    private static let refusals = [
        Refused(status: 404, message: "Not Found", hint: "have an owner of contoso install it"),
        Refused(status: 404, message: "Integration not found", hint: "check the client ID"),
        Refused(status: 401, message: "A JSON web token could not be decoded", hint: "the key is one of the app's"),
        Refused(status: 401, message: "'Issued at' claim ('iat') must be", hint: "set this computer's clock"),
        Refused(status: 401, message: "'Expiration time' claim ('exp') is too", hint: "set this computer's clock"),
        Refused(
            status: 301, headers: "location: https://api.github.com/repositories/9/installation\r\n",
            message: "Moved Permanently", hint: "use its new URL"),
        Refused(isSecond: true, status: 403, message: "This installation has been suspended", hint: "unsuspend it"),
        Refused(isSecond: true, status: 403, message: "Resource not accessible by integration", hint: nil),
        Refused(
            isSecond: true, status: 403, headers: "retry-after: 60\r\n",
            message: "You have exceeded a secondary rate limit", code: .throttled, hint: nil, wait: 60),
        Refused(
            status: 403,
            headers: "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1800000090\r\n"
                + "date: Fri, 15 Jan 2027 08:00:00 GMT\r\n",
            message: "API rate limit exceeded", code: .throttled, hint: nil, wait: 90),
        Refused(
            isSecond: true, status: 422, message: "The permissions requested are not granted to this installation.",
            hint: "write the permissions that it has"),
    ]

    @Test(arguments: refusals)
    private func `a refusal says what to do`(_ given: Refused) async throws {
        let body = JSONValue.object(["message": .string(given.message)]).encodedText
        let (told, asked) = try await Self.result(
            for: "https://github.com/contoso/hello", at: "https://github.com", below: "",
            (given.isSecond ? [Self.installation] : []) + [(given.status, given.headers, body)])
        let error = #expect(throws: PluginError.self) { try told.get() }
        #expect(error?.code == given.code && error?.retryAfter == given.wait, "\(String(describing: error))")
        #expect((error?.hint == nil) == (given.hint == nil) && error?.hint?.contains(given.hint ?? "") != false)
        #expect(asked.count == (given.isSecond ? 2 : 1))
    }
}
