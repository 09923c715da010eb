import CredentialEngine
import Model
import Rules

@testable import PluginHost

extension Configuration {
    /// Resolves a request with the plugin of this manifest.
    func resolve(
        _ request: CredentialRequest, by manifest: PluginManifest = PluginManifest(name: "p")
    ) throws(ResolutionError) -> TokenRequest? {
        try Resolver(self, InstalledPlugins(PluginRegistry(plugins: [manifest]))).resolve(request)
    }
}

extension PluginManifest {
    /// Creates the manifest of a plugin that serves this host, and that knows a resource.
    init(authorityHost: String = "*", resource: PluginResource? = nil) {
        self.init(name: "p")
        authorities = [AuthorityPattern(hosts: [authorityHost], path: [.rest])]
        resources = resource.map { [$0] } ?? []
    }
}
