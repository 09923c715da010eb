import CredentialEngine
import JSON
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools

/// The arguments with which SDKs and Terraform run `az`, the engine's result, and the answers.
@Suite struct AzureCLIProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// The arguments of `az`.
        let line: String
        /// The scopes of the question; nil if the engine must not be asked.
        var scopes: [String]?
        var tenant: String?
        /// Members of the JSON output.
        var members: [String: JSONValue] = [:]
        /// The output if it isn't JSON.
        var text: String?
        /// Part of the message on stderr.
        var complaint: String?
        var status: Int32 = 0
        var testDescription: String { String(line.prefix(120)) }
    }

    private static let token: [String: JSONValue] = [
        "accessToken": "t", "tenant": "home", "tokenType": "Bearer", "expires_on": 2_000_000_000,
    ]
    private static let management = "https://management.core.windows.net//.default"

    private static let cases = [
        Case(
            line: "account get-access-token --output json --resource https://graph.example",
            scopes: ["https://graph.example/.default"], members: token),
        Case(
            line: "account get-access-token -o json --resource https://a.example/",
            scopes: ["https://a.example//.default"], members: token),
        Case(line: "account get-access-token -o=json", scopes: [management], members: token),
        Case(line: "account get-access-token", scopes: [management], members: token),
        Case(
            line: "account get-access-token --scope api://a/.default -o=json", scopes: ["api://a/.default"],
            members: token),
        Case(line: "account get-access-token --scope a/x a/y --debug", scopes: ["a/x", "a/y"], members: token),
        Case(line: "account get-access-token --scope=a/x --scope a/y", scopes: ["a/y"], members: token),
        Case(
            line: "account get-access-token --resource r --tenant contoso.example", scopes: ["r/.default"],
            tenant: "contoso.example", members: token),
        Case(
            line: "account get-access-token --resource r -t=8d7c0f3e-0000-4000-8000-000000000001",
            scopes: ["r/.default"], tenant: "8d7c0f3e-0000-4000-8000-000000000001", members: token),
        Case(
            line: "account get-access-token --resource r -s sub --only-show-errors", scopes: ["r/.default"],
            members: token.merging(["subscription": "sub"]) { $1 }),
        Case(
            line: "account get-access-token --resource-type oss-rdbms",
            scopes: ["https://ossrdbms-aad.database.windows.net/.default"], members: token),
        Case(line: "account get-access-token --query accessToken -o tsv", scopes: [management], text: "t\n"),
        Case(line: "account get-access-token --query expires_on -o tsv", scopes: [management], text: "2000000000\n"),
        Case(line: "account get-access-token --query accessToken -otsv", scopes: [management], text: "t\n"),
        Case(line: "account get-access-token --query=accessToken --out=TSV", scopes: [management], text: "t\n"),
        Case(line: "account get-access-token --que accessToken -o=json", scopes: [management], text: "\"t\"\n"),
        Case(line: "account get-access-token --query nothing -o tsv", scopes: [management], text: ""),
        Case(line: "account get-access-token -o none", scopes: [management], text: ""),
        Case(
            line: "account get-access-token --resource-t ms-graph -scontoso",
            scopes: ["https://graph.microsoft.com//.default"],
            members: token.merging(["subscription": "contoso"]) { $1 }
        ),
        Case(
            line: "account get-access-token --ten contoso.example --only", scopes: [management],
            tenant: "contoso.example", members: token),
        Case(
            line: "account get-access-token --re r", complaint: "--re could match --resource, --resource-type",
            status: 2),
        Case(line: "account show --scope x", complaint: "unrecognized arguments: --scope", status: 2),
        Case(line: "account get-access-token --debug=1", complaint: "unrecognized arguments: --debug=1", status: 2),
        Case(line: "account get-access-token --resource r --scope s", complaint: "give one of", status: 2),
        Case(line: "account get-access-token --resource", complaint: "expected one argument", status: 2),
        Case(line: "account get-access-token --resource-type no", complaint: "resource type", status: 2),
        Case(line: "account get-access-token --tenant a/../b", complaint: "--tenant", status: 2),
        Case(line: "account get-access-token --tenant a.example:8443", complaint: "--tenant", status: 2),
        Case(
            line: "account get-access-token --\(String(repeating: "x", count: 1 << 20))",
            complaint: "unrecognized arguments: --xxx", status: 2),
        Case(line: "account get-access-token --no-such x", complaint: "unrecognized arguments: --no-such", status: 2),
        Case(line: "account get-access-token stray", complaint: "unrecognized arguments: stray", status: 2),
        Case(line: "account get-access-token -o table", complaint: "--output json", status: 2),
        Case(line: "account get-access-token --query [].x -o tsv", complaint: "--output json", status: 2),
        Case(
            line: "account show -o=json", scopes: [management],
            members: [
                "id": "0c", "tenantId": "home", "homeTenantId": "home", "user": ["name": "alice", "type": "user"],
            ]),
        Case(line: "account show --subscription other", scopes: [management], members: ["id": "other"]),
        Case(line: "version -o=json", members: ["azure-cli": "2.91.0"]),
        Case(line: "--version", text: "azure-cli 2.91.0 (lanyard 9)\n"),
        Case(line: "group list", complaint: "only `account get-access-token`", status: 2),
        Case(line: "", complaint: "only `account get-access-token`", status: 2),
    ]

    private static func tool(_ line: String) -> AzureCLIProtocol {
        AzureCLIProtocol(
            line.split(separator: " ").map { String($0) }, environment: ["ARM_SUBSCRIPTION_ID": "0c"], version: "9")
    }

    private static func credential(_ kind: Credential.Kind = .accessToken) -> Credential {
        var credential = Credential(kind, Secret("t"), username: "alice", expiresOn: 2_000_000_000)
        credential.realm = "home"
        return credential
    }

    @Test(arguments: cases)
    func `SDKs are answered as az does`(_ given: Case) throws {
        var tool = Self.tool(given.line)
        var turn = tool.begin()
        if let scopes = given.scopes {
            guard case .ask(.get(let request)) = turn.next else {
                Issue.record("it asks for nothing: \(turn)")
                return
            }
            #expect(request.explicit.scopes == scopes)
            #expect(request.explicit.tenant == given.tenant)
            #expect(request.isUnattended && request.host == nil)
            turn = tool.receive(.credential(Self.credential()))
        }
        #expect(turn.next == .end(given.status))
        if let complaint = given.complaint {
            #expect(turn.output.isEmpty)
            guard case .other(let message, _) = turn.complaint else {
                Issue.record("it doesn't complain: \(turn)")
                return
            }
            #expect(message.text.contains(complaint))
            return
        }
        // Java reads stderr as part of the JSON.
        #expect(turn.complaint == nil)
        if let text = given.text { return #expect(String(decoding: turn.output, as: UTF8.self) == text) }
        let written = try #require(JSONValue(bytes: turn.output))
        for (name, value) in given.members { #expect(written[name] == value, "\(name)") }
    }

    @Test func `the end is written as az writes it, in local time with a fraction`() throws {
        var tool = Self.tool("account get-access-token")
        _ = tool.begin()
        let written = try #require(JSONValue(bytes: tool.receive(.credential(Self.credential())).output))
        let end = try #require(written["expiresOn"]?.string)
        #expect(end.wholeMatch(of: /2033-05-1[789] [0-9]{2}:33:20\.000000/) != nil, "\(end)")
    }

    @Test func `an end that no calendar has is a time, too`() throws {
        var tool = Self.tool("account get-access-token")
        _ = tool.begin()
        var credential = Self.credential()
        credential.expiresOn = .max
        let written = try #require(JSONValue(bytes: tool.receive(.credential(credential)).output))
        #expect(written["expires_on"] == 253_402_300_799)
        let end = try #require(written["expiresOn"]?.string)
        #expect(end.wholeMatch(of: /(9999-12-31|10000-01-01) [0-9]{2}:[0-9]{2}:59\.000000/) != nil, "\(end)")
    }

    @Test func `a token without an end has no time`() throws {
        let members = AzureCLIProtocol.token(Secret("t"), tenant: "home", expiresOn: nil)
        #expect(Set(members.keys) == ["accessToken", "tenant", "tokenType"])
    }

    @Test func `who must sign in is told by lanyard, in words that SDKs know`() {
        var tool = Self.tool("account get-access-token")
        _ = tool.begin()
        let refusal = Refusal(
            cause: .other, message: "nobody has signed in", remedies: ["sign in: lanyard login"], status: 2)
        let turn = tool.receive(.refused(refusal))
        #expect(turn.next == .end(1) && turn.output.isEmpty)
        #expect(
            turn.complaint
                == .other(
                    "nobody has signed in (to SDKs: Please run 'az login' to set up an account)",
                    remedy: "sign in: lanyard login"))
    }

    @Test(arguments: [("AADSTS50076: use more factors", Int32(2)), ("the keyring is locked", 1)])
    func `a refusal of another kind is told as it is`(message: String, status: Int32) {
        var tool = Self.tool("account get-access-token")
        _ = tool.begin()
        let turn = tool.receive(.refused(Refusal(cause: .other, message: message, status: status)))
        #expect(turn == Turn(complaint: .refusal, .end(1)))
    }

    @Test func `a password is no token`() {
        var tool = Self.tool("account get-access-token")
        _ = tool.begin()
        let turn = tool.receive(.credential(Self.credential(.password)))
        #expect(turn.next == .end(1) && turn.output.isEmpty && turn.complaint != nil)
    }

    @Test func `other commands are the Azure CLI's own`() {
        #expect(!AzureCLIProtocol.serves(["repos", "list"]))
        #expect(!AzureCLIProtocol.serves(["login"]))
        #expect(!AzureCLIProtocol.serves([]))
        #expect(AzureCLIProtocol.serves(["account", "show"]))
    }
}
