import ConsumerProtocols

/// A tool that lanyard serves in the tool's own protocol.
///
/// git isn't among them because it has two more ways in: `lanyard get` and `git-credential-lanyard`.
struct ServedTool: Sendable {
    /// How a tool starts lanyard.
    private enum Launch: Sendable {
        /// Through a link to lanyard with this name.
        case program(String)
        /// Through a link that only `exec` makes, and that isn't installed, or one of lanyard's commands of that name.
        case standIn(String)
        /// Through one of lanyard's commands.
        case command(String)
    }

    /// Makes the consumer from the arguments that the tool passes, and from what it runs in.
    private typealias ConsumerFactory = @Sendable (_ arguments: [String], _ context: CommandContext) -> any Consumer

    /// Tools that start lanyard in the same way, and the consumer that serves them.
    private struct Row: Sendable {
        let launch: Launch
        /// The names that people use for these tools.
        let tools: [String]
        let makeConsumer: ConsumerFactory

        init(_ launch: Launch, for tools: String..., makeConsumer: @escaping ConsumerFactory) {
            self.launch = launch
            self.tools = tools
            self.makeConsumer = makeConsumer
        }
    }

    private static let all = [
        Row(.program("docker-credential-lanyard"), for: "docker", "podman", "skopeo", "buildah", "oras", "helm") {
            arguments, _ in
            DockerConsumer(arguments, version: Version.current)
        },
        Row(.program("cargo-credential-lanyard"), for: "cargo") { arguments, _ in CargoConsumer(arguments) },
        Row(.command("goauth"), for: "go") { arguments, _ in GoConsumer(arguments) },
        Row(.program("bazel-credential-lanyard"), for: "bazel") { arguments, _ in BazelConsumer(arguments) },
        Row(.program("keyring"), for: "pip", "uv", "pdm", "twine", "poetry", "keyring") { arguments, context in
            KeyringConsumer(arguments, isTyped: context.isInputTerminal)
        },
        Row(.command("kubectl"), for: "kubectl", "k9s") { KubernetesConsumer($0, environment: $1.environment) },
        Row(.program("terraform-credentials-lanyard"), for: "terraform", "tofu", "opentofu") { arguments, _ in
            TerraformConsumer(arguments)
        },
        Row(.command("pnpm"), for: "pnpm") { arguments, _ in PnpmConsumer(arguments) },
        Row(.command("aws"), for: "aws") { arguments, _ in AWSConsumer(arguments) },
        Row(.command("gcloud"), for: "gcloud") { GoogleConsumer($0, $1.environment) },
        Row(.program("nuget-plugin-lanyard"), for: "nuget", "dotnet") { arguments, _ in NuGetConsumer(arguments) },
        Row(.standIn(AzureCLIConsumer.program), for: "azure-cli") {
            AzureCLIConsumer($0, environment: $1.environment, version: Version.current)
        },
        Row(.standIn(AzureDeveloperCLIConsumer.program), for: "azd") { arguments, _ in
            AzureDeveloperCLIConsumer(arguments)
        },
    ]

    private static let git = Row(.command("get"), for: "git") { _, _ in GitConsumer(.get) }

    /// The names of the installed links to lanyard.
    static let programs = all.compactMap { row in
        if case .program(let name) = row.launch { name } else { nil }
    }

    /// The names that people use for the tools, git's first.
    static let names = ([git] + all).flatMap(\.tools)

    private let arguments: [String]
    private let makeConsumer: ConsumerFactory

    /// Finds the tool that runs a program with these arguments; nil if there is none, or if the user asks for help.
    init?(program: String, arguments: [String]) {
        for row in Self.all {
            switch row.launch {
            case .program(program), .standIn(program): self.arguments = arguments
            case .command(arguments.first ?? ""), .standIn(arguments.first ?? ""):
                guard !arguments.contains(where: \.asksForHelp) else { continue }
                self.arguments = Array(arguments.dropFirst())
            default: continue
            }
            makeConsumer = row.makeConsumer
            return
        }
        return nil
    }

    /// Returns a tool's consumer and how the tool asks for a URL; nil if there is no such tool.
    static func trial(
        of name: String, for url: String, _ context: CommandContext
    ) -> (consumer: any Consumer, invocation: Invocation)? {
        guard let row = ([git] + all).first(where: { $0.tools.contains(name) }) else { return nil }
        let tool = type(of: row.makeConsumer([], context))
        let invocation = tool.invocation(for: url, of: name, atTerminal: context.isInputTerminal)
        var played = context
        played.environment.merge(invocation.environment) { $1 }
        return (row.makeConsumer(invocation.arguments, played), invocation)
    }

    /// Returns the consumer that serves it.
    func consumer(in context: CommandContext) -> any Consumer { makeConsumer(arguments, context) }
}

extension String {
    fileprivate var asksForHelp: Bool { self == "--help" || self == "-h" }
}
