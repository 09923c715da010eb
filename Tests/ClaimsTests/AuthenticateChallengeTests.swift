import SeededRandom
import Testing

@testable import Claims
@testable import Secrets

/// RFC 9110, 11.6.1, and what servers actually send.
@Suite struct AuthenticateChallengeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let header: String
        let challenges: [String]
        var testDescription: String { header }
    }

    private static func written(_ challenge: AuthenticateChallenge) -> String {
        let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=<\($0.value)>" }
        return ([challenge.scheme] + [challenge.token68].compactMap(\.self) + parameters).joined(separator: " ")
    }

    @Test(arguments: [
        Case(header: "Basic", challenges: ["basic"]),
        Case(header: "Basic realm=\"a\"", challenges: ["basic realm=<a>"]),
        Case(header: "NEGOTIATE YWJj==", challenges: ["negotiate YWJj=="]),
        Case(header: "Negotiate, NTLM", challenges: ["negotiate", "ntlm"]),
        Case(
            header: "Negotiate a, NTLM b==, Basic realm=x", challenges: ["negotiate a", "ntlm b==", "basic realm=<x>"]),
        Case(header: ", ,Basic realm=a,, b=c ,", challenges: ["basic b=<c> realm=<a>"]),
        Case(header: "A b = \"c\" , d\t=\te", challenges: ["a b=<c> d=<e>"]),
        Case(header: #"A b="c\"d\\e, f=g", h=i"#, challenges: [#"a b=<c"d\e, f=g> h=<i>"#]),
        Case(header: "A B=1, b=2", challenges: ["a b=<1>"]),
        Case(header: "A u=https://h/p?q=r,v=é", challenges: ["a u=<https://h/p?q=r> v=<é>"]),
        Case(header: "A b=\"c\" d=\"e\"", challenges: ["a b=<c> d=<e>"]),
        Case(header: "Basic realm=\"x\" Bearer y=\"z\"", challenges: ["basic realm=<x>", "bearer y=<z>"]),
        Case(header: "A b=\"c", challenges: ["a b=<>"]),
        Case(header: "A b=\"c\\", challenges: ["a b=<>"]),
        Case(header: "A b=", challenges: ["a b="]),
        Case(header: "A b=, c=d", challenges: ["a b= c=<d>"]),
        Case(header: "a=b, C d=e", challenges: ["c d=<e>"]),
        Case(header: "\"A b=c\", D e=f", challenges: ["d e=<f>"]),
        Case(header: "@ ; (), A b=c", challenges: ["a b=<c>"]),
        Case(header: "===", challenges: []),
        Case(header: "", challenges: []),
    ])
    func `a header is cut into challenges`(row: Case) {
        #expect(AuthenticateChallenge.read([row.header]).map(Self.written) == row.challenges)
    }

    @Test func `headers are read in order, and none goes on with another's challenge`() {
        let challenges = AuthenticateChallenge.read(["A b=c", "d=e, F g=h", "A"])
        #expect(challenges.map(Self.written) == ["a b=<c>", "f g=<h>", "a"])
    }

    @Test func `challenges and parameters are bounded`() {
        let many = Array(repeating: "A", count: 1000).joined(separator: ", ")
        #expect(AuthenticateChallenge.read([many, many]).count == AuthenticateChallenge.mostChallenges)
        let long = "A " + (0..<1000).map { "p\($0)=\"v\"" }.joined(separator: ", ")
        #expect(AuthenticateChallenge.read([long]).first?.parameters.count == AuthenticateChallenge.mostParameters)
    }

    @Test func `whatever comes, reading ends and keeps its bounds`() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("AB=\"\\, \tbearer=é{}:;@")
        for _ in 0..<2_000 {
            let length = Int.random(in: 0...60, using: &generator)
            let text = String((0..<length).compactMap { _ in alphabet.randomElement(using: &generator) })
            let challenges = AuthenticateChallenge.read([text])
            #expect(challenges.count <= text.count)
            #expect(challenges.allSatisfy { !$0.scheme.isEmpty && $0.parameters.keys.allSatisfy { !$0.isEmpty } })
        }
    }

    @Test func `a header of the longest length takes no time`() {
        let clock = ContinuousClock()
        for part in ["a=", "\"", "\\\"", "A ", "a=\"b\" ", "=", "é"] {
            let text = String(repeating: part, count: AttributeParser.longestLine / part.utf8.count)
            #expect(clock.measure { _ = AuthenticateChallenge.read([text]) } < .seconds(5), "\(part)")
        }
    }
}
