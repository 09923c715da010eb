import AnswerCache
import Keyring
package import Model
import OtherCaches
import PluginHost
import PluginWire
package import Rules
package import Terminal
package import Tools

extension CommandContext: ToolSurroundings {
    package func configuration() throws(CommandError) -> Configuration { try Session(self).configuration }

    package func resolve(_ request: CredentialRequest) throws(CommandError) -> TokenRequest? {
        try Session(self).resolve(request)
    }

    package func authority(ofTenant tenant: String, cloud: String?) -> String? {
        AzureCloud.authority(ofTenant: tenant, in: cloud) ?? registry.authority(typed: tenant)
    }

    package func client(ofResource resource: String) -> String? {
        registry.resource(ofScopes: [CredentialRequest.ExplicitToken.scope(ofResource: resource)])?.clients.first
    }

    package func recordedChanges() throws(CommandError) -> [RecordedChange] { try ToolRecord(self).entries() }

    package var agentFolder: String? { try? agentSockets() }

    package func installed(_ program: String) -> String? { InstalledFiles(self).program(program) }

    package func digest(of text: String) -> String { text.shortDigest }

    /// Returns a tool's call with these arguments.
    package func call(_ arguments: [String]) -> ToolCall {
        ToolCall(arguments, environment: environment, isAtTerminal: isInputTerminal, version: Version.current)
    }
}
