import AnswerCache
import Keyring
import OtherCaches
import PluginHost
import PluginWire
import Rules
import Terminal
import Tools

extension CommandContext: ToolSurroundings {
    func configuration() throws(CommandError) -> Configuration { try Session(self).configuration }

    func resolve(_ request: CredentialRequest) throws(CommandError) -> TokenRequest? {
        try Session(self).resolve(request)
    }

    func authority(ofTenant tenant: String, cloud: String?) -> String? {
        AzureCloud.authority(ofTenant: tenant, in: cloud) ?? registry.authority(typed: tenant)
    }

    func client(ofResource resource: String) -> String? {
        registry.resource(ofScopes: [CredentialRequest.ExplicitToken.scope(ofResource: resource)])?.clients.first
    }

    func recordedChanges() throws(CommandError) -> [RecordedChange] { try ToolRecord(self).entries() }

    var agentFolder: String? { try? ForwardServeCommand.place(self) }

    func installed(_ program: String) -> String? { InstalledFiles(self).program(program) }

    func digest(of text: String) -> String { text.shortDigest }

    /// Returns a tool's call with these arguments.
    func call(_ arguments: [String]) -> ToolCall {
        ToolCall(arguments, environment: environment, isAtTerminal: isInputTerminal, version: Version.current)
    }
}
