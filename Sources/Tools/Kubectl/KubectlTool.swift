import Addresses
import Files
import Model
import Rules
import Secrets
import Terminal
import YAML

extension Tool {
    static let kubectl = Tool(
        "kubectl", relatives: ["k9s"], aliases: ["kubelogin"],
        .verb(
            ToolVerb(
                name: "kubectl", abstract: "Answer kubectl's request in KUBERNETES_EXEC_INFO.",
                discussion:
                    "kubectl, helm, k9s and other programs made with client-go run it for a user of a kubeconfig.",
                argument: "The URL that the token is for; by default the cluster's.", isOptional: true,
                examples: [
                    "Have kubectl use lanyard for a user of its configuration": """
                    kubectl config set-credentials contoso \\
                      --exec-api-version client.authentication.k8s.io/v1 \\
                      --exec-command lanyard --exec-arg kubectl \\
                      --exec-provide-cluster-info --exec-interactive-mode IfAvailable
                    """
                ])),
        { KubectlProtocol($0.arguments, environment: $0.environment) },
        setup: ToolSetup(
            purpose: "kubectl, helm and k9s use lanyard for clusters that use Entra ID or another issuer",
            discussion: """
                Converts the users of your kubeconfigs that sign a user in with either kubelogin or with kubectl's former azure \
                auth-provider. Those of service principals and managed identities stay.
                """,
            paths: ["KUBECONFIG"],
            // Of another program only what can't be a secret.
            shown: { value in
                let user = KubeUser("", text: value)
                return user.isLanyard ? value.rows : user.summary
            }, settings: KubectlSettings.init))
}

/// kubectl and other programs based on client-go: kubeconfig users of kubelogin, or of kubectl's former sign-in to
/// Azure, run lanyard instead.
struct KubectlSettings: ToolSettings {
    let place: ToolTarget

    func changes() throws(CommandError) -> [ToolChange] {
        let program = place.program("lanyard")
        let rivals = try rivals()
        let changes = try users().compactMap { file, user in
            rivals[user.name] != nil
                ? nil : user.converted(running: program).map { ToolChange(.kubeUser, [user.name], in: file, to: $0) }
        }
        guard !changes.isEmpty else { throw try nothing() }
        return changes
    }

    func remarks() throws(CommandError) -> [Hint] {
        var remarks: [Hint] = []
        let rivals = try rivals()
        for (file, user) in try users() where user.isOfKubelogin {
            let name: Message = "\(user.name, limit: 200)"
            if user.hasClientSecret {
                remarks += try steps(for: user)
            } else if let obstacle = user.obstacle {
                let what: Message = "the user \(name) stays as it is: \(obstacle)"
                remarks.append(
                    user.isFixed ? Hint("\(what); to have kubectl write it anew", run: .rewriting(file)) : Hint(what))
            } else if let reason = rivals[user.name] {
                remarks.append("the user \(name) stays as it is: \(reason)")
            } else if user.isOfFormerProvider, user.hasTokens {
                remarks.append(
                    "the tokens of the user \(name) are removed, and lanyard unconfigure kubectl can't put them back")
            } else if let redirect = user.redirect, let client = user.signIn.clientID {
                let change: Message =
                    user.showsCode
                    ? "opens a browser, except with --flow device-code" : "comes back to another URL than kubelogin's"
                remarks.append(
                    Hint(
                        "the sign-in of the user \(name) \(change); unless the issuer "
                            + "allows that, too, register with the application \(client, limit: 100)",
                        write: redirect))
            }
        }
        for (file, user) in try users(areHidden: true) where user.isOfKubelogin {
            let which: Message = "\(user.name, limit: 200) of \(place.context.short(file))"
            remarks.append("the user \(which) stays as it is: kubectl uses the one in an earlier file")
        }
        return remarks
    }

    func remarks(undoing entries: [RecordedChange]) -> [Hint] {
        let users = entries.filter { entry in
            entry.before.map { KubeUser("", text: $0).isOfFormerProvider } ?? false
        }
        return users.map { entry in
            Hint(
                "the user \(entry.change.setting.key.last ?? "") has no tokens then: "
                    + "sign in again, or have the Azure CLI write the cluster's settings",
                run: "az aks get-credentials --resource-group GROUP --name CLUSTER")
        }
    }

    func urls(undoing entries: [RecordedChange]) -> [String] {
        let clusters = try? KubeClusters(files)
        return entries.compactMap(\.change.setting.key.last).flatMap { clusters?.servers(of: $0).map(\.server) ?? [] }
    }

    func rules() throws(CommandError) -> [NeededRule] {
        let rivals = try rivals()
        var rules: [NeededRule] = []
        for (file, user) in try users() where rivals[user.name] == nil && (user.isLanyard || user.obstacle == nil) {
            guard let former = try former(user, in: file) else { continue }
            rules += try self.rules(for: former)
        }
        // Users of one cluster have one account.
        return rules.reduce(into: []) { all, rule in
            if !all.contains(where: { $0.arguments.first == rule.arguments.first }) { all.append(rule) }
        }
    }

