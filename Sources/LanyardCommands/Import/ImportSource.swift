import ArgumentParser
import OtherCaches

/// The programs whose sign-ins can be imported.
enum ImportSource: String, ExpressibleByArgument, CaseIterable {
    /// The Azure CLI since 2.30: MSAL's cache in a file, or in the keyring if it is configured to encrypt it.
    case azureCLI = "azure-cli"
    /// The Azure CLI before 2.30, and other programs with ADAL for Python.
    case adal
    /// Git Credential Manager: its passwords, and the cache that it shares with Microsoft's developer tools.
    case gcm
    /// git-credential-libsecret.
    case gitLibsecret = "git-libsecret"
    /// A program with MSAL's extensions; its cache may be anywhere.
    case msalExtensions = "msal-extensions"
    /// The Azure SDKs, if they are configured to persist their tokens.
    case azureIdentity = "azure-identity"
    /// The Azure Developer CLI.
    case azd
    /// The GitHub CLI.
    case gh
    /// The GitLab CLI.
    case glab

    /// Whether it has named caches in the keyring.
    var hasItems: Bool { self == .msalExtensions || self == .azureIdentity }

    /// Whether its file contains hosts' settings with tokens that git sends as passwords.
    var isOfHosts: Bool { self == .gh || self == .glab }

    /// The name for messages.
    var name: String {
        switch self {
        case .azureCLI: "the Azure CLI"
        case .adal: "ADAL"
        case .gcm: "Git Credential Manager"
        case .gitLibsecret: "git-credential-libsecret"
        case .msalExtensions: "MSAL's extensions"
        case .azureIdentity: "azure-identity"
        case .azd: "the Azure Developer CLI"
        case .gh: "gh"
        case .glab: "glab"
        }
    }
}

/// The contents of a source.
struct ImportFindings {
    /// Tokens and accounts.
    var cache = OtherCache()
    /// git's passwords that lanyard doesn't find in their present place.
    var passwords: [OtherPassword] = []
    /// git's passwords that lanyard can't use.
    var refused: [PasswordPlan.Entry] = []
    /// git's passwords that lanyard finds in their present place.
    var shared: [OtherPassword] = []
    /// The notes about the source for the user.
    var notes: [String] = []

    /// Adds the tokens and accounts of another cache of the same source, and the notes about it.
    mutating func add(_ more: ImportFindings) {
        cache.records += more.cache.records
        cache.rejects += more.cache.rejects
        notes += more.notes
    }
}
