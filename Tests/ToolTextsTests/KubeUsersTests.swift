import Testing

@testable import ToolTexts

/// Users in kubeconfigs: which ones are converted, and what stays.
@Suite struct KubeUsersTests {
    private static func file(_ user: String, indent: String = "") -> String {
        let lines = user.split(separator: "\n").map { "\(indent)    \($0)" }.joined(separator: "\n")
        return "users:\n\(indent)- name: \"me\"\n\(indent)  user:\n\(lines)\ncontexts: []\n"
    }

    private static func kubelogin(_ arguments: String...) -> String {
        "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  args:\n"
            + arguments.map { "  - \($0)\n" }.joined() + "  command: /usr/bin/kubelogin\n  env: null"
    }

    @Test(arguments: [
        kubelogin("get-token"), kubelogin("get-token", "--login", "interactive"),
        kubelogin("get-token", "--login=azurecli"),
        kubelogin("\"--login\"", "'devicecode'", "--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630"),
        kubelogin("--login", "spn").replacing(
            "env: null",
            with: "env:\n  - name: AAD_LOGIN_METHOD\n    value: devicecode\n  - name: AZURE_TENANT_ID\n    value: \"x\""
        ),
        "auth-provider:\n  config:\n    access-token: secret\n    client-id: x\n  name: azure",
        kubelogin("get-token # --login spn", "\"--login\" # a person's", "devicecode\t# 'here'").replacing(
            "kubelogin", with: "kubelogin # mine"),
    ])
    func `who signs in as a person runs lanyard`(user: String) throws {
        for indent in ["", "  "] {
            let text = Self.file(user, indent: indent)
            let users = KubeUsers(text)
            let found = try #require(users.users.first)
            let lines = try #require(found.converted(running: "lanyard"))
            let changed = users.replacing(found, with: lines)
            #expect(changed.contains("\(indent)    exec:\n\(indent)      apiVersion: client.authentication.k8s.io/v1"))
            #expect(changed.hasSuffix("provideClusterInfo: true\ncontexts: []\n") && !changed.contains("kubelogin"))
            let again = try #require(KubeUsers(changed).users.first)
            #expect(again.isLanyard && again.converted(running: "lanyard") == lines)
            #expect(KubeUsers(changed).replacing(again, with: found.lines) == text)
        }
    }

    @Test(arguments: [
        kubelogin("--login", "spn"), kubelogin("--login=msi"), kubelogin("-l", "workloadidentity"),
        kubelogin("--login"),
        kubelogin("get-token", "--client-secret", "x"), kubelogin("get-token", "--password=x"),
        kubelogin("get-token").replacing("env: null", with: "env:\n  - name: AAD_USER\n    value: x"),
        kubelogin("get-token").replacing("env: null", with: "env:\n  - name: AAD_LOGIN_METHOD\n    value: spn"),
        kubelogin("get-token").replacing("env: null", with: "env:\n  - name: AZURE_TENANT_ID\n    value: \"\""),
        kubelogin("get-token").replacing("env: null", with: "env:\n  - name: AZURE_CLIENT_SECRET\n    value: x"),
        "exec:\n  args: [get-token, --login, ropc, --username, u, --password, secret]\n  command: kubelogin",
        "exec:\n  args: [get-token,\n    \"--login\", spn]\n  command: kubelogin",
        "auth-provider:\n  name: gcp", "token: abc", "exec:\n  command: aws", "exec: {command: kubelogin}",
    ])
    func `all others stay`(user: String) throws {
        let found = try #require(KubeUsers(Self.file(user)).users.first)
        #expect(found.name == "me" && found.converted(running: "lanyard") == nil)
    }

    @Test func `comments are no part of what they stand behind`() throws {
        let me = "- name: me # I\n  user: # x\n    token: 'a # b' # c\n"
        let text = "users: # all\n# mine\n\(me)- name: you\n  user: {}\n"
        let users = KubeUsers(text)
        #expect(users.names == ["me", "you"] && users.users.first?.value(of: "token") == "a # b")
    }

    @Test func `tokens are not for a record`() throws {
        let config = "    access-token: secret\n    refresh-token: 's'\n    tenant-id: t\n"
        let user = "auth-provider:\n  config:\n\(config)  name: azure"
        let found = try #require(KubeUsers(Self.file(user)).users.first)
        #expect(found.withoutTokens == ["auth-provider:", "  config:", "    tenant-id: t", "  name: azure"])
    }

    @Test(arguments: [
        "", "users: []\n", "users:\n", "users: [{name: a, user: {}}]\n", "{\"users\": []}", "users:\n- x\n",
        "{\"users\": [", "users: [{name: a, user: {exec: {command: kubelogin}}\n",
    ])
    func `what isn't written as kubectl writes it has no users`(text: String) { #expect(KubeUsers(text).users.isEmpty) }

    @Test(arguments: [
        #"{"apiVersion": "v1", "users": [{"name": "me", "user": {"exec": {"args": ["get-token"], "command": "kubelogin"}}}]}"#,
        "users: [{name: me, user: {exec: {command: kubelogin, args: [get-token,\n  --login, devicecode]}}}]\n",
        "users:\n- {name: me, user: {exec: {command: kubelogin}}}\ncontexts: []\n",
        "users:\n- name: me\n  user: {exec: {command: '/usr/bin/kubelogin',\n    args: []}}\ncontexts: []\n",
        "users:\n- user: {exec: {command: kubelogin}}\n  name: me\n",
    ])
    func `what is written with braces is read, but not changed`(text: String) throws {
        let found = try #require(KubeUsers(text).users.first)
        #expect(found.name == "me" && found.isOfEntra && found.isFlow && found.converted(running: "lanyard") == nil)
        #expect(found.obstacle == "it is written with braces, which lanyard doesn't change")
    }

    @Test func `clusters and contexts may be written with braces`() throws {
        let text = """
            clusters:
            - cluster: {server: "https://c.example:443", certificate-authority: /ca}
              name: c
            - {name: d, cluster: {server: https://d.example}}
            current-context: x
            contexts:
            - {name: x, context: {cluster: c, user: me}}
            """
        let clusters = KubeUsers(text, list: "clusters", of: "cluster").users
        #expect(clusters.map(\.name) == ["c", "d"])
        #expect(clusters.map { $0.value(of: "server") } == ["https://c.example:443", "https://d.example"])
        let context = try #require(KubeUsers(text, list: "contexts", of: "context").users.first)
        #expect(context.value(of: "user") == "me" && KubeUsers.current(text) == "x")
    }

    @Test func `kubelogin's variables come before its options`() throws {
        let user = Self.kubelogin("--tenant-id", "a", "--client-id", "b", "--server-id", "c").replacing(
            "env: null",
            with: "env:\n  - name: AZURE_TENANT_ID\n    value: d\n  - name: AZURE_CLIENT_ID\n    value: 'e'")
        let found = try #require(KubeUsers(Self.file(user)).users.first)
        #expect(found.obstacle == nil)
        #expect(found.signIn == KubeSignIn(tenant: "d", clientID: "e", server: "c", cloud: nil))
    }
}
