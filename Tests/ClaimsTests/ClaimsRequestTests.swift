import Claims
import Testing

@Suite struct ClaimsRequestTests {
    @Test func `a request is written on one line, its members sorted`() throws {
        let request = try ClaimsRequest("{ \"id_token\" : {\n\"b\":null, \"a\":{\"essential\":1} } }")
        #expect(request.encoded == #"{"id_token":{"a":{"essential":true},"b":null}}"#)
        #expect(request.text == request.encoded)
    }

    @Test(arguments: ["{}", #"{"id_token":{}}"#, #"{"id_token":{},"access_token":{}}"#])
    func `a request for no claim has nothing to send`(text: String) throws {
        #expect(try ClaimsRequest(text).text == nil)
    }

    @Test(arguments: [
        ("", ParameterError.notAnObject), ("e30=", .notAnObject), ("[]", .notAnObject), ("{", .notAnObject),
        (String(repeating: "[", count: 10_000), .notAnObject),
        (#"{"id_token":"# + String(repeating: "[", count: 8_000), .notAnObject),
        (String(repeating: " ", count: ClaimsRequest.longest) + "{}", .tooLong),
        (#"{"user_info":{"sub":null}}"#, .unknownTarget("user_info")),
        (#"{"id_token":null}"#, .malformedTarget("id_token")),
        (#"{"id_token":{"sub":{}}}"#, .malformedClaim("sub")), (#"{"id_token":{"sub":"x"}}"#, .malformedClaim("sub")),
        (#"{"id_token":{"sub":{"values":"x"}}}"#, .malformedClaim("sub")),
    ])
    func `what is no claims request is refused`(text: String, error: ParameterError) {
        #expect(throws: error) { try ClaimsRequest(text) }
    }

    @Test(arguments: [
        (["id_token.auth_time"], #"{"id_token":{"auth_time":null}}"#),
        (["id_token.auth_time=essential"], #"{"id_token":{"auth_time":{"essential":true}}}"#),
        (["access_token.acrs=value:c1"], #"{"access_token":{"acrs":{"value":"c1"}}}"#),
        (["id_token.acr=values:a,b"], #"{"id_token":{"acr":{"values":["a","b"]}}}"#),
        (["id_token.acr=values:a"], #"{"id_token":{"acr":{"values":["a"]}}}"#),
        (["id_token.x=value:a=b:c,d"], #"{"id_token":{"x":{"value":"a=b:c,d"}}}"#),
        (["id_token.http://h.example/x=essential"], #"{"id_token":{"http://h.example/x":{"essential":true}}}"#),
        (
            ["access_token.acrs=essential", "access_token.acrs=value:c1", "access_token.acrs"],
            #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
        ),
        (["id_token.a=value:1", "id_token.a=value:2"], #"{"id_token":{"a":{"value":"2"}}}"#),
        (["id_token.a", "access_token.a"], #"{"access_token":{"a":null},"id_token":{"a":null}}"#),
        (["userinfo.email=essential"], #"{"userinfo":{"email":{"essential":true}}}"#),
    ])
    func `claims in short form add up`(shortForms: [String], expected: String) throws {
        var request = ClaimsRequest()
        for text in shortForms { try request.ask(text) }
        #expect(request.encoded == expected)
        #expect(try ClaimsRequest(request.encoded) == request)
    }

    @Test func `a claim in short form is added to what was asked`() throws {
        var request = try ClaimsRequest(#"{"access_token":{"acrs":{"essential":true}}}"#)
        try request.ask("access_token.acrs=value:c1")
        #expect(request.encoded == #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#)
    }

    @Test(arguments: [
        "", "id_token", "id_token.", "id_token.=essential", "id_token.a=", "id_token.a=Essential", "id_token.a=value:",
        "id_token.a=value", "id_token.a=values:", "id_token.a=values:a,,b", "id_token.a=other:b",
    ])
    func `what is no short form is refused`(text: String) {
        var request = ClaimsRequest()
        #expect(throws: ParameterError.malformedShortForm(text)) { try request.ask(text) }
        #expect(request == ClaimsRequest())
    }

    @Test func `a short form asks one of the targets and nothing else`() {
        var request = ClaimsRequest()
        #expect(throws: ParameterError.unknownTarget("user_info")) { try request.ask("user_info.name") }
    }

    @Test func `an authority may know fewer targets`() {
        #expect(throws: ParameterError.unknownTarget("userinfo")) {
            try ClaimsRequest(#"{"userinfo":{"sub":null}}"#, targets: ["id_token", "access_token"])
        }
    }
}