    /// Returns the rules that the clusters of a user don't have yet.
    private func rules(for user: KubeUser) throws(CommandError) -> [NeededRule] {
        let configuration = try place.context.configuration()
        return try KubeClusters(files).servers(of: user.name).compactMap { cluster, server in
            user.signIn.rule(for: server, of: cluster, configuration, place.context)
        }
    }

    /// Returns a user as it was before lanyard, which says who signs in; nil if nothing says that.
    private func former(_ user: KubeUser, in file: String) throws(CommandError) -> KubeUser? {
        guard user.isLanyard else { return user.isOfKubelogin ? user : nil }
        let setting = ToolSetting(.kubeUser, [user.name], in: file)
        let record = try place.context.recordedChanges()
        let before = record.first { $0.tool == "kubectl" && $0.change.setting == setting }?.before
        return before.map { KubeUser(user.name, text: $0) }
    }

    /// Returns the users who keep their kubelogin because no rule can be for their cluster, by name, with the reason: another user
    /// has another account there, and a URL's rule has one, or no token is sent there.
    ///
    /// Those who use lanyard already come first, then the current context's user.
    private func rivals() throws(CommandError) -> [String: Message] {
        let clusters = try KubeClusters(files)
        let found = try users().filter { $0.user.isLanyard || $0.user.isOfKubelogin && $0.user.obstacle == nil }
        let current = found.filter { !$0.user.isLanyard && $0.user.name == clusters.currentUser }
        let others = found.filter { !$0.user.isLanyard && $0.user.name != clusters.currentUser }
        var owners: [String: (name: String, former: KubeUser?)] = [:]
        var rivals: [String: Message] = [:]
        for (file, user) in found.filter(\.user.isLanyard) + current + others {
            let former = try former(user, in: file)
            let servers = clusters.servers(of: user.name).map(\.server)
            let rival = servers.compactMap { owners[$0] }.first { owner in
                guard let former, let other = owner.former else { return true }
                return !former.shares(itsAccountWith: other)
            }
            if !user.isLanyard, let open = servers.first(where: { URLPattern($0)?.request.isTokenPlace == false }) {
                rivals[user.name] = "tokens are not sent to \(open, limit: 200), where others could read them"
            } else if !user.isLanyard, let rival {
                rivals[user.name] = "\(rival.name, limit: 200) is for the same cluster, and a rule has one account"
            } else {
                for server in servers where owners[server] == nil { owners[server] = (user.name, former) }
            }
        }
        return rivals
    }

    /// Returns how to convert a user with a client secret, which must not get into a record.
    private func steps(for user: KubeUser) throws(CommandError) -> [Hint] {
        let what: Message =
            "the user \(user.name, limit: 200) stays as it is: \(user.obstacle ?? "")"
        let rules = try rules(for: user).map { Hint("for that user, add a rule", run: $0.command) }
        let signIn = user.signIn
        guard let client = signIn.clientID, let issuer = signIn.issuer else { return [Hint(what)] }
        return [Hint("\(what); to convert it by hand, follow these steps")] + rules + [
            Hint("store the secret", run: "lanyard rule secret\(option: "--authority", issuer)\(last: client)"),
            Hint("have the user run lanyard", run: .settingUp(user.name)),
        ]
    }

    /// Returns the users that kubectl takes into account, or the others: of several users with a name, kubectl takes
    /// the one in the first file.
    private func users(
        areHidden: Bool = false
    ) throws(CommandError) -> [(file: String, user: KubeUser)] {
        var users: [(String, KubeUser)] = []
        var names: Set<String> = []
        for file in files {
            let found = Kubeconfig(try ToolTarget.text(of: file) ?? "")
            users += found.users.filter { names.contains($0.name) == areHidden }.map { (file, $0) }
            names.formUnion(found.names)
        }
        return users
    }

    /// Returns the files in kubectl's order, the first of which counts.
    var files: [String] {
        let own = place.context.variable("KUBECONFIG")?.pieces(between: ":").map { String($0).absolutePath }
        return own?.uniqued ?? ["\(place.home)/.kube/config"]
    }

