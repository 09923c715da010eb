import Claims
import JSON
import Testing
import Vectors

@testable import MicrosoftIdentity

struct RequestPartsTests {
    @Test(arguments: Vectors.followed("client-info"))
    func `client info tells the home account`(_ vector: VectorCase) throws {
        let text = try #require(vector.text("client_info"))
        if vector.expect["error"] == .bool(true) {
            #expect(throws: ClientInfoError.self) { try ClientInfo(text) }
            return
        }
        let info = try ClientInfo(text)
        #expect(info.homeAccountID == vector.expected("home_account_id"))
        if let uid = vector.expected("uid") { #expect(info.uid == uid) }
        if let utid = vector.expected("utid") { #expect(info.utid == utid) }
        if case .bool(let personal) = vector.expect["is_msa"] { #expect(info.isPersonal == personal) }
    }

    @Test(arguments: Vectors.followed("claims-merge"))
    func `claims and capabilities are merged as MSAL Go merges them`(_ vector: VectorCase) throws {
        let claims =
            vector.input.keys.contains("claims1")
            ? [vector.text("claims1"), vector.text("claims2")]
            : [vector.text("challenge"), vector.text("client_claims")]
        if vector.expect["error"] != nil {
            #expect(throws: ClaimsError.notAnObject) {
                try ClaimsParameter.merge(claims, capabilities: vector.texts("capabilities"))
            }
            return
        }
        let merged = try ClaimsParameter.merge(claims, capabilities: vector.texts("capabilities"))
        #expect(merged.flatMap { JSONValue(bytes: $0.utf8) } ?? .null == vector.expect["claims"] ?? .null)
    }

    @Test(arguments: Vectors.followed("claims-request"))
    func `claims requests are checked as MSAL for Objective-C checks them`(_ vector: VectorCase) throws {
        let text = try #require(vector.text("json"))
        guard vector.expect["valid"] == .bool(true) else {
            #expect(throws: ClaimsError.self) { try ClaimsRequest(text) }
            return
        }
        let request = try ClaimsRequest(text)
        #expect(JSONValue(bytes: request.encoded.utf8) == vector.expect["serialized"])
    }
}
