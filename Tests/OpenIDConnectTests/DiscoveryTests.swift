import Addresses
import AuthorityFixture
import Foundation
import JSON
import PluginWire
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

struct DiscoveryTests {
    private static let vectors = OAuthVectors.followed("discovery")

    @Test(arguments: vectors.filter { $0.expect["urls"] != nil })
    func `an issuer's documents are looked for where they may be`(_ vector: VectorCase) throws {
        let urls = IssuerMetadata.documents(of: try #require(vector.text("authority"))).map(\.url)
        #expect(urls == vector.expectedTexts("urls"))
    }

    @Test(arguments: vectors.filter { $0.input["document"] != nil })
    func `a document is believed if it is the issuer's own and leads somewhere`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        do throws(OAuthError) {
            let found = try IssuerMetadata(
                Issuing.answer(vector.input), at: .init(url: "", isOpenID: true), of: session.request.authority,
                accepting: session.traits.accepts)
            #expect(vector.isFine)
            #expect(found.issuer == vector.expected("issuer"))
            Self.compare(vector, found, session)
        } catch {
            #expect(vector.code == session.code(error), "\(error.message)")
        }
    }

    private static func compare(_ vector: VectorCase, _ found: IssuerMetadata, _ session: IssuerSession) {
        let browser = found.endpoints.authorization != nil
        let flows =
            (browser ? ["browser"] : []) + (found.endpoints.deviceAuthorization != nil ? ["device-code"] : [])
            + (browser ? ["paste"] : [])
        if vector.expect["flows"] != nil { #expect(flows == vector.expectedTexts("flows")) }
        if let required = vector.expect["iss_required"] { #expect(required == .bool(found.namesIssuer)) }
        if let token = vector.expected("token_endpoint") { #expect(found.endpoints.token == token) }
        if let environment = vector.expected("environment") { #expect(session.address.hostText == environment) }
        if let method = vector.expected("code_challenge_method") {
            let url = AuthorizationRequest(redirectURI: "http://127.0.0.1", responseMode: .query)
                .url(for: session.client, at: "https://id.example.com/authorize", [])
            #expect(url.contains("code_challenge_method=\(method)"))
        }
    }

    @Test(arguments: vectors.filter { $0.input["answers"] != nil })
    func `each place is asked until one has the document, unless the server is down`(_ vector: VectorCase) async throws
    {
        let answers = vector.input["answers"]?.elements.compactMap(\.members) ?? []
        try await Issuing.serving({ request in
            let index = request.contains("/.well-known/openid-configuration HTTP") ? 0 : 1
            let host =
                request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6) ?? ""
            guard case .answer(let text) = Issuing.behaviour(answers[min(index, answers.count - 1)]) else {
                return TLSServer.nothingHere
            }
            return .answer(Self.moved(text, to: String(host)))
        }) { server in
            let transport = try Issuing.transport(to: server)
            let authority = try #require(vector.text("authority"))
                .replacing("id.example.com", with: "localhost:\(server.port)")
            do throws(OAuthError) {
                let found = try await IssuerMetadata.discover(authority, over: transport)
                #expect(vector.isFine)
                #expect(found.issuer == authority)
            } catch {
                #expect(vector.code == Issuing.plain(error).code.rawValue)
            }
            let isDown = answers.contains { ($0["status"]?.wholeNumber ?? 200) >= 500 }
            let all = IssuerMetadata.documents(of: authority).count
            #expect(server.requests.count == (vector.isFine || isDown ? answers.count : all))
        }
    }

    @Test(arguments: [
        "HTTP/1.1 400 X", "HTTP/1.1 401 X", "HTTP/1.1 403 X", "HTTP/1.1 404 X", "HTTP/1.1 405 X", "HTTP/1.1 406 X",
        "HTTP/1.1 410 X", "HTTP/1.1 302 X\r\nlocation: /login", "HTTP/1.1 200 X", "HTTP/1.1 204 X",
    ])
    func `whatever is at the first place, the document is found at another`(_ first: String) async throws {
        try await Issuing.serving({ request in
            let host = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6)
            let base = "https://\(host ?? "")/realms/acme"
            let isFirst = request.hasPrefix("GET /realms/acme/.well-known/openid-configuration ")
            // Such an answer has no content (RFC 9110, 15.3.5).
            let content = first.contains("204") ? "\r\n" : "content-length: 2\r\n\r\nno"
            if isFirst { return .answer("\(first)\r\n\(content)") }
            return Issuing.behaviour([
                "json": [
                    "issuer": .string(base), "token_endpoint": .string(base + "/token"),
                    "authorization_endpoint": .string(base + "/authorize"),
                ]
            ])
        }) { server in
            let transport = try Issuing.transport(to: server)
            let authority = "https://localhost:\(server.port)/realms/acme"
            #expect(try await IssuerMetadata.discover(authority, over: transport).issuer == authority)
            #expect(server.requests.count == 2)
        }
    }

    /// Returns an answer for another host, with the right content length.
    private static func moved(_ text: String, to host: String) -> String {
        let parts = text.components(separatedBy: "\r\n\r\n")
        let body = parts[1].replacing("id.example.com", with: host)
        return parts[0].replacing("content-length: \(parts[1].utf8.count)", with: "content-length: \(body.utf8.count)")
            + "\r\n\r\n" + body
    }

    @Test func `a host without documents is no issuer`() async throws {
        try await Issuing.serving({ _ in TLSServer.nothingHere }) { server in
            let transport = try Issuing.transport(to: server)
            let error = await #expect(throws: OAuthError.self) {
                try await IssuerMetadata.discover("https://localhost:\(server.port)/realms/acme", over: transport)
            }
            #expect(error?.kind == .notFound)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [
        "http://a.example/t", "https://a.example/t#x", "/t", "https://u@a.example/t", "https://a.example/\u{e4}",
        "https://a.example/t ", "https://a.example\\t", "",
    ])
    func `what isn't absolute, plain and https is no endpoint`(_ text: String) {
        #expect(!Endpoints.isUsable(text))
    }

    @Test(arguments: ["https://a.example/t?p=1", "https://a.example:8443/~t;v=1", "https://[::1]/t"])
    func `an endpoint may have a query and a port`(_ text: String) {
        #expect(Endpoints.isUsable(text))
    }
}
