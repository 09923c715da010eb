import CredentialEngine
import JSON
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools
import Vectors

/// The cases in `broker.json` about what SDKs run, and which answers they accept.
@Suite struct AzureVectorsTests {
    private static func request(_ consumer: some ToolProtocol) -> CredentialRequest? {
        var consumer = consumer
        guard case .ask(.get(let request)) = consumer.begin().next else { return nil }
        return request
    }

    private static func azure(_ arguments: [String]) -> AzureCLIProtocol {
        AzureCLIProtocol(arguments, environment: [:], version: "9")
    }

    private static let credential: Credential = {
        var credential = Credential(.accessToken, Secret("T"), username: "alice", expiresOn: 1_798_804_800)
        credential.realm = "t"
        return credential
    }()

    @Test(arguments: BrokerVectors.followed("az-request"))
    func `what SDKs ask of the Azure CLI`(_ vector: VectorCase) throws {
        let arguments = vector.texts("argv")
        #expect(AzureCLIProtocol.serves(arguments))
        var consumer = Self.azure(arguments)
        guard let scope = vector.expected("scope") else {
            let turn = consumer.begin()
            let version = JSONValue(bytes: turn.output)?["azure-cli"]?.string?.split(separator: ".").compactMap {
                Int($0)
            }
            #expect(try #require(version).starts(with: [2]) && version.map { $0[1] >= 30 } == true)
            return #expect(turn.next == .end(0) && turn.complaint == nil)
        }
        let request = try #require(Self.request(consumer))
        #expect(request.explicit.scopes == [scope] && request.isUnattended)
        #expect(request.explicit.tenant == vector.expected("tenant"))
        _ = consumer.begin()
        let answer = try #require(JSONValue(bytes: consumer.receive(.credential(Self.credential)).output))
        #expect(answer["subscription"]?.string == vector.expected("subscription"))
    }

    @Test(arguments: BrokerVectors.followed("azd-request"))
    func `what SDKs ask of the Azure Developer CLI`(_ vector: VectorCase) throws {
        let arguments = vector.texts("argv")
        #expect(AzureDeveloperCLIProtocol.serves(arguments))
        let request = try #require(Self.request(AzureDeveloperCLIProtocol(arguments)))
        if vector.expect["scopes"] != nil { #expect(request.explicit.scopes == vector.expectedTexts("scopes")) }
        #expect(request.explicit.tenant == vector.expected("tenant"))
        #expect(request.explicit.claims == vector.expected("claims"))
    }

    /// `AzureSDKTests` tries the SDKs' reaction to a reply with azure-identity itself; this tests what Python can't
    /// show.
    @Test(arguments: BrokerVectors.followed("az-reply"))
    func `what SDKs want of a reply`(_ vector: VectorCase) throws {
        var consumer = Self.azure(["account", "get-access-token", "--output", "json", "--resource", "r"])
        _ = consumer.begin()
        let turn: Turn
        if vector.input["exit"]?.wholeNumber ?? 0 == 0 {
            turn = consumer.receive(.credential(Self.credential))
            // Some SDKs read stderr together with the JSON, or look for "az login" there.
            #expect(turn.complaint == nil && turn.note == nil && turn.next == .end(0))
            let reply = try #require(JSONValue(bytes: turn.output))
            #expect(reply["accessToken"] == "T" && reply["tokenType"] == "Bearer" && reply["tenant"] == "t")
            #expect(reply["expires_on"]?.integer == 1_798_804_800)
            #expect(reply["expiresOn"]?.string?.hasSuffix(".000000") == true)
        } else {
            let goesOn = vector.expected("chain") == "goes on"
            let message = vector.text("stderr") ?? ""
            turn = consumer.receive(.refused(Refusal(cause: .other, message: message, status: goesOn ? 2 : 1)))
            #expect(turn.next == .end(1) && turn.output.isEmpty)
            // A refusal is reported in its own words, which must not contain these; an authority's is always reported.
            #expect((turn.complaint != .refusal) == goesOn)
        }
    }

    @Test(arguments: BrokerVectors.followed("azd-reply"))
    func `what SDKs want of azd's reply`(_ vector: VectorCase) throws {
        var consumer = AzureDeveloperCLIProtocol(
            ["auth", "token", "--output", "json", "--no-prompt", "--scope", "s"]
                + (vector.text("claims") == nil ? [] : ["--claims", "eyJhY2Nlc3NfdG9rZW4iOnt9fQ=="]))
        guard case .ask = consumer.begin().next else {
            Issue.record("it asks for nothing")
            return
        }
        guard let reply = vector.input["stdout"] else {
            let refusal = Refusal(cause: .other, message: "nobody has signed in", status: 2)
            guard case .other(let message, _) = consumer.receive(.refused(refusal)).complaint else {
                Issue.record("it doesn't complain")
                return
            }
            return #expect(message.text.contains("not logged in, run `azd auth login` to login"))
        }
        let turn = consumer.receive(.credential(Self.credential))
        #expect(turn.complaint == nil && turn.next == .end(0))
        // Always in UTC, whatever Python makes of it in Tokyo.
        #expect(JSONValue(bytes: turn.output) == reply)
    }

    struct Line: Sendable, CustomTestStringConvertible {
        let line: String
        let complaint: String
        var testDescription: String { String(line.prefix(80)) }
    }

    @Test(arguments: [
        Line(line: "auth token --output yaml", complaint: "--output json"),
        Line(line: "auth token --scope", complaint: "flag needs an argument: --scope"),
        Line(line: "auth token --tenant-id a/../b", complaint: "--tenant-id"),
        Line(line: "auth token --claims ???", complaint: "--claims"),
        Line(line: "auth token --claims e30x", complaint: "--claims"),
        Line(line: "auth token --such x", complaint: "unknown flag: --such"),
        Line(line: "auth token stray", complaint: "unknown flag: stray"),
        Line(line: "up", complaint: "only `azd auth token`"),
        Line(line: "", complaint: "only `azd auth token`"),
    ])
    func `what azd would not take isn't taken`(_ given: Line) {
        var consumer = AzureDeveloperCLIProtocol(given.line.split(separator: " ").map(String.init))
        let turn = consumer.begin()
        guard case .other(let message, _) = turn.complaint else {
            Issue.record("it doesn't complain: \(turn)")
            return
        }
        #expect(message.text.contains(given.complaint) && turn.next == .end(2) && turn.output.isEmpty)
    }

    @Test func `azd is told of refusals as az is`() {
        var consumer = AzureDeveloperCLIProtocol([
            "auth", "token", "--scope=a", "-o", "json", "--scope", "b", "--debug",
        ])
        guard case .ask(.get(let request)) = consumer.begin().next else {
            Issue.record("it asks for nothing")
            return
        }
        #expect(request.explicit.scopes == ["a", "b"])
        let refused = Refusal(cause: .other, message: "AADSTS50076: use more factors", status: 2)
        #expect(consumer.receive(.refused(refused)) == Turn(complaint: .refusal, .end(1)))
        #expect(!AzureDeveloperCLIProtocol.serves(["auth", "login"]) && !AzureDeveloperCLIProtocol.serves(["up"]))
        #expect(AzureDeveloperCLIProtocol(["auth", "token"]).hasDefaultScope)
    }
}

extension AzureDeveloperCLIProtocol {
    fileprivate var hasDefaultScope: Bool {
        var consumer = self
        guard case .ask(.get(let request)) = consumer.begin().next else { return false }
        return request.explicit.scopes == ["https://management.core.windows.net//.default"]
    }
}
