import SeededRandom
import Terminal
import Testing
import Yams

@testable import Tools

/// Users in kubeconfigs: which ones are converted, and what stays.
@Suite struct KubeconfigTests {
    private static func file(_ user: String, indent: String = "") -> String {
        let lines = user.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "\(indent)    \($0)" }.joined(separator: "\n")
        return "users:\n\(indent)- name: \"me\"\n\(indent)  user:\n\(lines)\ncontexts: []\n"
    }

    private static func kubelogin(_ arguments: String...) -> String {
        "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  args:\n"
            + arguments.map { "  - \($0)\n" }.joined() + "  command: /usr/bin/kubelogin\n  env: null"
    }

    private static func oidc(_ arguments: String...) -> String {
        let all =
            ["get-token", "--oidc-issuer-url=https://id.example.com/lab", "--oidc-client-id", "kubernetes"] + arguments
        return "exec:\n  args:\n\(all.map { "  - \($0)\n" }.joined())  command: kubelogin"
    }

    private static func user(_ text: String) throws -> KubeUser { try #require(Kubeconfig(text).users.first) }

    @Test(arguments: [
        kubelogin("get-token"), kubelogin("get-token", "--login", "interactive"),
        kubelogin("get-token", "--login=azurecli"), kubelogin("get-token", "-ldevicecode", "--legacy=false", "-v=5"),
        kubelogin("\"--login\"", "'devicecode'", "--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630"),
        kubelogin("--login", "spn", "--login", "devicecode"),
        kubelogin("--login", "spn").replacing(
            "env: null",
            with: "env:\n  - name: AAD_LOGIN_METHOD\n    value: devicecode\n  - name: AZURE_TENANT_ID\n    value: \"x\""
        ),
        "auth-provider:\n  config:\n    client-id: x\n  name: azure",
        kubelogin("get-token # --login spn", "\"--login\" # a user's", "devicecode\t# 'here'").replacing(
            "kubelogin", with: "kubelogin # mine"),
        kubelogin("get-token") + "\n  installHint: |2\n\n    kubelogin is missing.\n\n    See the manual.",
        "exec: {command: '/usr/bin/kubelogin', # mine\n  args: [get-token,\n  --login, devicecode]}",
        "as: viewer\n" + kubelogin("get-token"), kubelogin("get-token") + "\n# mine\nas: viewer\nas-groups:\n- x",
        kubelogin("get-token") + "\ntokenFile: /x",
        oidc("--oidc-use-access-token"),
        oidc("--oidc-pkce-method=auto", "--oidc-use-access-token=true", "--skip-open-browser"),
        oidc("--oidc-client-secret="),
        oidc("--oidc-use-access-token").replacing("kubelogin", with: "kubectl-oidc_login"),
        oidc("--oidc-use-access-token").replacing("kubelogin", with: "kubectl").replacing(
            "  - get", with: "  - oidc-login\n  - get"),
    ])
    func `who signs in as a user runs lanyard, and all else stays`(user: String) throws {
        for (indent, end) in [("", "\n"), ("  ", "\n"), ("", "\r\n")] {
            let text = Self.file(user, indent: indent).replacing("\n", with: end)
            let found = try Self.user(text)
            let value = try #require(found.converted(running: "lanyard"))
            let changed = try #require(Kubeconfig(text).replacing(found, with: value))
            #expect(
                changed.contains("\(indent)    exec:\(end)\(indent)      apiVersion: client.authentication.k8s.io/v1"))
            #expect(changed.contains("provideClusterInfo: true\(end)") && changed.hasSuffix("contexts: []\(end)"))
            #expect(!changed.contains("kubelogin") && changed.contains("as: viewer") == user.contains("as: viewer"))
            let again = try Self.user(changed)
            #expect(again.isLanyard && again.text == value && again.converted(running: "lanyard") == value)
            #expect(Kubeconfig(changed).replacing(again, with: try #require(found.text)) == text)
        }
    }

    @Test(arguments: [
        (kubelogin("--login", "spn"), "no user signs in with it (--login spn)"),
        (kubelogin("--login=msi"), "no user signs in with it (--login msi)"),
        (kubelogin("-l", "workloadidentity"), "no user signs in with it (--login workloadidentity)"),
        (kubelogin("-lspn"), "no user signs in with it (--login spn)"),
        (kubelogin("--login"), "it has --login, which lanyard doesn't read"),
        (kubelogin("get-token", "--client-secret", "x"), "it has --client-secret, which lanyard doesn't read"),
        (kubelogin("get-token", "--password=x"), "it has --password, which lanyard doesn't read"),
        (kubelogin("get-token", "--pop-enabled"), "it has --pop-enabled, which lanyard doesn't read"),
        (kubelogin("get-token", "x"), "it has words that are no options, which lanyard doesn't read"),
        (
            kubelogin("get-token").replacing("env: null", with: "env:\n  - name: AAD_USER\n    value: x"),
            "it sets AAD_USER for"
        ),
        (
            kubelogin("get-token").replacing("env: null", with: "env:\n  - {name: AAD_LOGIN_METHOD, value: spn}"),
            "no user signs in with it (AAD_LOGIN_METHOD is spn)"
        ),
        (
            kubelogin("get-token").replacing("env: null", with: "env:\n  - name: AZURE_TENANT_ID\n    value: \"\""),
            "it sets AZURE"
        ),
        (
            "exec:\n  args: [get-token,\n    \"--login\", spn]\n  command: kubelogin",
            "no user signs in with it (--login spn)"
        ),
        ("exec:\n  args: [-c, kubelogin get-token]\n  command: sh", "it runs sh, not kubelogin itself"),
        ("exec:\n  args: [run, x/kubelogin, get-token]\n  command: docker", "it runs docker, not kubelogin itself"),
        (oidc("--oidc-use-access-token", "--certificate-authority=/ca"), "it has --certificate-authority"),
        (oidc("--oidc-use-access-token", "--oidc-client-secret=s"), "it has --oidc-client-secret"),
        (oidc("--oidc-use-access-token", "--username", "u"), "it has --username"),
        (
            oidc("--oidc-use-access-token", "--grant-type=password"),
            "no user signs in with it (--grant-type password)"
        ),
        (oidc("--grant-type", "client-credentials"), "no user signs in with it (--grant-type client-credentials)"),
        (oidc("--insecure-skip-tls-verify"), "it has --insecure-skip-tls-verify"),
        (oidc("--oidc-client-secret", "s"), "it has --oidc-client-secret"),
        (oidc("--certificate-authority-data=Zm9v"), "it has --certificate-authority-data"),
        (oidc("--oidc-request-header", "a=b"), "it has --oidc-request-header"),
        (oidc("--password=p"), "it has --password"),
        (oidc("--local-server-cert=/c"), "it has --local-server-cert"),
        (oidc("--listen-address=127.0.0.1:80"), "its browser comes back to port 80"),
        (oidc("--oidc-redirect-url-hostname=login.example"), "its browser comes back to another host"),
        (oidc("--oidc-redirect-url=https://login.example/cb"), "its browser comes back to another place"),
        (oidc("--oidc-redirect-url=http://localhost:8000/cb"), "its browser comes back to another place"),
        (oidc("--oidc-auth-request-extra-params=prompt=login"), "it sends the parameter prompt"),
        (oidc("--oidc-auth-request-extra-params=ttl=1,login_hint=me"), "it sends the parameter login_hint"),
        (oidc("--oidc-auth-request-extra-params=client_secret=x"), "it sends the parameter client_secret"),
        (oidc("--oidc-auth-request-extra-params=a=b,API_KEY=x"), "it sends the parameter api_key"),
        (oidc("--oidc-auth-request-extra-params=x"), "it has something other than NAME=VALUE"),
        (oidc("'--oidc-auth-request-extra-params=a=\"b=c\"'"), "it has quotes in"),
        (oidc("--oidc-use-access-token").replacing("--oidc-client-id", with: "--v"), "it has no --oidc-client-id"),
        (oidc("--oidc-issuer-url=http://id.example.com"), "its --oidc-issuer-url is not an https URL"),
        (oidc("--oidc-issuer-url=https://u:S3CRET@id.example.com"), "its --oidc-issuer-url is not an https URL"),
        (oidc("--oidc-issuer-url=https://id.example.com/?x=S3CRET"), "its --oidc-issuer-url is not an https URL"),
        (oidc("'--oidc-client-id=my app'"), "its --oidc-client-id is not a client ID"),
        (oidc("'--oidc-extra-scope=a b'"), "it has something other than scopes in --oidc-extra-scope"),
        // A secret isn't the only reason.
        (oidc("--oidc-client-secret=s", "--grant-type=client-credentials"), "no user signs in with it"),
        (oidc("--oidc-client-secret=s", "--certificate-authority=/ca"), "it has --certificate-authority"),
        (oidc("--oidc-client-secret=s", "--oidc-request-header=a=b"), "it has --oidc-request-header"),
        (oidc("--oidc-client-secret=s", "--oidc-redirect-url=urn:ietf:wg:oauth:2.0:oob"), "its browser comes back"),
        (oidc("--oidc-client-secret=s", "--frob=x"), "it has --frob"),
        (oidc("--oidc-client-secret=s") + "\n  env:\n  - {name: HTTPS_PROXY, value: x}", "it sets HTTPS_PROXY"),
        (
            "auth-provider:\n  config:\n    id-token: x\n  name: oidc",
            "kubelogin gives it the tokens of an auth-provider"
        ),
    ])
    func `who can't be converted stays, with the reason`(user: String, reason: String) throws {
        let found = try Self.user(Self.file(user))
        #expect(
            found.converted(running: "lanyard") == nil && found.obstacle?.text.hasPrefix(reason) == true,
            "\(found.obstacle ?? "")")
        #expect(found.hasClientSecret == reason.hasPrefix("it has --oidc-client-secret"))
    }

    /// The options of `kubelogin get-token` 1.36, with a value for those that take one.
    private static let flags = [
        "--oidc-client-secret=x", "--oidc-redirect-url=http://127.0.0.1:9000", "--oidc-extra-scope=email",
        "--oidc-use-access-token", "--oidc-request-header=Origin=localhost", "--force-refresh", "--token-cache-dir=/x",
        "--token-cache-storage=keyring", "--certificate-authority=/ca.pem", "--certificate-authority-data=LS0t",
        "--insecure-skip-tls-verify", "--tls-renegotiation-once", "--tls-renegotiation-freely",
        "--oidc-pkce-method=S256", "--grant-type=device-code", "--listen-address=127.0.0.1:9000",
        "--skip-open-browser", "--browser-command=firefox", "--authentication-timeout-sec=60",
        "--local-server-cert=/c", "--local-server-key=/k", "--open-url-after-authentication=https://example.com",
        "--oidc-auth-request-extra-params=ttl=1", "--username=me", "--password=x", "--v=1", "-v=1",
    ]
    /// Those that change who signs in, or what is trusted, in ways that lanyard's rules can't have.
    private static let refused: Set = [
        "--oidc-client-secret", "--oidc-request-header", "--certificate-authority", "--certificate-authority-data",
        "--insecure-skip-tls-verify", "--tls-renegotiation-once", "--tls-renegotiation-freely", "--local-server-cert",
        "--local-server-key", "--username", "--password",
    ]

    @Test(arguments: flags)
    func `each option of kubelogin counts, changes nothing for lanyard, or is named`(flag: String) throws {
        let found = try Self.user(Self.file(Self.oidc(flag)))
        let name = String(flag.prefix { $0 != "=" })
        #expect(found.obstacle?.text.contains(name) ?? false == Self.refused.contains(name))
        #expect((found.converted(running: "lanyard") == nil) == Self.refused.contains(name))
    }

    @Test(arguments: [
        "auth-provider:\n  name: gcp", "token: abc", "exec:\n  command: aws\n  installHint: not kubelogin", "{}",
        "null",
        "exec: null", "exec:\n  args: [kubectl]\n  command: /x/lanyard",
    ])
    func `of all others nothing is said`(user: String) throws {
        let found = try Self.user(Self.file(user))
        #expect(found.name == "me" && !found.isOfKubelogin && found.obstacle == nil)
        #expect(found.converted(running: "lanyard") == (found.isLanyard ? found.text : nil))
    }

    @Test(arguments: [
        (
            #"{"users": [{"name": "me", "user": {"exec": {"args": ["get-token"], "command": "kubelogin"}}}]}"#,
            "with braces"
        ),
        (
            "users: [{name: me, user: {exec: {command: kubelogin, args: [get-token,\n  --login, devicecode]}}}]\n",
            "with braces"
        ),
        ("users:\n- {name: me, user: {exec: {command: kubelogin}}}\ncontexts: []\n", "with braces"),
        ("users:\n- user: {exec: {command: kubelogin}}\n  name: me\n", "with braces"),
        (
            "users:\n- name: me\n  user:\n    auth-provider:\n      config: {access-token: s}\n      name: azure\n",
            "with braces"
        ),
        ("x: &x\n  exec:\n    command: kubelogin\nusers:\n- name: me\n  user:\n    <<: *x\n", "(<<)"),
    ])
    func `what has no rows of its own is read, but not changed`(text: String, reason: String) throws {
        let found = try Self.user(text)
        #expect(found.name == "me" && found.isFixed && found.converted(running: "lanyard") == nil)
        #expect(found.obstacle?.text.contains(reason) == true)
    }

    @Test func `what others refer to is not replaced`() throws {
        let text =
            "users:\n- name: me\n  user:\n    exec: &x\n      command: kubelogin\n- name: you\n  user:\n    exec: *x\n"
        let config = Kubeconfig(text)
        #expect(config.replacing(config.users[0], with: "exec:\n  command: lanyard") == nil)
        let changed = config.replacing(config.users[1], with: "exec:\n  command: lanyard")
        #expect(changed == text.replacing("    exec: *x", with: "    exec:\n      command: lanyard"))
    }

    @Test(arguments: ["users: [", "users:\n\t- name: x", "a: 1\na: 2\n"])
    func `what is no YAML is not readable`(text: String) {
        #expect(!Kubeconfig(text).isReadable && Kubeconfig(text).users.isEmpty)
    }

    @Test func `comments are no part of what they stand behind`() {
        let config = Kubeconfig(
            "users: # all\n# mine\n- name: me # I\n  user: # x\n    token: 'a # b' # c\n- name: you\n  user: {}\n")
        #expect(config.names == ["me", "you"])
    }

    @Test func `tokens are not for a record`() throws {
        let config = "    access-token: secret\n    refresh-token: |-\n      s\n      t\n    tenant-id: t\n"
        let found = try Self.user(Self.file("auth-provider:\n  config:\n\(config)  name: azure"))
        #expect(
            found.hasTokens
                && found.text == "    auth-provider:\n      config:\n        tenant-id: t\n      name: azure")
    }

    @Test func `clusters and contexts may be written with braces`() {
        let config = Kubeconfig(
            """
            clusters:
            - cluster: {server: "https://c.example:443", certificate-authority: /ca}
              name: c
            - {name: d, cluster: {server: https://d.example}}
            current-context: x
            contexts:
            - {name: x, context: {cluster: c, user: me}}
            """)
        #expect(config.clusters.map(\.name) == ["c", "d"])
        #expect(config.clusters.map(\.server) == ["https://c.example:443", "https://d.example"])
        #expect(config.contexts.map(\.user) == ["me"] && config.currentContext == "x")
    }

    @Test func `kubelogin's variables come before its options`() throws {
        let user = Self.kubelogin("--tenant-id", "a", "--client-id", "b", "--server-id", "c").replacing(
            "env: null",
            with: "env:\n  - name: AZURE_TENANT_ID\n    value: d\n  - name: AZURE_CLIENT_ID\n    value: 'e'")
        let found = try Self.user(Self.file(user))
        #expect(found.obstacle == nil)
        #expect(found.signIn == KubeSignIn(tenant: "d", clientID: "e", server: "c", cloud: nil))
        let oidc = try Self.user(
            Self.file(Self.oidc("--oidc-extra-scope=a,b", "--oidc-extra-scope", "c")))
        #expect(
            oidc.signIn
                == KubeSignIn(
                    tenant: nil, clientID: "kubernetes", server: nil, cloud: nil, issuer: "https://id.example.com/lab",
                    scopes: ["openid", "a", "b", "c"], givesIDTokens: true, port: "8000"))
    }

    /// Forms of the options of the kubelogin for OpenID Connect, as its documentation and its users write them: whether the
    /// cluster takes ID tokens, the port, the scopes besides openid, and extra parameters.
    private static let forms: [([String], Bool, String?, [String], [String])] = [
        ([], true, "8000", [], []),
        (["--oidc-extra-scope=email"], true, "8000", ["email"], []),
        (["--oidc-extra-scope", "email"], true, "8000", ["email"], []),
        (["--oidc-extra-scope=email,profile"], true, "8000", ["email", "profile"], []),
        (["--oidc-extra-scope=email", "--oidc-extra-scope=groups"], true, "8000", ["email", "groups"], []),
        (["--oidc-extra-scope=openid", "--oidc-extra-scope=offline_access"], true, "8000", ["offline_access"], []),
        (["--oidc-use-pkce"], true, "8000", [], []),
        (["--oidc-pkce-method=S256"], true, "8000", [], []),
        (["--oidc-pkce-method", "auto"], true, "8000", [], []),
        (["--oidc-use-access-token"], false, "8000", [], []),
        (["--oidc-use-access-token=true"], false, "8000", [], []),
        (["--oidc-use-access-token=false"], true, "8000", [], []),
        (["--grant-type=auto"], true, "8000", [], []),
        (["--grant-type=authcode"], true, "8000", [], []),
        (["--grant-type=authcode-keyboard"], true, nil, [], []),
        (["--grant-type", "device-code"], true, nil, [], []),
        (["--skip-open-browser"], true, "8000", [], []),
        (["--browser-command=firefox"], true, "8000", [], []),
        (["--listen-address=127.0.0.1:12345"], true, "12345", [], []),
        (["--listen-address=0.0.0.0:8000", "--listen-address=127.0.0.1:18000"], true, "8000", [], []),
        (["--listen-port=8000"], true, "8000", [], []),
        (["--listen-address=127.0.0.1:0"], true, nil, [], []),
        (["--listen-address=127.0.0.1:9000,127.0.0.1:9001"], true, "9000", [], []),
        (["--oidc-redirect-url=http://localhost:8000"], true, "8000", [], []),
        (["--oidc-redirect-url-hostname=localhost"], true, "8000", [], []),
        (["--authentication-timeout-sec=60"], true, "8000", [], []),
        (["--token-cache-dir=/tmp/cache"], true, "8000", [], []),
        (["--token-cache-storage=keyring"], true, "8000", [], []),
        (["--force-refresh"], true, "8000", [], []),
        (["--insecure-skip-tls-verify=false"], true, "8000", [], []),
        (["-v1"], true, "8000", [], []),
        (["--v=1"], true, "8000", [], []),
        (["--oidc-auth-request-extra-params=ttl=86400"], true, "8000", [], ["ttl=86400"]),
        (["--oidc-auth-request-extra-params=ttl=86400,b"], true, "8000", [], ["ttl=86400,b"]),
        (["--oidc-auth-request-extra-params=a=foo,b=c"], true, "8000", [], ["a=foo", "b=c"]),
        (["--open-url-after-authentication=https://example.com"], true, "8000", [], []),
    ]

    @Test(arguments: forms)
    func `the forms of kubelogin's options mean what they mean to it`(
        words: [String], givesIDTokens: Bool, port: String?, scopes: [String], parameters: [String]
    ) throws {
        let user = try Self.user(
            Self.file(
                "exec:\n  args:\n"
                    + (["oidc-login", "get-token", "--oidc-issuer-url=https://id.example.com", "--oidc-client-id=app"]
                    + words)
                    .map { "  - \($0)\n" }.joined() + "  command: kubectl"))
        #expect(user.converted(running: "lanyard") != nil && user.obstacle == nil, "\(user.obstacle ?? "")")
        let wanted = KubeSignIn(
            tenant: nil, clientID: "app", server: nil, cloud: nil, issuer: "https://id.example.com",
            scopes: ["openid"] + scopes, givesIDTokens: givesIDTokens, port: port, parameters: parameters)
        #expect(user.signIn == wanted)
    }

    @Test(arguments: [
        (oidc(), "http://127.0.0.1:8000"), (oidc("--listen-port=9000"), "http://127.0.0.1:9000"),
        (oidc("--listen-address=localhost:0"), "http://127.0.0.1"),
        (oidc("--oidc-redirect-url=http://localhost:9000/"), "http://127.0.0.1:9000"),
        (oidc("--oidc-redirect-url=http://127.0.0.1:9000/"), "http://127.0.0.1:9000"),
        (oidc("--grant-type=authcode-keyboard"), "http://127.0.0.1"),
        (oidc("--grant-type=device-code"), "http://127.0.0.1"),
        (oidc("--oidc-redirect-url-hostname=127.0.0.1"), nil),
        (oidc("--oidc-redirect-url=http://127.0.0.1:9000"), nil), (kubelogin("get-token"), nil),
    ])
    func `a redirect URI that kubelogin doesn't have is known`(user: String, redirect: String?) throws {
        #expect(try Self.user(Self.file(user)).redirect == redirect)
    }

    @Test(arguments: [
        (kubelogin("get-token"), kubelogin("get-token"), true),
        (kubelogin("--login-hint=alice@contoso.com"), kubelogin("--login-hint", "alice@contoso.com"), true),
        (kubelogin("--login-hint=alice@contoso.com"), kubelogin("--login-hint=bob@contoso.com"), false),
        (kubelogin("--login-hint=alice@contoso.com"), kubelogin("get-token"), false),
        (kubelogin("--tenant-id=a"), kubelogin("--tenant-id=b"), false),
        (kubelogin("--token-cache-dir=/a"), kubelogin("get-token"), false),
        (oidc("--token-cache-dir=/a"), oidc("--token-cache-dir=/b"), false), (oidc(), oidc("--v=1"), true),
        ("auth-provider:\n  name: azure", "auth-provider:\n  name: azure", false),
    ])
    func `users who sign in alike, and keep tokens in one place, have one account`(
        first: String, second: String, isOne: Bool
    ) throws {
        let users = try [first, second].map { try Self.user(Self.file($0)) }
        #expect(users[0].shares(itsAccountWith: users[1]) == isOne)
        #expect(users[1].shares(itsAccountWith: users[0]) == isOne)
    }

    @Test(arguments: [
        kubelogin("get-token", "--client-secret", "S3CRET", "--password=S3CRET", "-xS3CRET", "--login", "spn"),
        kubelogin("get-token", "S3CRET", "--oidc-issuer-url=https://u:S3CRET@id.example", "--token=S3CRET"),
        kubelogin("--pop-enabled", "S3CRET").replacing("env: null", with: "env:\n  - name: A\n    value: S3CRET"),
        oidc("--oidc-client-secret=S3CRET", "--oidc-client-secret", "S3CRET"),
        oidc("--oidc-auth-request-extra-params=client_secret=S3CRET"),
        oidc("--oidc-auth-request-extra-params=S3CRET"), oidc("--oidc-auth-request-extra-params", "my-token=S3CRET"),
        "exec:\n  args: [-c, 'S3CRET kubelogin']\n  command: sh\n  installHint: S3CRET",
        "auth-provider:\n  config:\n    client-secret: S3CRET\n  name: azure",
    ])
    func `a summary has no secret`(user: String) throws {
        let found = try Self.user(Self.file(user))
        let shown = found.summary.joined(separator: "\n")
        #expect(!shown.contains("S3CRET") && !(found.obstacle?.text ?? "").contains("S3CRET"), "\(shown)")
        #expect(shown.hasPrefix("exec:\n") || shown == "auth-provider:\n  name: azure")
    }

    @Test func `a summary has what is no secret`() throws {
        let user = Self.kubelogin("get-token", "--login", "devicecode", "--server-id=s", "--redirect-url", "x")
            .replacing(
                "env: null", with: "env:\n  - {name: A, value: b}")
        #expect(
            try Self.user(Self.file(user)).summary == [
                "exec:", "  args:", "  - get-token", "  - --login", "  - devicecode", "  - --server-id=s",
                "  - --redirect-url",
                "  - …", "  command: /usr/bin/kubelogin", "  env:", "  - name: A",
            ])
    }

    /// Returns a kubeconfig with users written in many ways.
    private static func generated(_ random: inout SeededGenerator) -> String {
        let end = ["\n", "\n", "\r\n"].randomElement(using: &random) ?? "\n"
        func some(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
        var text = some(["", "# mine\n", "---\n", "apiVersion: v1\nkind: Config\n", "\u{FEFF}apiVersion: v1\n"])
        let base = some(["", "  ", "    "])
        text += some(["users:\n", "users: # all\n", "\"users\":\n\n"])
        for index in 0..<Int.random(in: 1...4, using: &random) {
            let deep = base + some(["    ", "     ", "        "])
            let inner = some(["  ", "   ", "    "])
            let args = some([
                "args:\n\(deep)\(inner)- get-token\n\(deep)\(inner)# which\n\(deep)\(inner)- --login=interactive\n",
                "args: [get-token, '--login', \"devicecode\"] # flow\n", "args:\n\(deep)\(inner)  - 'get-token'\n",
                "args: [get-token,\n\n    --server-id, x]\n", "args:\n\n\(deep)\(inner)-   get-token\n\n",
            ])
            let hint = some([
                "", "installHint: |\n\(deep)\(inner) # no comment\n\n\(deep)\(inner)   deeper\n\n",
                "installHint: >-\n\(deep)\(inner) a\n\n\n\(deep)\(inner) b\n",
                "installHint: 'a\n\n      b'\n", "installHint: plain\n\(deep)\(inner)  and more\n",
                "installHint: |+\n\(deep)\(inner)  kept\n\n\n",
            ])
            let rest = hint.isEmpty ? "" : deep + inner + hint
            let exec =
                "\(deep)exec:\(some(["", " # what", "  "]))\n\(some(["", "\n", "\(deep)  # c\n"]))\(deep)\(inner)command: \(some(["kubelogin", "'/x y/kubelogin'", "aws"]))\n"
                + "\(deep)\(inner)\(args)\(rest)"
            let other = some([
                "", "\(deep)as: viewer\n", "\(deep)as-user-extra:\n\(deep)- a\n", "# odd\n\(deep)token: 't #'\n",
                "\n\n",
            ])
            let settings = some([exec + other, other.trimmingEmpty + exec, exec])
            let name = "\(some(["name", "\"name\""])): u\(index)\n"
            text +=
                Bool.random(using: &random)
                ? "\(base)- \(name)\(base)  user:\(some(["", " # x", " !!map"]))\n\(settings)"
                : "\(base)- user:\n\(settings)\(base)  \(name)"
        }
        text += some(["", "contexts: []\n", "# the end", "preferences: {}", "\n\n"])
        return text.replacing("\n", with: end)
    }

    private static func library(_ text: String) throws -> Node? {
        // kubectl skips a byte order mark, the library doesn't.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        return try Parser(yaml: text, resolver: .basic, encoding: .utf8).nextRoot()
    }

    /// What a library reads, but for the `exec` of a user, with that apart.
    private static func view(_ node: Node, without user: String, isUser: Bool = false) -> (
        all: String, exec: [String: String]
    ) {
        var exec: [String: String] = [:]
        func inner(_ node: Node, isUser: Bool = false) -> String {
            let found = view(node, without: user, isUser: isUser)
            exec.merge(found.exec) { $1 }
            return found.all
        }
        switch node {
        case .scalar(let scalar): return ("'\(scalar.string)'", [:])
        case .sequence(let nodes): return ("[\(nodes.map { inner($0) }.joined(separator: ", "))]", exec)
        case .mapping(let map):
            let isMeant = map.contains { $0.key.string == "name" && $0.value.string == user }
            let entries = map.compactMap { key, value -> String? in
                guard !isUser || key.string != "exec" else {
                    exec = Dictionary(value.mapping?.map { ($0.key.string ?? "", inner($0.value)) } ?? []) { $1 }
                    return nil
                }
                return "\(key.string ?? "?"): \(inner(value, isUser: isMeant && key.string == "user"))"
            }
            return ("{\(entries.joined(separator: ", "))}", exec)
        case .alias: return ("alias", [:])
        }
    }

    @Test(arguments: 1...10) func `any kubeconfig is as it was after undoing, and differs only in one exec`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var converted = 0
        for _ in 0..<200 {
            let text = Self.generated(&random)
            let config = Kubeconfig(text)
            guard let before = try? Self.library(text) else {
                #expect(!config.isReadable)
                continue
            }
            for user in config.users {
                guard let value = user.converted(running: "/o'k/bin: x/lanyard") else { continue }
                let changed = try #require(config.replacing(user, with: value), "\(text.debugDescription)")
                let after = Self.view(try #require(try Self.library(changed)), without: user.name)
                #expect(after.all == Self.view(before, without: user.name).all, "\(text.debugDescription)")
                #expect(
                    after.exec["command"] == "'/o'k/bin: x/lanyard'" && after.exec.count == 6,
                    "\(changed.debugDescription)")
                let found = try #require(Kubeconfig(changed).users.first { $0.name == user.name })
                #expect(found.text == value)
                let back = Kubeconfig(changed).replacing(found, with: try #require(user.text))
                #expect(back == text, "\(text.debugDescription)")
                converted += 1
            }
        }
        #expect(converted > 100)
    }
}

extension String {
    fileprivate var trimmingEmpty: String { allSatisfy { $0 == "\n" } ? "" : self }
}
