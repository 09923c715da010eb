import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Testing
import Tools

/// Requests of client-go, the engine's result, and the answers.
@Suite struct KubernetesProtocolTests {
    private static let v1 = "client.authentication.k8s.io/v1"
    private static let beta = "client.authentication.k8s.io/v1beta1"
    private static let server = #""cluster":{"server":"https://k8s.example:6443/clusters/c1"}"#
    private static let token = Credential(.accessToken, Secret("t0ken"), username: "alice", expiresOn: 1_893_456_000)

    private static func info(_ version: String = v1, _ spec: String = server, kind: String = "ExecCredential") -> String
    {
        #"{"kind":"\#(kind)","apiVersion":"\#(version)","spec":{\#(spec)}}"#
    }

    private static func trial(
        _ info: String?, _ arguments: [String] = [], _ event: ToolEvent? = nil
    ) -> Conversation {
        let environment = info.map { [KubectlProtocol.variable: $0, "HOME": "/"] } ?? [:]
        return Conversation(KubectlProtocol(arguments, environment: environment), [], [event])
    }

    @Test(arguments: [v1, beta])
    func `the answer is of the request's version`(_ version: String) {
        let trial = Self.trial(Self.info(version), [], .credential(Self.token))
        let status = #"{"expirationTimestamp":"2030-01-01T00:00:00Z","token":"t0ken"}"#
        #expect(trial.output == #"{"apiVersion":"\#(version)","kind":"ExecCredential","status":\#(status)}"# + "\n")
        #expect(trial.complaints.isEmpty && trial.status == 0)
    }

    @Test func `a token without an end has no time, and a stored one is one too`() {
        for kind in [Credential.Kind.accessToken, .authorization(scheme: "bearer")] {
            let trial = Self.trial(
                Self.info(), [], .credential(Credential(kind, Secret("t"), username: nil)))
            #expect(
                trial.output == #"{"apiVersion":"\#(Self.v1)","kind":"ExecCredential","status":{"token":"t"}}"# + "\n")
        }
    }