    /// kubectl 1.35 and later run no program that their own settings don't allow.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let file = place.named("KUBERC") ?? "\(place.home)/.kube/kuberc"
        guard place.context.variable("KUBERC") != "off", place.context.boolean("KUBECTL_KUBERC") != false else {
            return []
        }
        let rows = place.content(of: file).pieces(between: "\n").map { $0.trimmed(of: " \t\r-\"'") }
        func value(_ key: String) -> [Substring] {
            rows.filter { $0.hasPrefix("\(key):") }.map { $0.dropFirst(key.utf8.count + 1).trimmed(of: " \t\"'") }
        }
        let what: Message = "kubectl runs no lanyard, because of credentialPluginPolicy in \(place.context.short(file))"
        switch value("credentialPluginPolicy").first {
        case "DenyAll":
            let command: ShellCommand = """
                kubectl kuberc set --kuberc \(file) --section credentialplugin --policy Allowlist --allowlist-entry command=lanyard
                """
            return [ToolOverride(hint: Hint("\(what); to allow lanyard alone", run: command))]
        case "Allowlist":
            let names = value("command") + value("name")
            guard !names.contains(where: { $0.pieces(between: "/").last == "lanyard" }) else { return [] }
            return [
                ToolOverride(hint: Hint("\(what); add to its credentialPluginAllowlist", write: "- command: lanyard"))
            ]
        default: return []
        }
    }

    private func nothing() throws(CommandError) -> CommandError {
        guard YAMLNode.isSupported else { return .withoutYAML("kubectl's configuration") }
        var unread: [String] = []
        for file in files where try !Kubeconfig(ToolTarget.text(of: file) ?? "").isReadable {
            unread.append(file)
        }
        guard unread.isEmpty else {
            return CommandError(
                "\(unread.map(place.context.short).joined(separator: ", ")) is not written as kubectl writes it, so that lanyard "
                    + "can't read its users",
                hints: [Hint("if kubectl can read it, have kubectl write it anew", run: .rewriting(unread[0]))])
        }
        let reasons = try remarks()
        let files = self.files.map(place.context.short).joined(separator: ", ")
        return CommandError(
            reasons.isEmpty
                ? "no user in \(files) signs in with kubelogin or azure"
                : "no user in \(files) can be converted",
            hints: reasons + [
                Hint("to set up another", run: .settingUp("NAME"))
            ])
    }
}

/// The clusters in kubeconfigs, and the users in their contexts.
private struct KubeClusters {
    private var contexts: [(user: String, cluster: String)] = []
    private var servers: [String: String] = [:]
    /// The user of the current context; nil if the files name none.
    private(set) var currentUser: String?

    init(_ files: [String]) throws(CommandError) {
        for file in files {
            let config = Kubeconfig(try ToolTarget.text(of: file) ?? "")
            for context in config.contexts {
                contexts.append((context.user, context.cluster))
                if context.name == config.currentContext { currentUser = currentUser ?? context.user }
            }
            servers.merge(config.clusters.map { ($0.name, $0.server) }) { first, _ in first }
        }
    }

    /// Returns the clusters that a user is used with, and their URLs.
    func servers(of user: String) -> [(cluster: String, server: String)] {
        let names = Set(contexts.filter { $0.user == user }.map(\.cluster)).sorted()
        return names.compactMap { name in servers[name].map { (name, $0) } }
    }
}

extension KubeSignIn {
    /// Returns the rule for a cluster; nil if there already is one, or there can't be one.
    fileprivate func rule(
        for server: String, of cluster: String, _ configuration: Configuration, _ context: any ToolSurroundings
    ) -> NeededRule? {
        guard let pattern = URLPattern(server), pattern.request.isTokenPlace,
            configuration.rule(for: pattern.request) == nil
        else { return nil }
        var arguments = [server]
        if let tenant, let authority = context.authority(ofTenant: tenant, cloud: cloud) {
            arguments += ["--authority", authority]
        }
        if let client = clientID ?? self.server.flatMap(context.client) {
            arguments += ["--client-id", client]
        }
        if let resource = self.server { arguments += ["--resource", resource] }
        if let account { arguments += ["--account", account] }
        if let issuer {
            arguments += ["--authority", issuer, "--kind", "oidc", "--trust-authority"]
            arguments += self.scopes.flatMap { ["--scope", $0] }
            if givesIDTokens { arguments += ["--token", "id"] }
            if let port { arguments += ["--redirect-port", port] }
            arguments += parameters.flatMap { ["--query-parameter", $0] }
        }
        return NeededRule(subject: "the cluster \(cluster.displayable(limit: 200))", arguments: arguments)
    }
}

extension ShellCommand {
    /// Returns the command that has a kubeconfig's user run lanyard.
    fileprivate static func settingUp(_ user: String) -> ShellCommand {
        """
        kubectl config set-credentials \(user) --exec-api-version client.authentication.k8s.io/v1 \
        --exec-command lanyard --exec-arg kubectl --exec-provide-cluster-info --exec-interactive-mode IfAvailable
        """
    }

    /// Returns the command that makes kubectl rewrite a file in block style; only the user can read the new file.
    fileprivate static func rewriting(_ file: String) -> ShellCommand {
        """
        (umask 077; kubectl config view --raw --kubeconfig \(file) >\("\(file).new") \
        && mv \("\(file).new") \(file))
        """
    }
}
