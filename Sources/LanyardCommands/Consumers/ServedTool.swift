import ConsumerProtocols
import Glibc

/// A tool that lanyard serves in the tool's own protocol: what it runs, and what answers it.
///
/// git has more ways in, as `lanyard get` and as `git-credential-lanyard`, and stands apart.
struct ServedTool: Sendable {
    /// How a tool comes here.
    private enum Way: Sendable {
        /// By a link to lanyard of this name.
        case program(String)
        /// By a link that only `exec` makes, and that no installation has.
        case standIn(String)
        /// By a command of lanyard's.
        case command(String)
    }

    /// What answers: made of the arguments that the tool passes, and of the environment.
    private typealias Maker = @Sendable (_ arguments: [String], _ environment: [String: String]) -> any Consumer

    private static let all: [(Way, Maker)] = [
        (
            .program("docker-credential-lanyard"),
            { arguments, _ in DockerConsumer(arguments, version: Version.current) }
        ),
        (.program("keyring"), { arguments, _ in KeyringConsumer(arguments, isTyped: isatty(STDIN_FILENO) == 1) }),
        (.program("terraform-credentials-lanyard"), { arguments, _ in TerraformConsumer(arguments) }),
        (.command("kubectl"), { KubernetesConsumer($0, environment: $1) }),
        (.command("pnpm"), { arguments, _ in PnpmConsumer(arguments) }),
        (.program("cargo-credential-lanyard"), { arguments, _ in CargoConsumer(arguments) }),
        (.program("bazel-credential-lanyard"), { arguments, _ in BazelConsumer(arguments) }),
        (.command("goauth"), { arguments, _ in GoConsumer(arguments) }),
        (.command(AzureCLIConsumer.program), azureCLI), (.standIn(AzureCLIConsumer.program), azureCLI),
        (.program("nuget-plugin-lanyard"), { arguments, _ in NuGetConsumer(arguments) }),
        (.command("aws"), { arguments, _ in AWSConsumer(arguments) }),
        (.command("gcloud"), { arguments, environment in GoogleConsumer(arguments, environment) }),
    ]

    private static let azureCLI: Maker = { arguments, environment in
        AzureCLIConsumer(arguments, environment: environment, version: Version.current)
    }

    /// The names of the links to lanyard that tools run.
    static let programs = all.compactMap { way, _ in
        if case .program(let name) = way { name } else { nil }
    }

    private let arguments: [String]
    private let make: Maker

    /// Finds the tool that runs a program of this name with these arguments; nil if it is none, or a person who wants help.
    init?(program: String, arguments: [String]) {
        for (way, make) in Self.all {
            switch way {
            case .program(program), .standIn(program): self.arguments = arguments
            case .command(arguments.first ?? "") where !arguments.contains(where: \.asksForHelp):
                self.arguments = Array(arguments.dropFirst())
            default: continue
            }
            self.make = make
            return
        }
        return nil
    }

    /// What answers it.
    func consumer(_ environment: [String: String]) -> any Consumer { make(arguments, environment) }
}

extension String {
    fileprivate var asksForHelp: Bool { self == "--help" || self == "-h" }
}