    @Test(arguments: [Credential.Kind.password, .authorization(scheme: "Basic")])
    func `passwords are for no cluster`(_ kind: Credential.Kind) {
        let trial = Self.trial(Self.info(), [], .credential(Credential(kind, Secret("s3cret"), username: "u")))
        #expect(trial.output.isEmpty && trial.status == 1)
        #expect(
            trial.words
                == "what is stored for https://k8s.example:6443/clusters/c1 is no token, and clusters take no passwords"
        )
    }

    @Test func `nothing names the remedy`() {
        let trial = Self.trial(Self.info(), [], .nothing)
        let url = "https://k8s.example:6443/clusters/c1"
        #expect(trial.words == "no rule maps \(url); make one: lanyard rule add \(url)")
        #expect(trial.output.isEmpty && trial.status == 1)
    }

    @Test func `a refusal is told on stderr`() {
        let trial = Self.trial(Self.info(), [], .signedOut)
        #expect(trial.complaints == [.refusal] && trial.output.isEmpty && trial.status == 1)
    }

    @Test(arguments: [
        (server, true), (server + #","interactive":false"#, true), (server + #","interactive":true"#, false),
        (server + #","interactive":"yes""#, true),
    ])
    func `somebody is asked only if client-go says so`(_ spec: String, _ isUnattended: Bool) {
        let trial = Self.trial(Self.info(Self.v1, spec), [], .nothing)
        #expect(trial.request?.isUnattended == isUnattended)
        #expect(trial.request?.reach == .above && trial.request?.takesAuthorizations == true)
    }

    @Test func `the cluster says what the token is for, unless an argument does`() {
        let cluster = Self.trial(Self.info(), [], .nothing).request
        #expect(cluster?.scheme == "https" && cluster?.host?.text == "k8s.example:6443")
        #expect(cluster?.path == "clusters/c1" && cluster?.explicit.isEmpty == true)
        let named = Self.trial(Self.info(), ["https://other.example/"], .nothing).request
        #expect(named?.host?.text == "other.example" && named?.path == nil)
        let alone = Self.trial(Self.info(Self.v1, ""), ["https://other.example"], .nothing).request
        #expect(alone?.host?.text == "other.example")
    }

    @Test func `the extension's config names a token`() {
        let config = """
            "config":{"authority":"https://login.example/t","client-id":"app","scopes":["a","b"],"account":"alice","x":1}
            """
        let trial = Self.trial(
            Self.info(Self.v1, #""cluster":{"server":"https://k8s.example",\#(config)}"#), [], .nothing)
        #expect(trial.request?.host?.text == "k8s.example")
        #expect(
            trial.request?.explicit.authority == "https://login.example/t" && trial.request?.explicit.clientID == "app")
        #expect(trial.request?.explicit.scopes == ["a", "b"] && trial.request?.explicit.account == "alice")
        let alone = Self.trial(Self.info(Self.v1, #""cluster":{\#(config)}"#), [], .credential(Self.token))
        #expect(alone.request?.host == nil && alone.status == 0)
    }

    @Test(arguments: [
        (#"{"token":"id"}"#, TokenRequest.Kind.id), (#"{"token":"access"}"#, .access), (#"{"audience":"x"}"#, nil),
        ("null", nil),
    ])
    func `the extension names the token of a sign-in, and other programs' keys don't matter`(
        _ config: String, _ token: TokenRequest.Kind?
    ) {
        let trial = Self.trial(Self.info(Self.v1, #"\#(Self.extended),"config":\#(config)}"#), [], .nothing)
        #expect(trial.request?.explicit.token == token)
    }

    private static let extended = #""cluster":{"server":"https://k8s.example""#

    @Test(arguments: [
        (#"{"token":"ID"}"#, "ID is no `token`: write id or access"),
        (#"{"token":"id_token"}"#, "id_token is no `token`: write id or access"),
        (#"{"token":""}"#, " is no `token`: write id or access"), (#"{"token":7}"#, "`token` must be a text"),
        (#"{"tokn":"id"}"#, "`tokn` is unknown: did you mean `token`?"),
        (#"{"clientid":"id"}"#, "`clientid` is unknown: did you mean `client-id`?"),
        (#"{"account":null}"#, "`account` must be a text"), (#"{"scopes":"a"}"#, "`scopes` must be a list of texts"),
        (#"{"scopes":["a",1]}"#, "`scopes` must be a list of texts"), ("[]", "there is no table"),
    ])
    func `what the extension says wrongly gets no token`(_ config: String, _ words: String) {
        let trial = Self.trial(Self.info(Self.v1, #"\#(Self.extended),"config":\#(config)}"#))
        #expect(trial.words == "\(words), in the kubeconfig's extension client.authentication.k8s.io/exec")
        #expect(trial.output.isEmpty && trial.status == 1)
    }

    @Test(
        arguments: [
            (
                nil,
                "KUBERNETES_EXEC_INFO is not set; kubectl sets it for the command in a kubeconfig's users[].user.exec"
            ),
            (
                "",
                "KUBERNETES_EXEC_INFO is not set; kubectl sets it for the command in a kubeconfig's users[].user.exec"
            ),
            ("{", "KUBERNETES_EXEC_INFO holds no ExecCredential"),
            ("[]", "KUBERNETES_EXEC_INFO holds no ExecCredential"),
            ("{}", "KUBERNETES_EXEC_INFO holds no ExecCredential"),
            (info(kind: "Pod"), "KUBERNETES_EXEC_INFO holds no ExecCredential"),
            (String(repeating: "[", count: 1 << 21), "KUBERNETES_EXEC_INFO holds no ExecCredential"),
            (#"{"kind":"ExecCredential","spec":{}}"#, "KUBERNETES_EXEC_INFO holds no ExecCredential"),
            (
                info("client.authentication.k8s.io/v1alpha1"),
                """
                lanyard doesn't know apiVersion client.authentication.k8s.io/v1alpha1; \
                in the kubeconfig, write: apiVersion: client.authentication.k8s.io/v1
                """
            ),
            (info("v1"), "lanyard doesn't know apiVersion v1; in the kubeconfig, write: apiVersion: \(v1)"),
            (
                info(v1, ""),
                """
                nothing says which cluster this is for; \
                in the kubeconfig, write: provideClusterInfo: true, or give the URL as an argument
                """
            ),
            (info(v1, #""cluster":{"server":"k8s.example"}"#), "k8s.example is not a URL"),
            (
                info(v1, #""cluster":{"server":"https://a.example\\@evil.example"}"#),
                "https://…@evil.example is not a URL"
            ),
        ] as [(String?, String)])
    func `what can't be read is told, and asks nothing`(_ info: String?, _ words: String) {
        let trial = Self.trial(info)
        #expect(trial.words == words)
        #expect(trial.output.isEmpty && trial.status == 1)
    }

    @Test func `an end that no calendar has is a time, for client-go refuses a token whose time it can't read`() {
        let token = Credential(.accessToken, Secret("t"), username: nil, expiresOn: .max)
        let trial = Self.trial(Self.info(), [], .credential(token))
        #expect(trial.output.contains(#""expirationTimestamp":"9999-12-31T23:59:59Z""#), "\(trial)")
    }

    @Test func `more than one URL is too many`() {
        #expect(Self.trial(Self.info(), ["https://a.example", "https://b.example"]).status == 64)
    }
}
