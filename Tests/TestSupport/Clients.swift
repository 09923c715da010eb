import Foundation

/// Tools of others that ask for credentials, as PyPI has them.
///
/// script/clients gets them; script/test says in `LANYARD_CLIENTS` where they are.
package enum Clients {
    /// The folder of the virtual environment; nil if script/test couldn't get them.
    package static let folder = ProcessInfo.processInfo.environment["LANYARD_CLIENTS"]

    /// A program's path.
    package static func program(_ name: String) -> String { "\(folder ?? "")/bin/\(name)" }
}
