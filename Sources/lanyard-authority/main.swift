import AWS
import Addresses
import CLinux
import CredentialSource
import EntraBroker
import Glibc
import Google
import HTTP
import IdentityEndpoint
import ManagedIdentity
import MicrosoftIdentity
import OpenIDConnect
import PluginKit
import PluginWire
import SystemPackage

lanyard_settle()
// Tokens pass through this process: keep them out of core dumps and away from other programs.
_ = lanyard_hide_memory()

/// The first-party plugins; the first argument or the program's own name selects one.
let plugins: [any AuthorityPlugin] = [
    MicrosoftPlugin.aadCommon, MicrosoftPlugin.aadTenant, MicrosoftPlugin.aadB2C, IssuerPlugin(),
    AWSPlugin(), GooglePlugin(), ManagedIdentityPlugin(), EntraBrokerPlugin(), SourcePlugin(),
]
let names = CommandLine.arguments.prefix(2).map { $0.pieces(between: "/").last.map(String.init) ?? "" }

if let plugin = plugins.first(where: { names.contains($0.description.name) }) {
    if !(plugin is EntraBrokerPlugin || plugin is SourcePlugin) { HTTPClient.prepare() }
    // Destructors would run beside a library that is still being loaded.
    _exit(await PluginMain.run(plugin))
}
if names.contains(EndpointMain.name) { exit(await EndpointMain.run()) }
let known = plugins.map(\.description.name).joined(separator: ", ")
let usage = "lanyard-authority: plugins of lanyard (\(known)); lanyard starts them itself\n"
_ = try? FileDescriptor.standardError.writeAll(usage.utf8)
exit(64)
