/// How another program's items in the keyring are found.
public struct ItemQuery: Sendable {
    /// The schema of the items; nil for any.
    public let schema: String?
    /// The attributes that the items have, and perhaps others.
    public let attributes: [String: String]

    /// Creates a place; without attributes, every item of the schema is there.
    public init(schema: String?, attributes: [String: String] = [:]) {
        self.schema = schema
        self.attributes = attributes
    }
}

/// Where other programs keep their sign-ins, in files and in the keyring.
public struct OtherLocations {
    private let home: String
    private let configHome: String
    private let variable: (String) -> String?

    /// - Parameters:
    ///   - home: The user's home folder.
    ///   - configHome: The folder of settings, as `XDG_CONFIG_HOME` names it.
    ///   - variable: Returns the value of an environment variable; nil if it isn't set.
    public init(home: String, configHome: String, variable: @escaping (String) -> String?) {
        self.home = home
        self.configHome = configHome
        self.variable = variable
    }

    // MARK: - The Azure CLI

    private var azureCLI: String { variable("AZURE_CONFIG_DIR") ?? "\(home)/.azure" }

    /// MSAL's cache of the Azure CLI.
    public var azureCLICache: String { "\(azureCLI)/msal_token_cache.json" }

    /// The file that exists if the Azure CLI is configured to encrypt its cache: the cache is in the keyring, and the
    /// file only shows when it changed.
    public var azureCLISignal: String { "\(azureCLI)/msal_token_cache.bin" }

    /// The Azure CLI's cache in the keyring.
    public static let azureCLIItem = ItemQuery(
        schema: "my_schema_name", attributes: ["my_attr1": "foo", "my_attr2": "bar"])

    /// ADAL's cache of the Azure CLI before 2.30.
    public var adalCache: String { "\(azureCLI)/accessTokens.json" }

    // MARK: - Microsoft's developer tools

    private static let identityService = "Microsoft.Developer.IdentityService"
    static let developerTools = ["MsalClientID": identityService]
    /// The folder of the Azure SDKs' caches, in the user's home folder.
    static let azureIdentityFolder = ".IdentityService"
    /// The label of the Azure SDKs' items in the keyring, and their account in those for JavaScript.
    static let azureIdentityLabel = "MSALCache"

    /// The cache that Git Credential Manager shares with Microsoft's developer tools.
    public static let gcmCache = ItemQuery(
        schema: "msal.cache",
        attributes: developerTools.merging([identityService: "1.0.0.0"]) { $1 })

    /// Git Credential Manager's passwords.
    public static let gcmPasswords = ItemQuery(schema: "com.microsoft.GitCredentialManager")

    /// The folder of the Azure SDKs' caches.
    public var azureIdentity: String { "\(home)/\(Self.azureIdentityFolder)" }

    /// Returns the Azure SDKs' caches of a name, nil for the usual one, with the files that hold them if there is no
    /// keyring.
    ///
    /// Some programs have two, for tokens that can be revoked at once and for others; .NET and Java have only one.
    public func azureIdentityCaches(_ name: String?) -> [(file: String, item: ItemQuery)] {
        let name = name ?? "msal.cache"
        return ["\(name).nocae", "\(name).cae", name].map { (schema: String) in
            ("\(azureIdentity)/\(schema)", ItemQuery(schema: schema, attributes: Self.developerTools))
        }
    }

    /// The cache that the Azure SDKs for JavaScript keep in the keyring.
    public static let azureIdentityScriptItem = ItemQuery(
        schema: nil, attributes: ["service": identityService, "account": azureIdentityLabel])

    // MARK: - The Azure Developer CLI

    private var azureDeveloperCLI: String { variable("AZD_CONFIG_DIR") ?? "\(home)/.azd" }

    /// The settings of the Azure Developer CLI that say who is signed in.
    public var azureDeveloperCLISignIn: String { "\(azureDeveloperCLI)/auth.json" }

    /// The folder of the Azure Developer CLI's caches.
    public var azureDeveloperCLICaches: String { "\(azureDeveloperCLI)/auth/msal" }

    /// Whether a file of that folder is a cache: one for each account, or the older one for all accounts.
    public static func isAzureDeveloperCLICache(_ name: String) -> Bool {
        name.hasPrefix("cache") && name.hasSuffix(".json")
    }

    /// What follows a cache's name in that of its lock file, as MSAL's extensions name it.
    public static let extensionsLock = ".lockfile"

    /// The same, as the Azure Developer CLI names it.
    public static let azureDeveloperCLILock = ".lock"

    // MARK: - Code hosts

    /// The settings of the GitHub CLI with its hosts.
    public var ghHosts: String { (variable("GH_CONFIG_DIR") ?? "\(configHome)/gh") + "/hosts.yml" }

    /// The settings of the GitLab CLI.
    public var glabSettings: String { (variable("GLAB_CONFIG_DIR") ?? "\(configHome)/glab-cli") + "/config.yml" }

    /// Returns the items of go-keyring with which a code host's program, such as `gh`, keeps a host's tokens.
    public static func tokens(of program: String, at host: String) -> ItemQuery {
        ItemQuery(schema: nil, attributes: ["service": "\(program):\(host)"])
    }
}
