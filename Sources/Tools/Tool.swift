import Addresses
package import Terminal

/// A tool that asks lanyard for credentials: how it starts lanyard, what it says, and how it is set up.
package struct Tool: Sendable {
    /// How a tool starts lanyard.
    package enum Launch: Sendable {
        /// By an installed link to lanyard with this name.
        case link(String)
        /// By a command of lanyard's.
        case verb(ToolVerb)
        /// By a link that only `exec` makes, and that isn't installed, or by lanyard's command of that name.
        case standIn(ToolVerb)
    }

    /// The name that people use for it.
    package let name: String
    /// Other tools that start lanyard in the same way, and go by the same settings.
    package let relatives: [String]
    /// More names by which `configure` knows it.
    package let aliases: [String]
    /// How it starts lanyard; nil if it doesn't, or, like git, has ways of its own.
    package let launch: Launch?
    /// How `configure` sets it up; nil if lanyard writes no settings for it.
    package let setup: ToolSetup?
    /// What to do instead if lanyard writes no settings for it.
    package let recipe: Hint?
    /// The protocol, and what makes one for a call; nil if it only needs a recipe or an agent.
    private let speech: (type: any ToolProtocol.Type, make: @Sendable (ToolCall) -> any ToolProtocol)?

    /// Creates a tool that speaks a protocol.
    init<Speech: ToolProtocol>(
        _ name: String, relatives: [String] = [], aliases: [String] = [], _ launch: Launch? = nil,
        _ make: @escaping @Sendable (ToolCall) -> Speech, setup: ToolSetup? = nil, recipe: Hint? = nil
    ) {
        (self.name, self.relatives, self.aliases, self.launch) = (name, relatives, aliases, launch)
        (self.setup, self.recipe) = (setup?.named(name, [name] + relatives + aliases), recipe)
        speech = (Speech.self, make)
    }

    /// Creates a tool that isn't served.
    init(_ name: String, relatives: [String] = [], setup: ToolSetup? = nil, recipe: Hint? = nil) {
        (self.name, self.relatives, aliases, launch, speech) = (name, relatives, [], nil, nil)
        (self.setup, self.recipe) = (setup?.named(name, [name] + relatives), recipe)
    }
}

/// A command of lanyard's that a tool runs.
///
/// It is served before the arguments are parsed: the argument parser knows it only for help and completion.
package struct ToolVerb: Sendable {
    package let name: String
    package let abstract: String
    package let discussion: String
    /// The URL that it takes, or all arguments if it stands in for a program, for help.
    package let argument: String
    package var isOptional = false
    /// How a program is called that it stands in for; nil for others.
    package var usage: String?
    package let examples: KeyValuePairs<String, String>
}

/// How a tool runs lanyard.
package struct ToolCall: Sendable {
    let arguments: [String]
    let environment: [String: String]
    let isAtTerminal: Bool
    /// lanyard's own version.
    let version: String

    package init(
        _ arguments: [String], environment: [String: String] = [:], isAtTerminal: Bool = false, version: String = ""
    ) {
        (self.arguments, self.environment) = (arguments, environment)
        (self.isAtTerminal, self.version) = (isAtTerminal, version)
    }
}

extension Tool {
    /// All tools, in the order in which they are shown.
    package static let all: [Tool] = [
        git, docker, podman, oras, helm, cargo, go, bazel, pip, uv, pdm, twine, keyring, kubectl, terraform, pnpm, aws,
        gcloud, nuget, azureCLI, azd, ssh, container, npm,
    ]

    private static let git = Tool("git", nil, { _ in GitProtocol(.get) })

    private static let npm = Tool(
        "npm", relatives: ["yarn", "maven", "mvn", "gradle", "composer"],
        recipe: Hint("run it with a token in a variable", run: "lanyard exec URL -- COMMAND"))

    /// The names of the installed links to lanyard.
    package static let programs: [String] = all.compactMap { if case .link(let name) = $0.launch { name } else { nil } }
        .uniqued

    /// The names that people use for the tools that are served, git's first.
    package static let names = all.filter { $0.speech != nil }.flatMap { [$0.name] + $0.relatives }

    /// Returns what to do about a tool whose settings lanyard doesn't write; nil if it writes them, or doesn't know the tool.
    package static func recipe(for name: String) -> Hint? {
        all.lazy.filter { ([$0.name] + $0.relatives + $0.aliases).contains(name) }.compactMap(\.recipe).first
    }

    /// The command that it runs; nil if it runs none.
    package var verb: ToolVerb? {
        switch launch {
        case .verb(let verb), .standIn(let verb): verb
        case .link, nil: nil
        }
    }

    /// The program that lanyard stands in for to serve it; nil if there is none.
    package var standIn: String? { if case .standIn(let verb) = launch { verb.name } else { nil } }

    /// Finds the tool that runs a program with these arguments, and what it passes to its protocol; nil if there is none, or if the
    /// user asks for help.
    package static func served(program: String, arguments: [String]) -> (tool: Tool, arguments: [String])? {
        for tool in all {
            switch tool.launch {
            case .link(program): return (tool, arguments)
            case .standIn where tool.standIn == program: return (tool, arguments)
            case .verb(let verb), .standIn(let verb):
                guard verb.name == arguments.first, !arguments.contains(where: \.asksForHelp) else { continue }
                return (tool, Array(arguments.dropFirst()))
            default: continue
            }
        }
        return nil
    }

    /// Returns the protocol as it serves a call; nil if the tool isn't served.
    package func start(_ call: ToolCall) -> (any ToolProtocol)? { speech?.make(call) }

    /// Returns a tool's protocol and how the tool asks for a URL; nil if there is no such tool.
    package static func trial(of name: String, for url: String, _ call: ToolCall) -> (
        tool: any ToolProtocol, Invocation
    )? {
        guard let tool = all.first(where: { ([$0.name] + $0.relatives).contains(name) }), let speech = tool.speech
        else { return nil }
        let invocation = speech.type.invocation(for: url, of: name, atTerminal: call.isAtTerminal)
        let environment = call.environment.merging(invocation.environment) { $1 }
        let asking = ToolCall(
            invocation.arguments, environment: environment, isAtTerminal: call.isAtTerminal,
            version: call.version)
        return (speech.make(asking), invocation)
    }
}

extension String {
    fileprivate var asksForHelp: Bool { self == "--help" || self == "-h" }
}
