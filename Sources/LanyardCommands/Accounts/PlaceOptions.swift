import ArgumentParser
import AuthorityPlugin
import CredentialProtocol
import Rules
import TokenAcquisition

/// The authority whose accounts are meant, named itself or by a URL that a rule maps to it.
struct PlaceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only accounts of this authority.", valueName: "url"))
    var authority: String?

    /// The place where the authority's accounts are kept; nil where none is named.
    func place(_ url: String?, in session: Session) throws(Failure) -> AuthorityPlace? {
        var named = authority
        if named == nil, let url { named = try Self.authority(of: url, session) }
        guard let named else { return nil }
        let trimmed = named.withoutTrailingSlashes
        guard let place = session.acquirer.place(of: trimmed) else { throw Failure(unknownAuthority: trimmed) }
        return place
    }

    private static func authority(of url: String, _ session: Session) throws(Failure) -> String {
        let request = try CredentialRequest(url: url)
        guard let wanted = try session.resolve(request) else { throw Failure(noRuleMaps: request) }
        return wanted.authority
    }
}

extension Failure {
    /// A URL that nothing maps.
    init(noRuleMaps request: CredentialRequest) {
        self.init(
            "no rule maps \(request.url)", hints: [Hint("make one", run: "lanyard rule add \(request.url)")])
    }

    /// An authority that no plugin serves.
    init(
        unknownAuthority url: String,
        hints: [Hint] = ["write it like https://login.microsoftonline.com/organizations"]
    ) {
        let isADFS = AuthorityURL(url)?.path.first?.lowercased() == "adfs"
        self.init(
            "no plugin serves the authority \(url.displayable(limit: 255))" + (isADFS ? ", which is AD FS" : ""),
            hints: isADFS
                ? ["lanyard comes with plugins for Entra ID and Azure AD B2C; AD FS needs one of its own"] : hints)
    }
}
