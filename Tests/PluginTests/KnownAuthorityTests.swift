import Testing

@testable import PluginHost

/// The first-party manifests about hosts, tenants and clients.
@Suite struct KnownAuthorityTests {
    private static let registry = PluginRegistry.firstParty

    @Test(arguments: [
        ("login.microsoftonline.com", nil), ("LOGIN.microsoftonline.com", nil), ("contoso.b2clogin.com", nil),
        ("login.contoso.com", nil), ("localhost:8443", nil), ("a.b.b2clogin.com", nil), ("id.example", nil),
        ("login.microsoftonlin.com", "login.microsoftonline.com"),
        ("login.rnicrosoftonline.com", "login.microsoftonline.com"),
        ("login-microsoftonline.com", "login.microsoftonline.com"),
        ("login.microsoftonline.co", "login.microsoftonline.com"),
        ("login.microsoftonline.com:8443", "login.microsoftonline.com"),
        ("login.microsoftonline.com.evil.example", "login.microsoftonline.com"),
        ("microsoftonline-login.example", "login.microsoftonline.com"),
        ("contoso.b2clogn.com", "contoso.b2clogin.com"), ("contoso.b2clogin.co", "contoso.b2clogin.com"),
        ("githib.com", "github.com"), ("gitlab.co", "gitlab.com"), ("github.com", nil), ("acme.ghe.com", nil),
        // Organisations use such names for their own hosts.
        ("gitlab.contoso.com", nil), ("github.contoso.com", nil), ("gitea.example", nil),
    ])
    func `a host that could be taken for another is told`(_ host: String, twin: String?) {
        #expect(Self.registry.lookAlike(of: host) == twin)
    }

    @Test(arguments: [
        ("contoso-1a2b3c4d.hcp.westeurope.azmk8s.io", true),
        ("contoso-1a2b3c4d.privatelink.westeurope.azmk8s.io", true),
        ("contoso-1a2b3c4d.4e05ee57-4767-4032-ac05-27a144678e6f.privatelink.westeurope.azmk8s.io", true),
        ("contoso-1a2b3c4d.hcp.westeurope.azmk8s.io:6443", false), ("westeurope.azmk8s.io", false),
        ("azmk8s.io", false), ("contoso.hcp.westeurope.azmk8s.io.evil.example", false),
        ("contoso.hcp.westeurope.evilazmk8s.io", false),
    ])
    func `clusters of Azure Kubernetes Service take tokens for one application`(_ host: String, _ isKnown: Bool) {
        let resource = Self.registry.resource(forHost: host)
        #expect(resource?.name == (isKnown ? "Azure Kubernetes Service" : nil))
        #expect(resource?.scopes == (isKnown ? ["6dae42f8-4368-4678-94ff-3960e28e3630/.default"] : nil))
    }

    @Test(arguments: [
        ("contoso.com", "https://login.microsoftonline.com/contoso.com"),
        ("Contoso.onmicrosoft.com", "https://login.microsoftonline.com/contoso.onmicrosoft.com"),
        ("contoso", "https://login.microsoftonline.com/contoso.onmicrosoft.com"),
        ("alice@contoso.com", "https://login.microsoftonline.com/contoso.com"),
        ("organizations", "https://login.microsoftonline.com/organizations"),
        (
            "C0A70500-0000-4000-8000-00000c0a7050",
            "https://login.microsoftonline.com/c0a70500-0000-4000-8000-00000c0a7050"
        ),
        ("login.microsoftonline.com/contoso", "https://login.microsoftonline.com/contoso.onmicrosoft.com"),
        ("login.microsoftonline.com/contoso.com", "https://login.microsoftonline.com/contoso.com"),
        ("login.microsoftonline.com/common", "https://login.microsoftonline.com/common"),
        ("login.microsoftonline.us/contoso", "https://login.microsoftonline.us/contoso.onmicrosoft.com"),
        (
            "contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_susi",
            "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_susi"
        ),
        // These have no tenant, or are complete.
        ("login.microsoftonline.com", "https://login.microsoftonline.com"),
        ("adfs", "https://adfs"), ("a b", "https://a b"), ("", ""),
        ("https://login.microsoftonline.com/contoso", "https://login.microsoftonline.com/contoso"),
        ("http://contoso.com", "http://contoso.com"),
    ])
    func `what people type is taken for the authority that they mean`(_ typed: String, url: String) {
        #expect(Self.registry.authority(typed: typed) == url)
    }

    @Test func `both plugins of Entra know the same clients, by name and by id`() throws {
        let common = try #require(Self.registry.match(authority: "https://id.example/common", isConfigured: true))
        let tenant = try #require(Self.registry.match(authority: "https://id.example/contoso.com", isConfigured: true))
        #expect(common.plugin.name != tenant.plugin.name)
        #expect(common.plugin.clients == tenant.plugin.clients && !common.plugin.clients.isEmpty)
        let client = try #require(tenant.client("azure-cli"))
        #expect(tenant.client(client.id.uppercased()) == client)
        #expect(tenant.client("Azure-CLI") == nil && !tenant.takes(clientID: "Azure-CLI"))
        #expect(tenant.nearestClient(to: "azur-cli") == "azure-cli")
        #expect(tenant.takes(clientID: "11111111-2222-3333-4444-555555555555"))
        let policy = try #require(
            Self.registry.match(authority: "https://x.b2clogin.com/t.example/B2C_1_x", isConfigured: true))
        #expect(policy.client("azure-cli") == nil)
    }

    @Test func `every client that a tool is said to take is one`() {
        let names = Set(Self.registry.plugins.flatMap(\.clients).map(\.name))
        let taken = Self.registry.plugins.flatMap(\.resources).flatMap(\.clients)
        #expect(!taken.isEmpty && names.isSuperset(of: taken))
    }
}
