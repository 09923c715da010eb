import Addresses
import Secrets
package import Terminal
import YAML

/// A kubeconfig, for edits of its users that leave everything else unchanged, byte for byte.
package struct Kubeconfig {
    /// Whether the text is YAML that can be read.
    package var isReadable: Bool { root != nil }
    package let users: [KubeUser]
    /// The names of all users, including those without settings.
    package let names: [String]
    private let rows: [Substring]
    private let root: YAMLNode?

    package init(_ text: String) {
        rows = text.pieces(between: "\n", omittingEmpty: false)
        root = YAMLNode(yaml: text.utf8)
        let items = root?["users"]?.elements ?? []
        names = items.compactMap { $0["name"]?.text }
        let rows = rows
        users = items.compactMap { item in
            item["name"]?.text.map { KubeUser($0, settings: item["user"] ?? .map([]), rows) }
        }
    }

    /// The name of the current context; nil if the text has none.
    package var currentContext: String? { root?["current-context"]?.text }

    /// The contexts with the cluster and the user of each.
    package var contexts: [(name: String, cluster: String, user: String)] {
        (root?["contexts"]?.elements ?? []).compactMap { item in
            guard let name = item["name"]?.text, let context = item["context"], let user = context["user"]?.text,
                let cluster = context["cluster"]?.text
            else { return nil }
            return (name, cluster, user)
        }
    }

    /// The clusters with their URLs.
    package var clusters: [(name: String, server: String)] {
        (root?["clusters"]?.elements ?? []).compactMap { item in
            guard let name = item["name"]?.text, let server = item["cluster"]?["server"]?.text else { return nil }
            return (name, server)
        }
    }

    /// Returns the text with other rows for what gets a user's tokens; nil if they can't be replaced without a change of
    /// something else.
    ///
    /// Rows that are indented are as they were in the file before: they stay so if it is still indented as deep.
    package func replacing(_ user: KubeUser, with value: String) -> String? {
        guard let range = user.rows else { return nil }
        let new = value.pieces(between: "\n", omittingEmpty: false)
        let shift = rows[range.lowerBound].indent - (new.first?.indent ?? 0)
        let isLanyards = new.first?.indent == 0
        let moved = new.enumerated().map { index, row in
            let last = index == new.count - 1 ? range.upperBound - 1 : range.lowerBound
            let end = isLanyards && rows[last].utf8.last == UInt8(ascii: "\r") ? "\r" : ""
            guard !row.isBlank else { return "\(row)\(end)"[...] }
            let blanks = String(repeating: " ", count: max(shift, 0))
            return "\(blanks)\(row.unindented(max(-shift, 0)))\(end)"[...]
        }
        let text = (rows[..<range.lowerBound] + moved + rows[range.upperBound...]).joined(separator: "\n")
        let changed = Kubeconfig(text)
        guard changed.root != nil, changed.without(user.name) == without(user.name),
            changed.users.first(where: { $0.name == user.name })?.source?.name == KubeUser("", text: value).source?.name
        else { return nil }
        return text
    }

    /// The document without what gets a user's tokens.
    private func without(_ name: String) -> YAMLNode? {
        func changed(_ node: YAMLNode, _ key: String, _ change: (YAMLNode) -> YAMLNode) -> YAMLNode {
            .map(node.entries.map { $0.name == key ? YAMLEntry(name: key, value: change($0.value)) : $0 })
        }
        return root.map { root in
            changed(root, "users") { users in
                .list(
                    users.elements.map { item in
                        guard item["name"]?.text == name else { return item }
                        return changed(item, "user") { .map($0.entries.filter { !KubeUser.sources.contains($0.name) }) }
                    })
            }
        }
    }
}

