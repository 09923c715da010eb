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
        return isOfFormerProvider || !isLanyard && words.contains { $0.hasBytes("kubelogin") || Self.isOIDC($0) }
    }

    /// Whether it gets tokens from kubectl's former sign-in, which stored them in the file.
    package var isOfFormerProvider: Bool {
        source?.name == "auth-provider" && source?.value["name"]?.text == "azure"
    }

    /// Whether a word is a name of the kubelogin for issuers of OpenID Connect.
    private static func isOIDC(_ word: String) -> Bool {
        ["oidc-login", "kubectl-oidc_login"].contains(word.pieces(between: "/").last.map(String.init))
    }

    /// The options of the program that is run, and what else its words say; nil if it isn't a kubelogin.
    private var options: Options? {
        guard source?.name == "exec", let program = Self.program(source) else { return nil }
        var words = arguments[...]
        let isPlugin = program == "kubectl" && words.first == "oidc-login"
        if isPlugin { words.removeFirst() }
        guard program == "kubelogin" || isPlugin || Self.isOIDC(program) else { return nil }
        return Options(words, isOIDC: isPlugin || program != "kubelogin")
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
        guard isOfKubelogin else { return nil }
        if isMerged {
            return "what gets its tokens comes from elsewhere in the file (<<), which lanyard doesn't change"
        }
        guard !isFixed else { return "it is written with braces, which lanyard doesn't change" }
        guard !isOfFormerProvider else { return nil }
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
        if let other = options.unknown { return "it has \(other, limit: 60), which lanyard doesn't read" }
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
        func setting(_ option: String, _ name: String) -> String? {
            options?.values[option]?.last ?? (isOfFormerProvider ? source?.value["config"]?[name]?.text : nil)
        }
        let isOIDC = options?.isOIDC ?? false
        let scopes = options?.values["--oidc-extra-scope"]?.flatMap { $0.pieces(between: ",").map(String.init) }
        return KubeSignIn(
            tenant: variables["AZURE_TENANT_ID"] ?? setting("--tenant-id", "tenant-id"),
            clientID: isOIDC
                ? options?.values["--oidc-client-id"]?.last
                : variables["AZURE_CLIENT_ID"] ?? variables["AAD_SERVICE_PRINCIPAL_CLIENT_ID"]
                    ?? setting("--client-id", "client-id"),
            server: setting("--server-id", "apiserver-id"), cloud: setting("--environment", "environment"),
            issuer: isOIDC ? options?.values["--oidc-issuer-url"]?.last : nil,
            scopes: isOIDC ? ["openid"] + (scopes ?? []).filter { $0 != "openid" } : [],
            givesIDTokens: isOIDC && options?.takesAccessTokens == false, port: isOIDC ? options?.port : nil,
            parameters: options?.values["--oidc-auth-request-extra-params"] ?? [])
    }

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
            let (name, value) = word.hasPrefix("--") ? word.cut(at: "=") ?? (word[...], nil) : Options.cut(short: word)
            let isSafe = Options.shown.contains(String(name)) || ["get-token", "oidc-login"].contains(word)
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

/// The options of a kubelogin, as its library reads them.
private struct Options {
    /// The values by option, short ones by their long name.
    var values: [String: [String]] = [:]
    /// A word that isn't known, or a switch whose effect lanyard doesn't have; nil if there is none.
    var unknown: String?
    /// Whether it is the one for issuers of OpenID Connect; else it is Microsoft's.
    var isOIDC: Bool

    /// The options whose values are no secrets.
    static let shown: Set = [
        "--login", "-l", "--tenant-id", "-t", "--client-id", "--server-id", "--environment", "-e", "--oidc-issuer-url",
        "--oidc-client-id", "--oidc-extra-scope", "--grant-type",
    ]
    private static let short = ["-l": "--login", "-t": "--tenant-id", "-e": "--environment", "-v": "--v"]
    private static let ofEntra: Set = [
        "--login", "--tenant-id", "--client-id", "--server-id", "--environment", "--token-cache-dir", "--cache-dir",
        "--timeout", "--login-hint", "--redirect-url", "--v",
    ]
    private static let ofOIDC: Set = [
        "--oidc-issuer-url", "--oidc-client-id", "--oidc-extra-scope", "--oidc-pkce-method",
        "--oidc-auth-request-extra-params",
        "--oidc-redirect-url", "--oidc-redirect-url-hostname", "--oidc-redirect-url-authcode-keyboard", "--grant-type",
        "--listen-address", "--listen-port", "--browser-command", "--authentication-timeout-sec", "--local-server-cert",
        "--local-server-key", "--open-url-after-authentication", "--token-cache-dir", "--token-cache-storage", "--v",
    ]
    private static let switches: Set = [
        "--oidc-use-access-token", "--oidc-use-pkce", "--force-refresh", "--skip-open-browser",
    ]

