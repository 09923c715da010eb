import Addresses
import AuthorityFixture
import Foundation
import JSON
import PluginWire
import Secrets
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// Requests to an issuer.
struct RequestTests {
    private static let pages = OAuthVectors.followed("authorization-request")
    private static let asked = ["pairs", "scope_set", "starts_with", "absent"]

    @Test(arguments: pages.filter { vector in asked.contains { vector.expect[$0] != nil } })
    func `the page asks for what the request and the issuer want`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        let request = AuthorizationRequest(redirectURI: "http://127.0.0.1:1", responseMode: .query)
        let url = request.url(
            for: session.client, at: try #require(session.metadata.endpoints.authorization),
            try session.authorizationParameters())
        let pairs = url.split(separator: "?")[1].split(separator: "&").map { pair in
            pair.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
        }
        if let start = vector.expected("starts_with") { #expect(url.hasPrefix(start)) }
        for pair in vector.expect["pairs"]?.elements ?? [] {
            #expect(pairs.contains(pair.elements.compactMap(\.string)))
        }
        let names = pairs.map { $0[0] }
        if vector.expect["scope_set"] != nil {
            let scope = pairs.first { $0[0] == "scope" }?[1] ?? ""
            #expect(Set(scope.split(separator: " ").map(String.init)) == Set(vector.expectedTexts("scope_set")))
            #expect(vector.expect["nonce"] == .bool(names.contains("nonce")))
        }
        #expect(Set(names).isDisjoint(with: vector.expectedTexts("absent")))
        #expect(!names.contains("response_mode"))
    }

    @Test(arguments: pages.filter { $0.text("code_verifier") != nil })
    func `the proof key is RFC 7636's`(_ vector: VectorCase) throws {
        #expect(
            ProofKey(verifier: try #require(vector.text("code_verifier"))).challenge
                == vector.expected("code_challenge"))
    }

    @Test(arguments: pages.filter { $0.text("redirect_uri") != nil })
    func `the redirect has the listener's port, or its own`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        do throws(OAuthError) {
            let target = try SignIn(session.client, by: session).redirect()
            #expect(target.text(listeningAt: vector.input["port"]?.wholeNumber) == vector.expected("redirect_uri"))
        } catch {
            #expect(vector.code == Issuing.plain(error).code.rawValue)
        }
    }

    @Test(arguments: pages.filter { $0.input["extra_query"] != nil })
    func `nobody sets the protocol's own parameters`(_ vector: VectorCase) throws {
        var request = PluginRequest(.authorize)
        request.authority = "https://id.example.com"
        request.clientID = "c"
        var block = try request.wire()
        for text in vector.texts("extra_query") { try block.append("query_parameter[]", text) }
        let error = #expect(throws: PluginError.self) { try PluginRequest(wire: block) }
        #expect(error?.code.rawValue == vector.code)
    }

    @Test(arguments: OAuthVectors.followed("token-request").filter { $0.input["status"] == nil })
    func `the token endpoint gets the grant and the client's proof`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        let client = session.client
        let code = vector.text("code").map { Secret($0) }
        let grant: TokenGrant =
            if let token = session.request.refreshToken {
                .refreshToken(token)
            } else {
                .code(
                    code ?? Secret("abc"), redirectURI: vector.text("redirect_uri") ?? "http://127.0.0.1",
                    verifier: vector.text("code_verifier") ?? "v")
            }
        let form = Dictionary(grant.fields(for: client).map { ($0.name, $0.value) }) { $1 }
        if let whole = vector.expect["form"]?.members { #expect(form == whole.compactMapValues(\.string)) }
        for (name, value) in vector.expect["form_has"]?.members ?? [:] { #expect(form[name] == value.string) }
        #expect(Set(form.keys).isDisjoint(with: vector.expectedTexts("absent")))
        if let proof = vector.expect["authorization"] { #expect(client.proof.first?.1 == proof.string) }
    }

    @Test(arguments: OAuthVectors.followed("token-request").filter { $0.input["status"] != nil })
    func `a redirect of the token endpoint isn't followed`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in Issuing.behaviour(vector.input) }) { server in
            let session = try Issuing.session(vector, operation: .renew, at: server)
            let error = await #expect(throws: PluginError.self) { try await session.renew(with: Secret("rt")) }
            #expect(error?.code.rawValue == vector.code)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: OAuthVectors.followed("device-polling").filter { $0.expect["form"] != nil })
    func `polling names the code, the client and no more`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        let fields = TokenGrant.deviceCode(Secret(try #require(vector.text("device_code")))).fields(for: session.client)
        let form = Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
        #expect(form == vector.expect["form"]?.members?.compactMapValues(\.string))
    }
}