/// A user in a kubeconfig.
package struct KubeUser {
    package let name: String
    /// What gets the tokens, as it is in the file but for tokens, which must not be in a record; nil if that has no rows of its own.
    ///
    /// kubectl indents everything anew when it writes the file, so the rows of lanyard's own are without indentation.
    package let text: String?
    /// Whether it gets tokens from something that has no rows of its own, and can't be changed.
    package var isFixed: Bool { source != nil && rows == nil }
    /// Whether the file contains its tokens.
    package let hasTokens: Bool
    fileprivate let rows: Range<Int>?
    fileprivate let source: YAMLEntry?
    /// Whether the source comes from elsewhere in the file.
    private let isMerged: Bool

    /// The keys of what gets tokens.
    fileprivate static let sources = ["exec", "auth-provider"]

    /// Creates a user from the text in a record.
    package init(_ name: String, text: String) {
        self.init(
            name, settings: YAMLNode(yaml: (text + "\n").utf8) ?? .map([]),
            text.pieces(between: "\n", omittingEmpty: false))
    }

    fileprivate init(_ name: String, settings: YAMLNode, _ rows: [Substring]) {
        self.name = name
        source = Self.sources.lazy.compactMap(settings.entry).first
        let config = source?.value["config"]?.entries ?? []
        let tokens = config.filter { ["access-token", "refresh-token", "expires-in", "expires-on"].contains($0.name) }
        hasTokens = !tokens.isEmpty
        // Tokens without rows of their own could not be left out.
        self.rows = tokens.allSatisfy { $0.rows != nil } ? source?.rows : nil
        if case .map(let own) = settings, let source {
            isMerged = !own.contains { $0.name == source.name }
        } else {
            isMerged = false
        }
        guard let range = self.rows, let first = rows[range].first else {
            text = nil
            return
        }
        let kept = range.filter { row in !tokens.contains { $0.rows?.contains(row) ?? false } }.map { rows[$0] }
        let isLanyards = Self.program(source) == "lanyard"
        text = (isLanyards ? kept.map { $0.unindented(first.indent).trimmed(of: "\r") } : kept)
            .joined(separator: "\n")
    }
}

extension KubeUser {
    /// The name of the program that gets the tokens.
    private static func program(_ source: YAMLEntry?) -> String? {
        source?.value["command"]?.text?.pieces(between: "/").last.map(String.init)
    }

    private var arguments: [String] { source?.value["args"]?.elements.map { $0.text ?? "" } ?? [] }

    /// The variables for the program, which kubelogin prefers to its options.
    private var variables: [String: String] {
        let pairs = source?.value["env"]?.elements.compactMap { variable in
            variable["name"]?.text.map { ($0, variable["value"]?.text ?? "") }
        }
        return Dictionary(pairs ?? []) { $1 }
    }

    /// Whether it already runs lanyard.
    package var isLanyard: Bool { Self.program(source) == "lanyard" }

    /// Whether it gets its tokens from something named kubelogin, or from kubectl's former sign-in to Azure.
    package var isOfKubelogin: Bool {
        let words = [source?.value["command"]?.text ?? ""] + arguments
        return isOfFormerProvider || formerProvider == "oidc"
            || !isLanyard && words.contains { $0.hasBytes("kubelogin") || Self.isOIDC($0) }
    }

    /// Whether it gets tokens from kubectl's former sign-in, which stored them in the file.
    package var isOfFormerProvider: Bool { formerProvider == "azure" }

    /// The name of kubectl's own former sign-in.
    private var formerProvider: String? { source?.name == "auth-provider" ? source?.value["name"]?.text : nil }

    /// Whether a word is a name of the kubelogin for issuers of OpenID Connect.
    private static func isOIDC(_ word: String) -> Bool {
        ["oidc-login", "kubectl-oidc_login"].contains(word.pieces(between: "/").last.map(String.init))
    }

    /// The options of the program that is run, and what else its words say; nil if it isn't a kubelogin.
    private var options: KubeloginOptions? {
        guard source?.name == "exec", let program = Self.program(source) else { return nil }
        var words = arguments[...]
        let isPlugin = program == "kubectl" && words.first == "oidc-login"
        if isPlugin { words.removeFirst() }
        guard program == "kubelogin" || isPlugin || Self.isOIDC(program) else { return nil }
        return KubeloginOptions(words, isOIDC: isPlugin || program != "kubelogin")
    }

    /// Returns the rows of an `exec` that runs lanyard; nil unless the user is a user who signs in, or lanyard's already.
    package func converted(running program: String) -> String? {
        if isLanyard { return text }
        guard isOfKubelogin, obstacle == nil, !isFixed else { return nil }
        let version = source?.value["apiVersion"]?.text == "client.authentication.k8s.io/v1" ? "v1" : "v1beta1"
        return """
            exec:
              apiVersion: client.authentication.k8s.io/\(version)
              args:
              - kubectl
              command: \(program.isPlainYAML ? program : "'\(program.replacing(bytes: "'", with: "''"))'")
              env: null
              interactiveMode: IfAvailable
              provideClusterInfo: true
            """
    }

    /// The reason why lanyard can't replace what gets its tokens; nil if it can, or if it knows nothing of that.
    package var obstacle: Message? {
        obstacleButSecret
            ?? (options?.hasSecret == true ? "it has --oidc-client-secret, which no record may contain" : nil)
    }

