import Foundation
import Testing

@testable import Claims

/// The parameters of a sign-in: each is defined in one table and passed on as one value.
@Suite struct SignInParametersTests {
    private static let full: [SignInParameter: [String]] = [
        .prompt: ["login"], .loginHint: ["alice@contoso.example"], .domainHint: ["contoso.example"],
        .queryParameters: ["ui_locales=de", "a=b=c"], .redirectPort: ["8400"], .resetPolicy: ["B2C_1_reset"],
        .alsoConsent: ["https://graph.microsoft.com/User.Read openid"],
    ]

    @Test func `what is taken from texts is written as the same`() throws {
        var parameters = SignInParameters()
        try parameters.apply(Self.full)
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
        try parameters.apply(Self.full)
        try parameters.apply([.domainHint: ["consumers"], .queryParameters: ["a=1", "a=2", "z=3"], .prompt: []])
        #expect(parameters.domainHint == "consumers")
        #expect(parameters.queryParameters == ["ui_locales": "de", "a": "2", "z": "3"])
        #expect(parameters.prompt == "login")
    }

    private static let wrong: [(SignInParameter, String, reason: String)] = [
        (.prompt, "please", "`please` is not a prompt"),
        (.loginHint, "a\nb", "a login hint is a user name on one line"),
        (.domainHint, "a b", "`a b` is not a domain"),
        (.queryParameters, "x", "`x` is not NAME=VALUE in plain characters"),
        (.queryParameters, "=x", "`=x` is not NAME=VALUE in plain characters"),
        (.queryParameters, "State=x", "the parameter `State` can only be set by lanyard"),
        (.queryParameters, "Domain_hint=x", "the parameter `Domain_hint` can only be set by lanyard"),
        (.redirectPort, "80", "a redirect port is a number from 1024 to 65535"),
        (.redirectPort, "x", "a redirect port is a number from 1024 to 65535"),
        (.resetPolicy, "..", "`..` is not the name of a policy"),
    ]

    @Test(arguments: wrong)
    func `what can't be right is refused`(_ parameter: SignInParameter, _ text: String, _ reason: String) {
        var parameters = SignInParameters()
        let error = #expect(throws: ParameterError.self) { try parameters.apply([parameter: [text]]) }
        #expect(error?.reason == reason)
        #expect(error?.hint.isEmpty == false)
    }

    @Test func `a value of another form is refused, too`() {
        let values: [SignInParameter.Value] = [.text("8400"), .number(8400), .table(["a": "b"])]
        for parameter in SignInParameter.allCases {
            let taken = values.filter { value in
                var parameters = SignInParameters()
                return (try? parameters.set(parameter, to: value)) != nil
            }
            #expect(taken.count <= 1, "\(parameter)")
        }
    }

    @Test func `more parameters than there may be are refused, however they come`() throws {
        var parameters = SignInParameters()
        try parameters.set(
            .queryParameters, to: .table(Dictionary(uniqueKeysWithValues: (1...32).map { ("p\($0)", "") })))
        #expect(throws: ParameterError.self) { try parameters.apply([.queryParameters: ["q=1"]]) }
        try parameters.apply([.queryParameters: ["p1=1"]])
        #expect(parameters.queryParameters.count == 32)
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
        if parameter != .redirectPort {
            #expect(try page("docs/plugin-protocol.md").contains("`\(parameter.wireKey)`"))
        }
        guard SignInParameter.ofRules.contains(parameter) else { return }
        #expect(try page("docs/configuration-reference.md").contains(parameter.setting))
    }
}
