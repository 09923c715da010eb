import Addresses
import Claims
import Model
import Secrets
import Terminal

/// The options of a kubelogin, as its library reads them.
struct KubeloginOptions {
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
        "--oidc-issuer-url", "--oidc-client-id", "--oidc-client-secret", "--oidc-extra-scope", "--oidc-pkce-method",
        "--oidc-auth-request-extra-params",
        "--oidc-redirect-url", "--oidc-redirect-url-hostname", "--oidc-redirect-url-authcode-keyboard", "--grant-type",
        "--listen-address", "--listen-port", "--browser-command", "--authentication-timeout-sec",
        "--open-url-after-authentication", "--token-cache-dir", "--token-cache-storage", "--v",
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

    /// Whether the application has a secret.
    var hasSecret: Bool { isOIDC && values["--oidc-client-secret"]?.last?.isEmpty == false }

    /// Why a rule can't have what an option says; its secret isn't one of the reasons.
    var obstacleOfOIDC: Message? {
        for needed in ["--oidc-issuer-url", "--oidc-client-id"] where values[needed]?.last?.isEmpty ?? true {
            return "it has no \(needed)"
        }
        // A URL may have a password.
        guard values["--oidc-issuer-url"]?.last.flatMap(AuthorityURL.init) != nil else {
            return "its --oidc-issuer-url is not an https URL without user name and query"
        }
        guard values["--oidc-client-id"]?.last.map({ $0.isScopeToken && $0.utf8.count <= 256 }) == true else {
            return "its --oidc-client-id is not a client ID"
        }
        guard signInOfOIDC.scopes.allSatisfy({ $0.isScopeToken && $0.utf8.count <= 1024 }) else {
            return "it has something other than scopes in --oidc-extra-scope"
        }
        if ["password", "client-credentials"].contains(grant) {
            let remedy: Message = grant == "password" ? "" : "; an [[identity]] can"
            return "no user signs in with it (--grant-type \(grant))\(remedy)"
        }
        return obstacleOfRedirect ?? obstacleOfParameters
    }

    private var obstacleOfRedirect: Message? {
        let here = ["localhost", "127.0.0.1"]
        if let host = values["--oidc-redirect-url-hostname"]?.last, !here.contains(host) {
            return "its browser comes back to another host (--oidc-redirect-url-hostname)"
        }
        if let url = values["--oidc-redirect-url"]?.last {
            guard let parsed = RedirectURI(url), parsed.port != nil, parsed.path == "/" else {
                return "its browser comes back to another place than a port of this machine (--oidc-redirect-url)"
            }
        }
        guard let port, !(1024...65_535).contains(port), port != 0 else { return nil }
        return "its browser comes back to port \(String(port)), and a rule has ports from 1024"
    }

    private var obstacleOfParameters: Message? {
        let option = "--oidc-auth-request-extra-params"
        guard !(values[option] ?? []).contains(where: { $0.hasBytes("\"") }) else {
            return "it has quotes in \(option), which lanyard doesn't read"
        }
        for parameter in parameters {
            guard let name = parameter.cut(at: "=")?.0.lowercased() else {
                return "it has something other than NAME=VALUE in \(option)"
            }
            var signIn = SignInParameters()
            guard (try? signIn.apply([.queryParameters: [parameter]])) != nil else {
                return "it sends the parameter \(name, limit: 60) (\(option)), which a rule can't have"
            }
            if ["secret", "password", "passwd", "token", "key", "assertion", "credential"].contains(
                where: name.hasBytes)
            {
                return "it sends the parameter \(name, limit: 60) (\(option)), whose value may be a secret"
            }
        }
        return nil
    }

    /// Whether the user signs in with a code, without a browser that comes back.
    var showsCode: Bool { isOIDC && grant == "device-code" }

    private var grant: String { values["--grant-type"]?.last ?? "auto" }

    /// The sign-in at an issuer of OpenID Connect.
    var signInOfOIDC: KubeSignIn {
        let scopes = values["--oidc-extra-scope"]?.flatMap { $0.pieces(between: ",").map(String.init) } ?? []
        return KubeSignIn(
            tenant: nil, clientID: values["--oidc-client-id"]?.last, server: nil, cloud: nil,
            issuer: values["--oidc-issuer-url"]?.last, scopes: ["openid"] + scopes.filter { $0 != "openid" },
            givesIDTokens: !takesAccessTokens, port: port.flatMap { $0 == 0 ? nil : String($0) },
            parameters: parameters)
    }

    /// Extra parameters, each `NAME=VALUE`; its library splits a value only if there is more than one equals sign.
    private var parameters: [String] {
        (values["--oidc-auth-request-extra-params"] ?? []).flatMap { value in
            value.pieces(between: "=", omittingEmpty: false).count > 2
                ? value.pieces(between: ",", omittingEmpty: false).map(String.init) : [value]
        }
    }

    /// Whether the cluster takes access tokens in place of ID tokens.
    var takesAccessTokens: Bool {
        ["true", "t", "1"].contains(values["--oidc-use-access-token"]?.last?.lowercased())
    }

    /// The port that the browser comes back to, the first of those that kubelogin tries; nil if it comes back to none.
    private var port: Int? {
        guard !["device-code", "authcode-keyboard"].contains(grant) else { return nil }
        if let url = values["--oidc-redirect-url"]?.last { return RedirectURI(url)?.port }
        let places = values["--listen-address"] ?? values["--listen-port"]
        let first = places?.first?.pieces(between: ",").first?.pieces(between: ":").last
        return first.map { Int($0) ?? 0 } ?? 8000
    }

    /// The redirect URI that lanyard sends in place of kubelogin's; nil if it sends none, or the same one.
    var redirect: String? {
        guard isOIDC else { return nil }
        let own = "http://127.0.0.1" + (port.map { $0 == 0 ? "" : ":\($0)" } ?? "")
        let isSame =
            values["--oidc-redirect-url"]?.last.map { $0 == own }
            ?? (values["--oidc-redirect-url-hostname"]?.last == "127.0.0.1")
        return isSame && port != nil ? nil : own
    }
}

/// The sign-in of a kubeconfig's user; properties that aren't specified are nil.
package struct KubeSignIn: Sendable, Equatable {
    package let tenant: String?
    package let clientID: String?
    /// The application that represents the cluster.
    package let server: String?
    /// The name of one of Azure's clouds.
    package let cloud: String?
    /// The user name that Entra ID is asked for.
    package var account: String?
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