    private var obstacleButSecret: Message? {
        guard isOfKubelogin else { return nil }
        if isMerged {
            return "what gets its tokens comes from elsewhere in the file (<<), which lanyard doesn't change"
        }
        guard !isFixed else { return "it is written with braces, which lanyard doesn't change" }
        guard !isOfFormerProvider else { return nil }
        guard formerProvider == nil else {
            return "kubelogin gives it the tokens of an auth-provider; let it run kubelogin as a plugin (exec) first"
        }
        guard let options else {
            let program = Self.program(source) ?? "nothing"
            return "it runs \(program, limit: 60), not kubelogin itself"
        }
        let variables = variables
        // The value of any other variable may be a secret.
        if let other = variables.keys.sorted().first(where: {
            options.isOIDC || !Self.variables.contains($0) || variables[$0] == ""
        }) {
            return "it sets \(other, limit: 60) for kubelogin (env), which lanyard doesn't read"
        }
        if let other = options.unknown {
            let remedy: Message = other.hasPrefix("--certificate-authority") ? "; set ca-file and remove it" : ""
            return "it has \(other, limit: 60), which lanyard doesn't read\(remedy)"
        }
        return options.isOIDC ? options.obstacleOfOIDC : options.obstacleOfEntra(variables["AAD_LOGIN_METHOD"])
    }

    /// The variables that kubelogin reads and that only say who signs in and how.
    private static let variables = [
        "AAD_LOGIN_METHOD", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AAD_SERVICE_PRINCIPAL_CLIENT_ID",
        "AZURE_CLI_TIMEOUT",
    ]

    /// Who signs in where, according to kubelogin's options or kubectl's settings.
    package var signIn: KubeSignIn {
        let (options, variables) = (options, variables)
        if let options, options.isOIDC { return options.signInOfOIDC }
        func setting(_ option: String, _ name: String) -> String? {
            options?.values[option]?.last ?? (isOfFormerProvider ? source?.value["config"]?[name]?.text : nil)
        }
        return KubeSignIn(
            tenant: variables["AZURE_TENANT_ID"] ?? setting("--tenant-id", "tenant-id"),
            clientID: variables["AZURE_CLIENT_ID"] ?? variables["AAD_SERVICE_PRINCIPAL_CLIENT_ID"]
                ?? setting("--client-id", "client-id"),
            server: setting("--server-id", "apiserver-id"), cloud: setting("--environment", "environment"),
            account: options?.values["--login-hint"]?.last)
    }

    /// Whether this user and another one have always had the same account.
    func shares(itsAccountWith other: KubeUser) -> Bool {
        let folders = [self, other].map { user in
            user.options.map { $0.values["--token-cache-dir"] ?? $0.values["--cache-dir"] ?? [] }
        }
        // The former provider kept the tokens of each user apart.
        return folders[0] != nil && folders[0] == folders[1] && signIn == other.signIn
    }

    /// The redirect URI that the application needs besides kubelogin's; nil if none is.
    var redirect: String? { options?.redirect }

    /// Whether kubelogin shows a code instead of opening a browser.
    var showsCode: Bool { options?.showsCode == true }

    /// Whether only its client secret keeps it from being converted, as far as that is known.
    var hasClientSecret: Bool { obstacleButSecret == nil && options?.hasSecret == true }

    /// What gets the tokens, in rows, without anything that may be a secret.
    package var summary: [String] {
        guard source?.name == "exec" else {
            return ["\(source?.name ?? "nothing"):", "  name: \(source?.value["name"]?.text ?? "…")"]
        }
        var rows = ["exec:"] + (arguments.isEmpty ? [] : ["  args:"])
        // Whether a word is the value of an option that has no secrets.
        var isValue = false
        for word in arguments {
            let isOption = word.hasPrefix("-")
            let (name, value) =
                word.hasPrefix("--") ? word.cut(at: "=") ?? (word[...], nil) : KubeloginOptions.cut(short: word)
            let isSafe = KubeloginOptions.shown.contains(String(name)) || ["get-token", "oidc-login"].contains(word)
            // A URL may have a password.
            let isShown = (isSafe || (isOption ? value == nil : isValue)) && !word.hasBytes("@") && !word.hasBytes("?")
            rows.append("  - \(isShown ? word : isOption ? "\(name)=…" : "…")")
            isValue = isOption && isSafe && value == nil
        }
        rows.append("  command: \(source?.value["command"]?.text ?? "…")")
        let names = variables.keys.sorted()
        return rows + (names.isEmpty ? [] : ["  env:"]) + names.map { "  - name: \($0)" }
    }
}

extension String {
    /// Whether a path needs no quotes in YAML.
    fileprivate var isPlainYAML: Bool { !hasBytes(": ") && !hasBytes(" #") && !hasSuffix(":") && !hasSuffix(" ") }
}

extension Substring {
    fileprivate var indent: Int { utf8.prefix { $0 == UInt8(ascii: " ") }.count }

    /// The row without so many blanks at its beginning, if it has as many.
    fileprivate func unindented(_ count: Int) -> Substring { Substring(utf8.dropFirst(Swift.min(indent, count))) }
}
