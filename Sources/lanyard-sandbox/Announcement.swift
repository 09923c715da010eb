import Files
import Glibc
import JSON
import SystemPackage
import Terminal

/// Announces the sandbox's addresses, once all ports are open: in `sandbox.json`, `config.toml`, `gitconfig` and on
/// stdout.
actor Announcement {
    private let world: World
    /// Whether to print everything that there is.
    private let isVerbose: Bool
    private var openPorts = 0

    init(_ world: World, isVerbose: Bool) {
        self.world = world
        self.isVerbose = isVerbose
    }

    func portOpened() {
        openPorts += 1
        guard openPorts == 9 else { return }
        do throws(CommandError) {
            try world.home.write(configuration, to: world.home.configuration)
            try world.home.write(gitConfiguration, to: world.home.gitConfiguration)
            try world.home.write(world.applicationCertificate.pem, to: world.home.applicationCertificate)
            Folder.make(world.home.google)
            for file in GoogleFiles(world: world).all {
                try world.home.write(
                    file.content.encodedText + "\n", to: "\(world.home.google)/\(file.name).json")
            }
            try world.home.write((world.forge.clients[0].secret ?? "") + "\n", to: world.home.forgeSecret)
            let greeting = Greeting(world)
            try world.home.write(greeting.variables, to: world.home.variables)
            // This is last, because it signals that everything is ready.
            try world.home.write(description + "\n", to: world.home.description)
            _ = try? FileDescriptor.standardOutput.writeAll((isVerbose ? greeting.text : greeting.start).utf8)
        } catch {
            Console.sandbox.report(error)
        }
    }

    private var clientID: String { world.directory.clients.first { $0.tenant == nil }?.id ?? "" }
    private var b2cClientID: String { world.directory.clients.first { $0.tenant != nil }?.id ?? "" }

    private var description: String {
        var members: [String: JSONValue] = [
            "authority": .string(world.authority), "resource": .string(world.resource),
            "exchanges": .string(world.exchanges), "google": .string(world.home.google),
            "registry": .string(world.registry),
            "ca_file": .string(world.home.caFile), "control_token": .string(world.controlToken),
            "client_id": .string(clientID), "b2c_client_id": .string(b2cClientID),
            "config_file": .string(world.home.configuration), "pid": .integer(Int64(getpid())),
        ]
        if let application = world.directory.applications.first {
            members["application"] = [
                "client_id": .string(application.id), "tenant": .string(application.tenant),
                "secret": .string(application.secret ?? ""), "certificate": .string(world.home.applicationCertificate),
                "request_url": .string(world.workloadRequestURL), "request_token": .string(world.workloadRequestToken),
            ]
        }
        members["machine"] = machine
        members["issuer"] = description(of: world.issuer, second: "confidential_client_id")
        members["forge"] = description(of: world.forge, second: "app_client_id")
        members["gitea"] = description(of: world.gitea, second: "confidential_client_id")
        members["forgejo"] = description(of: world.forgejo, second: "confidential_client_id")
        return JSONValue.object(members).encodedText
    }

    /// The variables of each platform's machines, and the IDs of the user-assigned identity.
    private var machine: JSONValue {
        var members: [String: JSONValue] = [
            "platforms": .object(
                Dictionary(
                    uniqueKeysWithValues: MachinePlatform.allCases.map { platform in
                        let variables = world.variables(of: platform).map { ($0.name, JSONValue.string($0.value)) }
                        return (platform.rawValue, .object(Dictionary(uniqueKeysWithValues: variables)))
                    })),
            "arc_keys": .string(world.home.arcKeys),
        ]
        if let assigned = world.assignedIdentity {
            members["client_id"] = .string(assigned.id)
            members["object_id"] = .string(assigned.object)
            members["resource_id"] = .string(assigned.resourceID)
        }
        return .object(members)
    }

    /// Returns a host's URL, its two clients, and the client secrets.
    private func description(of host: CodeHost, second: String) -> JSONValue {
        let clients = host.clients
        return [
            "url": .string(host.url), "client_id": .string(clients[0].id), second: .string(clients[1].id),
            "client_secret": .string(clients[1].secret ?? ""),
        ]
    }

    private var configuration: String {
        var text = """
            # Made by lanyard-sandbox; good for as long as it runs.
            ca-file = \(quoted(world.home.caFile))

            """ + identity + assignedIdentity
        for area in GitArea.all(in: world) {
            let isB2C = area.tenant?.kind == .b2c
            let scopes = isB2C ? area.audience.scopes : [".default"]
            text += rule(
                world.resource + "/" + area.name, authority: world.authority + area.authority,
                client: isB2C ? b2cClientID : clientID,
                scopes: scopes.map { "\(area.audience.identifiers.first ?? area.audience.id)/\($0)" })
        }
        text += rule(
            world.resource + "/v1.0", authority: world.authority + "/common", client: clientID,
            scopes: ["https://graph.microsoft.com/User.Read"])
        return text + world.hosts.map(rule(of:)).joined() + exchangeRules + clouds
    }

    /// The application's identity, which signs in by itself with its certificate.
    private var identity: String {
        guard let application = world.directory.applications.first else { return "" }
        return """

            [[identity]]
            name = \(quoted(Self.identity))
            authority = \(quoted("\(world.authority)/\(application.tenant)"))
            client-id = \(quoted(application.id))
            certificate = \(quoted(world.home.applicationCertificate))

            """
    }

    /// The machine's user-assigned identity.
    private var assignedIdentity: String {
        guard let assigned = world.assignedIdentity else { return "" }
        return """

            [[identity]]
            name = \(quoted(Self.assignedIdentity))
            managed = \(quoted("client-id:\(assigned.id)"))

            """
    }

    /// The application's name in the configuration.
    static let identity = "pipeline"
    /// The name of the machine's user-assigned identity in the configuration.
    static let assignedIdentity = "deployment"

    /// The identity's name for what is found of Google Cloud's.
    static let google = "google"

    /// The plugins' settings that have this sandbox stand for AWS and Google Cloud, the identity for the latter, and rules for the former's
    /// hosts.
    private var clouds: String {
        let region = "eu-central-1"
        let hosts = [
            "portal.sso.\(region).amazonaws.com", "123456789012.dkr.ecr.\(region).amazonaws.com",
            "contoso-123456789012.d.codeartifact.\(region).amazonaws.com",
        ]
        let rules = hosts.map { host in
            let isPortal = host.hasPrefix("portal.")
            return """

                [[rule]]
                url = \(quoted("https://\(host)"))
                authority = \(quoted(IdentityCenter.startURL))
                \(isPortal ? "" : "exchange-parameters = { role = \(quoted("123456789012/Developer")) }\n")
                """
        }
        return """

            [plugin.aws]
            region = \(quoted(region))
            endpoint = \(quoted(world.exchanges))

            [plugin.google]
            endpoint = \(quoted("\(world.exchanges)/\(GoogleCloud.path)"))

            [[identity]]
            name = \(quoted(Self.google))
            plugin = "google"

            """ + rules.joined()
    }

    /// The registry's rule, with a client that every tenant knows, and the one for keys of any role in an AWS account,
    /// on the same port.
    private var exchangeRules: String {
        let authority = "\(world.authority)/\(world.directory.tenants.first?.domain ?? "")"
        return rule(world.exchanges, authority: authority, client: "azure-cli", ("exchange", "acr"))
            + rule(
                "\(world.exchanges)/\(SecurityTokenService.roles)", authority: authority, client: clientID,
                scopes: ["api://sandbox-git/.default"], ("exchange", "aws-sts"))
    }

    private func rule(of host: CodeHost) -> String {
        rule(
            host.url, authority: host.url, client: host.clients[0].id, scopes: host.style.scopes,
            ("kind", host.kind))
    }

    /// The settings that git needs to clone from the sandbox, after the user's own; for `GIT_CONFIG_GLOBAL`.
    private var gitConfiguration: String {
        """
        # Made by lanyard-sandbox; good for as long as it runs.
        [include]
        \tpath = ~/.config/git/config
        \tpath = ~/.gitconfig
        [http \(quoted(world.resource + "/"))]
        \tsslCAInfo = \(quoted(world.home.caFile))
        [credential \(quoted(world.resource))]
        \thelper =
        \thelper = lanyard
        \tuseHttpPath = true
        \(world.hosts.map(section(of:)).joined(separator: "\n"))

        """
    }

    private func section(of host: CodeHost) -> String {
        """
        [http \(quoted(host.url + "/"))]
        \tsslCAInfo = \(quoted(world.home.caFile))
        [credential \(quoted(host.url))]
        \thelper =
        \thelper = lanyard
        """
    }

    private func rule(
        _ url: String, authority: String, client: String, scopes: [String] = [],
        _ further: (name: String, value: String)? = nil
    ) -> String {
        let list = scopes.isEmpty ? "" : "scopes = [\(scopes.map(quoted).joined(separator: ", "))]\n"
        return """

            [[rule]]
            url = \(quoted(url))
            authority = \(quoted(authority))
            client-id = \(quoted(client))
            \(list)\(further.map { "\($0.name) = \(quoted($0.value))\n" } ?? "")
            """
    }

    /// Returns a TOML basic string, which git reads the same way.
    private func quoted(_ text: String) -> String {
        JSONValue.string(text).encodedText
    }
}

extension CodeHost {
    /// lanyard's name for this kind of host.
    fileprivate var kind: String {
        switch style {
        case .issuer: "gitlab"
        case .forge: "github"
        case .gitea: name.rawValue
        }
    }
}

extension CodeHost.Style {
    /// The scopes that git needs on this host.
    fileprivate var scopes: [String] {
        switch self {
        case .issuer: ["read_repository", "write_repository"]
        case .forge: ["repo"]
        // A Gitea token is valid for everything anyway.
        case .gitea: ["openid", "profile"]
        }
    }
}
