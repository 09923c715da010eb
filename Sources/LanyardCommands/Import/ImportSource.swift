import ArgumentParser
import OtherCaches

/// The programs whose sign-ins can be taken over.
enum ImportSource: String, ExpressibleByArgument, CaseIterable {
    /// The Azure CLI since 2.30: MSAL's cache in a file, or in the keyring if it is told to encrypt it.
    case azureCLI = "azure-cli"
    /// The Azure CLI before 2.30, and other programs with ADAL for Python.
    case adal
    /// Git Credential Manager: its passwords, and the cache it shares with Microsoft's developer tools.
    case gcm
    /// git's own helper.
    case gitLibsecret = "git-libsecret"
    /// A program with MSAL's extensions, wherever it keeps its cache.
    case msalExtensions = "msal-extensions"
    /// The SDKs of Azure, if they are told to keep their tokens.
    case azureIdentity = "azure-identity"
    /// The Azure Developer CLI.
    case azd
    /// GitHub's CLI.
    case gh
    /// GitLab's CLI.
    case glab

    /// Whether it keeps caches in the keyring under names.
    var hasItems: Bool { self == .msalExtensions || self == .azureIdentity }

    /// Whether what it has at its place are the settings of hosts, with tokens that git takes as passwords.
    var isOfHosts: Bool { self == .gh || self == .glab }

    /// What a message calls it.
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

/// What was found at a source.
struct ImportFindings {
    /// Tokens and accounts.
    var cache = OtherCache()
    /// git's passwords that are not where lanyard finds them.
    var passwords: [OtherPassword] = []
    /// git's passwords that lanyard has no use for.
    var refused: [PasswordPlan.Entry] = []
    /// git's passwords that lanyard finds as they are.
    var shared: [OtherPassword] = []
    /// What to tell the person about the source.
    var notes: [String] = []

    mutating func add(_ more: OtherCache) {
        cache.records += more.records
        cache.rejects += more.rejects
    }
}
