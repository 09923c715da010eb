import Foundation

/// Tools of others that ask for credentials, as PyPI has them.
///
/// script/clients gets them; script/test says in `LANYARD_CLIENTS` where they are.
package enum Clients {
    /// The folder of the virtual environment; nil if script/test couldn't get them.
    package static let folder = ProcessInfo.processInfo.environment["LANYARD_CLIENTS"]

    /// The folder of NuGet's library, which isn't there for every Python.
    package static let nuget = folder.map {
        $0 + "/nuget/artifacts_keyring/plugins/plugins/netcore/CredentialProvider.Microsoft"
    }.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }

    /// A program's path.
    package static func program(_ name: String) -> String { "\(folder ?? "")/bin/\(name)" }
}
