import Terminal

/// The text for a user who starts a sandbox: the addresses, the users, and commands to paste.
struct Greeting {
    private let world: World
    private let areas: [GitArea]

    init(_ world: World) {
        self.world = world
        areas = GitArea.all(in: world)
    }

    /// The shell's lines that have lanyard and git use the sandbox.
    var variables: String { setUp.map { "\($0)\n" }.joined() }

    /// The first steps, which fit on a screen.
    var start: String {
        let user = world.directory.users.first
        return """
            A local Entra is ready. Everything is made up and stays on this computer.

            Try it in another terminal, as \(user?.username ?? "") with the password \(user?.password ?? ""):
            \(lines([". \(word(world.home.variables))"] + firstCommands))
            If that terminal cannot open a browser, let a scripted one sign in first:
            \(lines(browser))
            For the other people, hosts and repositories, start it with: lanyard sandbox serve --verbose
            Ctrl-C ends it.

            """
    }

    /// Everything that there is.
    var text: String {
        """
        A local Entra is ready. Everything is made up and stays on this computer.

          authority    \(world.authority)/common
          resources    \(world.resource)

        Four more hosts sign the same people in and have repositories; sandbox.json names their clients:
          like GitLab    \(world.issuer.url)    (OpenID Connect)
          like GitHub    \(world.forge.url)
          like Gitea     \(world.gitea.url)
          like Forgejo   \(world.forgejo.url)

        For plugins that you write, there is a made-up issuer, whose code is 4242 (503 has it fail with that HTTP status):
          made-up        \(world.issuer.url)/quill

        A registry, as Azure Container Registry is, has the image hello:
          registry       \(world.exchanges)

        On the same port, Amazon's Security Token Service gives temporary keys for any role:
          lanyard aws \(world.exchanges)/\(SecurityTokenService.roles)/developer

        AWS's IAM Identity Center, ECR and CodeArtifact are there, too; config.toml has their rules, and its [plugin.aws] leads there:
          lanyard login https://portal.sso.eu-central-1.amazonaws.com
          lanyard aws https://portal.sso.eu-central-1.amazonaws.com/123456789012/Developer

        So is Google Cloud, for the identity \(Announcement.google) of config.toml, by a file of credentials or as a machine of Google's:
          GOOGLE_APPLICATION_CREDENTIALS=\(word("\(world.home.google)/service_account.json"))
          GCE_METADATA_HOST=\(metadataHost)

        An application signs in by itself, as a pipeline does: the identity \(Announcement.identity) of config.toml.

        So does a machine in Azure: as the identity machine or \(Announcement.assignedIdentity) in config.toml. These variables make
        this computer one; see 'man lanyard-sandbox':
        \(machine)
        Who can sign in:
        \(people)
        Repositories:
        \(repositories)
        Try it in another terminal:
        \(lines(setUp))
        If that terminal cannot open a browser, let a scripted one sign in:
        \(lines(browser))
        Then:
        \(lines(commands))
        Ctrl-C ends it.

        """
    }

    /// The host and port of Google's metadata server, which is the one of a virtual machine in Azure.
    private var metadataHost: String {
        let url = world.variables(of: .metadataService).first?.value ?? ""
        return word(String(url.drop { $0 != "/" }.drop { $0 == "/" }))
    }

    private var people: String {
        let users = world.directory.users
        let width = users.map(\.username.utf8.count).max() ?? 0
        return users.map { user in
            let gap = String(repeating: " ", count: width - user.username.utf8.count + 4)
            return "  \(user.username)\(gap)password: \(user.password)\n"
        }.joined()
    }

    private var repositories: String {
        lines(areas.map { "\(world.resource)/\($0.name)/hello.git" } + world.hosts.map(repository(at:)))
    }

    /// Returns a repository that most users may read.
    private func repository(at host: CodeHost) -> String { "\(host.url)/contoso/hello.git" }

    private var setUp: [String] {
        [
            "export LANYARD_CONFIG=\(word(world.home.configuration))",
            "export LANYARD_SANDBOX_DIR=\(word(world.home.path))",
            "export GIT_CONFIG_GLOBAL=\(word(world.home.gitConfiguration))",
        ]
    }

    /// Without a user's name, because the authorities don't all know the same users.
    private let browser = ["export BROWSER='lanyard sandbox sign-in'"]

    /// Cloning, a token for an API, and who is signed in then.
    private var firstCommands: [String] {
        (repository.map { ["git clone \($0)"] } ?? []) + [callOfGraph, "lanyard status --accounts"]
    }

    private var repository: String? {
        areas.first { $0.name == "common" }.map { word("\(world.resource)/\($0.name)/hello.git") }
    }

    private var callOfGraph: String {
        let graph = word(world.resource + "/v1.0/me")
        return "lanyard token --header \(graph) | curl --cacert \(word(world.home.caFile)) --header @- \(graph)"
    }

    private var commands: [String] {
        let secret =
            "lanyard rule secret \(word(world.forge.clients[0].id)) --authority \(word(world.forge.url)) "
            + "<\(word(world.home.forgeSecret))"
        let clones = world.hosts.map { "git clone \(word(self.repository(at: $0))) \($0.name.rawValue)" }
        return (repository.map { ["lanyard login \($0)", "git clone \($0)"] } ?? []) + [secret] + clones + [
            callOfGraph, "lanyard status --accounts",
        ] + pipeline + machineClone
    }

    /// Cloning as an application, without a user.
    private var pipeline: [String] {
        guard let application = world.directory.applications.first,
            let area = areas.first(where: { $0.tenant?.domain == application.tenant })
        else { return [] }
        let name = Announcement.identity
        return ["LANYARD_IDENTITY=\(name) git clone \(word("\(world.resource)/\(area.name)/hello.git")) \(name)"]
    }

    /// The variables that make this computer a machine of each platform.
    private var machine: String {
        MachinePlatform.allCases.map { platform in
            let gap = String(repeating: " ", count: 17 - platform.words.utf8.count)
            return "  \(platform.words)\(gap)\(assignments(platform))\n"
        }.joined()
    }

    private func assignments(_ platform: MachinePlatform) -> String {
        world.variables(of: platform).map { "\($0.name)=\(word($0.value))" }.joined(separator: " ")
    }

    /// Cloning as a machine.
    private var machineClone: [String] {
        guard let own = world.directory.managedIdentities.first,
            let area = areas.first(where: { $0.tenant?.domain == own.tenant })
        else { return [] }
        let clone = "git clone \(word("\(world.resource)/\(area.name)/hello.git")) machine"
        return ["\(assignments(.metadataService)) LANYARD_IDENTITY=machine \(clone)"]
    }

    private func lines(_ lines: [String]) -> String { lines.map { "  \($0)\n" }.joined() }

    private func word(_ text: String) -> String { ShellWords.quote(text) }
}
