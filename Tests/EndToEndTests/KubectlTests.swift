import Foundation
import TestSupport
import Testing

/// kubectl with a TLS server that requires tokens: the sandbox's resources.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct KubectlTests {
    @Test(arguments: ["v1", "v1beta1"])
    func `kubectl gets a token that the server takes, once somebody has signed in`(_ version: String) async throws {
        try await World.with { world in
            try configure(world, version)
            let early = try await kubectl(world, ["get", "pods"])
            #expect(early.status != 0 && early.errors.contains("lanyard login \(world.sandbox.resource)"), "\(early)")

            let login = try await world.lanyard(
                ["login", world.sandbox.resource], world.browser(as: "alice@contoso.example"))
            try #require(login.status == 0, "\(login)")
            for _ in 0..<2 {
                let me = try await kubectl(world, ["get", "--raw", "/v1.0/me"])
                #expect(me.status == 0 && me.output.contains("alice@contoso.example"), "\(me)")
                #expect(me.errors.isEmpty, "\(me)")
            }
        }
    }

    @Test func `a cluster that verifies ID tokens takes them from the issuer, for its app and by the user's groups`()
        async throws
    {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            for (token, group, answer) in [
                ("id", "contoso", "\"groups\": [\"contoso\""), ("id", "admins", "Forbidden"),
                ("access", "contoso", "Unauthorized"),
            ] {
                try await OIDCCluster.serve(
                    in: "\(world.folder)/\(token)-\(group)", issuer: issuer.url, client: issuer.clientID,
                    caFile: world.sandbox.caFile, group: group
                ) { cluster in
                    try world.configure(
                        after: """
                            [[rule]]
                            url = "\(cluster.url)"
                            authority = "\(issuer.url)"
                            kind = "oidc"
                            client-id = "\(issuer.clientID)"
                            scopes = ["openid", "groups"]
                            token = "\(token)"

                            """)
                    let login = try await world.lanyard(
                        ["login", cluster.url], world.browser(as: "alice@contoso.example"))
                    try #require(login.status == 0, "\(login)")
                    let asked = try await cluster.whoami(world.environment, lanyard: world.folder + "/bin/lanyard")
                    #expect(
                        (asked.output + asked.errors).contains(answer),
                        "\(token) \(group): \(asked) \(cluster.refusals)")
                    #expect((asked.status == 0) == (group == "contoso" && token == "id"), "\(asked)")
                }
            }
        }
    }

    @Test func `who declines is not asked again, however often kubectl tries`() async throws {
        try await World.with { world in
            try configure(world, "v1")
            let file = world.folder + "/kubeconfig"
            let ended = try await world.atTerminal(
                [Clients.program("kubectl"), "--kubeconfig", file, "get", "pods"], answering: [],
                world.decliningBrowser(as: "alice@contoso.example"))
            #expect(ended.status != 0, "\(ended)")
            #expect(world.asked == "asked\n", "\(ended)")
        }
    }

    /// Adds a rule for the cluster, and a user to kubectl's configuration.
    private func configure(_ world: World, _ version: String) throws {
        try world.configure(
            rule: world.sandbox.resource, at: "contoso.example", scope: "https://graph.microsoft.com/User.Read")
        try """
        {"apiVersion": "v1", "kind": "Config", "current-context": "c",
         "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
         "clusters": [{"name": "c", "cluster": {
            "server": "\(world.sandbox.resource)", "certificate-authority": "\(world.sandbox.caFile)"}}],
         "users": [{"name": "u", "user": {"exec": {
            "apiVersion": "client.authentication.k8s.io/\(version)", "command": "\(world.folder)/bin/lanyard",
            "args": ["kubectl"], "interactiveMode": "IfAvailable", "provideClusterInfo": true}}}]}
        """.write(toFile: world.folder + "/kubeconfig", atomically: true, encoding: .utf8)
    }

    private func kubectl(_ world: World, _ arguments: [String]) async throws -> Ended {
        try await world.runInside(
            Clients.program("kubectl"), ["--kubeconfig", world.folder + "/kubeconfig"] + arguments)
    }
}
