import Foundation
import Testing

@testable import Claims

/// What a sign-in is given: each parameter in one table, carried as one value.
@Suite struct SignInParametersTests {
    private static let full: [SignInParameter: [String]] = [
        .prompt: ["login"], .loginHint: ["alice@contoso.example"], .domainHint: ["contoso.example"],
        .queryParameters: ["ui_locales=de", "a=b=c"], .redirectPort: ["8400"], .resetPolicy: ["B2C_1_reset"],
    ]

    @Test func `what is taken from texts is written as the same`() throws {
        var parameters = SignInParameters()
        try parameters.take(Self.full)
        for parameter in SignInParameter.allCases {
            #expect(parameters.texts(of: parameter) == Self.full[parameter]?.sorted())
            var other = SignInParameters()
            try other.set(parameter, to: try #require(parameters[parameter]))
            #expect(other[parameter] == parameters[parameter])
        }
        #expect(parameters.queryParameters == ["ui_locales": "de", "a": "b=c"])
        #expect(parameters.redirectPort == 8400)
    }

    @Test func `what is given takes the place of what is there, and adds to a table`() throws {
        var parameters = SignInParameters()
        try parameters.take(Self.full)
        try parameters.take([.domainHint: ["consumers"], .queryParameters: ["a=1", "a=2", "z=3"], .prompt: []])
        #expect(parameters.domainHint == "consumers")
        #expect(parameters.queryParameters == ["ui_locales": "de", "a": "2", "z": "3"])
        #expect(parameters.prompt == "login")
    }

    @Test(arguments: [
        (SignInParameter.prompt, "please", SignInParameterError.unknownPrompt("please")),
        (.loginHint, "a\nb", .badLoginHint), (.domainHint, "a b", .badDomain("a b")),
        (.queryParameters, "x", .malformedParameter("x")), (.queryParameters, "=x", .malformedParameter("=x")),
        (.queryParameters, "State=x", .reservedParameter("State")), (.redirectPort, "80", .badPort),
        (.redirectPort, "x", .badPort), (.resetPolicy, "..", .badPolicy("..")),
    ])
    func `what can't be right is refused`(
        _ parameter: SignInParameter, _ text: String, _ error: SignInParameterError
    ) {
        #expect(throws: error) {
            var parameters = SignInParameters()
            try parameters.take([parameter: [text]])
        }
    }

    @Test func `no parameter shares a name with another`() {
        for names in [\SignInParameter.setting, \.wireKey, \.member, \.label, \.option]
            as [KeyPath<SignInParameter, String>]
        {
            #expect(Set(SignInParameter.allCases.map { $0[keyPath: names] }).count == SignInParameter.allCases.count)
        }
    }

    @Test(arguments: SignInParameter.allCases) func `the documentation has its names`(_ parameter: SignInParameter)
        throws
    {
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func page(_ path: String) throws -> String {
            try String(contentsOf: checkout.appendingPathComponent(path), encoding: .utf8)
        }
        #expect(try page("docs/credential-protocol.md").contains("`\(parameter.wireKey)`"))
        #expect(try page("man/lanyard-login.1").contains("Fl -\(parameter.option.dropFirst(2))"))
        if parameter != .redirectPort {
            #expect(try page("docs/plugin-protocol.md").contains("`\(parameter.wireKey)`"))
        }
        guard SignInParameter.ofRules.contains(parameter) else { return }
        #expect(try page("docs/configuration.md").contains(parameter.setting))
        #expect(try page("man/lanyard-rule.1").contains("Fl -\(parameter.option.dropFirst(2))"))
    }
}
