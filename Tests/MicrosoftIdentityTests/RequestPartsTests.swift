import Claims
import JSON
import PluginWire
import Testing
import Vectors

@testable import MicrosoftIdentity

struct RequestPartsTests {
    @Test(arguments: Vectors.followed("client-info"))
    func `client info tells the home account`(_ vector: VectorCase) throws {
        let text = try #require(vector.text("client_info"))
        if vector.expect["error"] == .bool(true) {
            #expect(ClientInfo(text) == nil)
            return
        }
        let info = try #require(ClientInfo(text))
        #expect(info.homeAccountID == vector.expected("home_account_id"))
        if let uid = vector.expected("uid") { #expect(info.uid == uid) }
        if let utid = vector.expected("utid") { #expect(info.utid == utid) }
        if case .bool(let personal) = vector.expect["is_msa"] {
            #expect((info.utid == ClientInfo.personalTenant) == personal)
        }
    }

    private static let tenant = "c0a70500-0000-4000-8000-00000c0a7050"

    @Test(
        arguments: [
            (tenant, tenant, "alice@Contoso.example", [tenant, "contoso.example"]),
            (tenant.uppercased(), tenant.uppercased(), "alice@contoso.example", [tenant, "contoso.example"]),
            (tenant, "other", "alice@contoso.example", [tenant]), (tenant, tenant, "alice@consumers", [tenant]),
            (tenant, tenant, "alice", [tenant]), (tenant, tenant, nil, [tenant]),
            (ClientInfo.personalTenant, ClientInfo.personalTenant, "a@outlook.example", [ClientInfo.personalTenant]),
            ("contoso.example", "contoso.example", "alice@contoso.example", []), (nil, tenant, "a@b.example", []),
        ] as [(String?, String, String?, [String])])
    func `an account is at home in its tenant and in its domain`(
        _ home: String?, _ realm: String, _ username: String?, _ realms: [String]
    ) {
        var account = PluginAccount(homeAccountID: home.map { "uid.\($0)" } ?? "uid", username: "")
        account.setHome(tokensFor: realm, username: username)
        #expect(account.homeRealms == realms)
        #expect(account.kind == (home == ClientInfo.personalTenant ? "personal" : "work or school"))
        account.homeRealms = []
        account.setHome(tokensFor: realm, username: username, isB2C: true)
        #expect(account.homeRealms == Array(realms.prefix(1)))
    }

    @Test(arguments: Vectors.followed("claims-merge"))
    func `claims and capabilities are merged as MSAL Go merges them`(_ vector: VectorCase) throws {
        let claims =
            vector.input.keys.contains("claims1")
            ? [vector.text("claims1"), vector.text("claims2")]
            : [vector.text("challenge"), vector.text("client_claims")]
        if vector.expect["error"] != nil {
            #expect(throws: ParameterError.notAnObject) {
                try ClaimsRequest.parameter(claims, capabilities: vector.texts("capabilities"))
            }
            return
        }
        let merged = try ClaimsRequest.parameter(claims, capabilities: vector.texts("capabilities"))
        #expect(merged.flatMap { JSONValue(bytes: $0.utf8) } ?? .null == vector.expect["claims"] ?? .null)
    }

    @Test(arguments: Vectors.followed("claims-request"))
    func `claims requests are checked as MSAL for Objective-C checks them`(_ vector: VectorCase) throws {
        let text = try #require(vector.text("json"))
        guard vector.expect["valid"] == .bool(true) else {
            #expect(throws: ParameterError.self) { try ClaimsRequest(text, targets: ClaimsRequest.entraTargets) }
            return
        }
        let request = try ClaimsRequest(text, targets: ClaimsRequest.entraTargets)
        #expect(JSONValue(bytes: request.encoded.utf8) == vector.expect["serialized"])
    }
}