    init(_ words: ArraySlice<String>, isOIDC: Bool) {
        self.isOIDC = isOIDC || words.contains { $0.hasPrefix("--oidc-") }
        var rest = words
        if rest.first == "get-token" { rest.removeFirst() }
        while let word = rest.popFirst() {
            let (written, inline) = word.hasPrefix("--") ? word.cut(at: "=") ?? (word[...], nil) : Self.cut(short: word)
            let name = Self.short[String(written)] ?? String(written)
            if (self.isOIDC ? Self.ofOIDC : Self.ofEntra).contains(name) {
                if let value = inline.map(String.init) ?? rest.popFirst() {
                    values[name, default: []].append(value)
                } else {
                    unknown = unknown ?? name
                }
            } else if self.isOIDC, Self.switches.contains(name) {
                values[name] = [inline.map(String.init) ?? "true"]
            } else if word.hasPrefix("-"), let inline, ["false", "f", "0"].contains(inline.lowercased()) {
                continue
            } else {
                // A word that is no option may be a secret.
                unknown = unknown ?? (word.hasPrefix("-") ? name : "words that are no options")
            }
        }
    }

    /// Returns a short option and the value behind it, as in `-lspn` and `-l=spn`.
    static func cut(short word: String) -> (Substring, Substring?) {
        guard word.hasPrefix("-"), word.utf8.count > 2 else { return (word[...], nil) }
        let value = word.dropFirst(2)
        return (word.prefix(2), value.hasPrefix("=") ? value.dropFirst() : value)
    }

    /// Whether no user signs in with Microsoft's, or not so that lanyard could do it.
    func obstacleOfEntra(_ variable: String?) -> Message? {
        let way = variable ?? values["--login"]?.last ?? "devicecode"
        guard !["devicecode", "interactive", "azurecli"].contains(way) else { return nil }
        let setting = variable == nil ? "--login" : "AAD_LOGIN_METHOD is"
        return "no user signs in with it (\(setting) \(way, limit: 60))"
    }

    var obstacleOfOIDC: Message? {
        for needed in ["--oidc-issuer-url", "--oidc-client-id"] where values[needed]?.last?.isEmpty ?? true {
            return "it has no \(needed)"
        }
        guard let grant = values["--grant-type"]?.last, ["password", "client-credentials"].contains(grant) else {
            return nil
        }
        return "no user signs in with it (--grant-type \(grant))"
    }

    /// Whether the cluster takes access tokens in place of ID tokens.
    var takesAccessTokens: Bool {
        ["true", "t", "1"].contains(values["--oidc-use-access-token"]?.last?.lowercased())
    }

    /// The port that the browser comes back to, if one is named, since it may be the registered one.
    var port: String? {
        let places = values["--oidc-redirect-url"] ?? values["--listen-address"] ?? values["--listen-port"]
        let last = places?.last?.pieces(between: ":").last?.pieces(between: "/").first
        return last.flatMap { UInt16($0) }.map(String.init)
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

/// The sign-in of a kubeconfig's user; properties that aren't specified are nil.
package struct KubeSignIn: Sendable, Equatable {
    package let tenant: String?
    package let clientID: String?
    /// The application that represents the cluster.
    package let server: String?
    /// The name of one of Azure's clouds.
    package let cloud: String?
    /// The issuer of OpenID Connect, with the scopes; for Entra ID there is none.
    package var issuer: String?
    package var scopes: [String] = []
    /// Whether the cluster takes ID tokens.
    package var givesIDTokens = false
    /// The port that the browser comes back to; nil for any.
    package var port: String?
    /// Extra parameters of the sign-in, each `NAME=VALUE`.
    package var parameters: [String] = []
}
