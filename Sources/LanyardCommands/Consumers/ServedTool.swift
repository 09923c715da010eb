import ConsumerProtocols

/// A tool that lanyard serves in the tool's own protocol.
///
/// git isn't among them because it has two more ways in: `lanyard get` and `git-credential-lanyard`.
struct ServedTool: Sendable {
    /// How a tool runs lanyard.
    private enum Way: Sendable {
        /// Through a link to lanyard with this name.
        case program(String)
        /// Through a link that only `exec` makes, and that isn't installed, or one of lanyard's commands of that name.
        case standIn(String)
        /// Through one of lanyard's commands.
        case command(String)
    }

    /// What answers: made of the arguments that the tool passes, and of what it runs in.
    private typealias Maker = @Sendable (_ arguments: [String], _ context: CommandContext) -> any Consumer

    /// A way to run lanyard, and the consumer that serves it.
    private struct Entrance: Sendable {
        let way: Way
        /// The names that people use for these tools.
        let tools: [String]
        let make: Maker

        init(_ way: Way, for tools: String..., make: @escaping Maker) {
            self.way = way
            self.tools = tools
            self.make = make
        }
    }

    private static let all = [
        Entrance(.program("docker-credential-lanyard"), for: "docker", "podman", "skopeo", "buildah", "oras", "helm") {
            arguments, _ in
            DockerConsumer(arguments, version: Version.current)
        },
        Entrance(.program("cargo-credential-lanyard"), for: "cargo") { arguments, _ in CargoConsumer(arguments) },
        Entrance(.command("goauth"), for: "go") { arguments, _ in GoConsumer(arguments) },
        Entrance(.program("bazel-credential-lanyard"), for: "bazel") { arguments, _ in BazelConsumer(arguments) },
        Entrance(.program("keyring"), for: "pip", "uv", "pdm", "twine", "poetry", "keyring") { arguments, context in
            KeyringConsumer(arguments, isTyped: context.isInputTerminal)
        },
        Entrance(.command("kubectl"), for: "kubectl", "k9s") { KubernetesConsumer($0, environment: $1.environment) },
        Entrance(.program("terraform-credentials-lanyard"), for: "terraform", "tofu", "opentofu") { arguments, _ in
            TerraformConsumer(arguments)
        },
        Entrance(.command("pnpm"), for: "pnpm") { arguments, _ in PnpmConsumer(arguments) },
        Entrance(.command("aws"), for: "aws") { arguments, _ in AWSConsumer(arguments) },
        Entrance(.command("gcloud"), for: "gcloud") { GoogleConsumer($0, $1.environment) },
        Entrance(.program("nuget-plugin-lanyard"), for: "nuget", "dotnet") { arguments, _ in NuGetConsumer(arguments) },
        Entrance(.standIn(AzureCLIConsumer.program), for: "azure-cli") {
            AzureCLIConsumer($0, environment: $1.environment, version: Version.current)
        },
        Entrance(.standIn(AzureDeveloperCLIConsumer.program), for: "azd") { arguments, _ in
            AzureDeveloperCLIConsumer(arguments)
        },
    ]

    private static let git = Entrance(.command("get"), for: "git") { _, _ in GitConsumer(.get) }

    /// The names of the installed links to lanyard.
    static let programs = all.compactMap { entrance in
        if case .program(let name) = entrance.way { name } else { nil }
    }

    /// The names that people use for the tools, git's first.
    static let names = ([git] + all).flatMap(\.tools)

    private let arguments: [String]
    private let make: Maker

    /// Finds the tool that runs a program with these arguments; nil if there is none, or if the user asks for help.
    init?(program: String, arguments: [String]) {
        for entrance in Self.all {
            switch entrance.way {
            case .program(program), .standIn(program): self.arguments = arguments
            case .command(arguments.first ?? ""), .standIn(arguments.first ?? ""):
                guard !arguments.contains(where: \.asksForHelp) else { continue }
                self.arguments = Array(arguments.dropFirst())
            default: continue
            }
            make = entrance.make
            return
        }
        return nil
    }

    /// Returns a tool's consumer and how the tool asks for a URL; nil if there is no such tool.
    static func trial(
        of name: String, for url: String, _ context: CommandContext
    ) -> (consumer: any Consumer, invocation: Invocation)? {
        guard let entrance = ([git] + all).first(where: { $0.tools.contains(name) }) else { return nil }
        let tool = type(of: entrance.make([], context))
        let invocation = tool.invocation(for: url, of: name, atTerminal: context.isInputTerminal)
        var played = context
        played.environment.merge(invocation.environment) { $1 }
        return (entrance.make(invocation.arguments, played), invocation)
    }

    /// What answers it.
    func consumer(in context: CommandContext) -> any Consumer { make(arguments, context) }
}

extension String {
    fileprivate var asksForHelp: Bool { self == "--help" || self == "-h" }
}
