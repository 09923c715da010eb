import Glibc
package import PluginWire
package import Secrets

/// The information that identifies a machine's platform: the caller's variables, and the machine's files.
package struct Surroundings: Sendable {
    private static let arcAgent = "/opt/azcmagent/bin/himds"

    /// The root folder for the machine's files; empty for `/`.
    package let root: String
    private let variables: [String: Secret]

    /// Creates surroundings from variables and the files below a folder.
    package init(_ variables: [PluginField], root: String = "") {
        self.variables = Dictionary(variables.map { ($0.name, $0.value) }) { $1 }
        self.root = root
    }

    /// Returns a variable's value; nil if it is unset or empty.
    package func secret(_ variable: String) -> Secret? {
        variables[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the value of a variable that isn't secret; nil if it is unset or empty.
    package subscript(variable: String) -> String? { secret(variable)?.reveal() }

    /// Whether the agent of Azure Arc is installed.
    package var hasArcAgent: Bool { access(root + Self.arcAgent, F_OK) == 0 }
}
