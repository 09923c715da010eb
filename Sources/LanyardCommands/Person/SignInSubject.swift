import Addresses
import Claims
import PluginWire
import Secrets

/// What the user signs in to, in a line or two.
struct SignInSubject: Sendable {
    /// The authority, or the host of the page that is shown for it.
    var place: String
    /// Who signs in, for what, and with which application.
    private var details = ""

    init(place: String) {
        self.place = place
    }

    init(_ request: PluginRequest) {
        place = request.authority.placeForPeople
        let account = request.signIn.loginHint.map { " as \($0.displayable(limit: 100))" } ?? ""
        let purpose = request.purpose.map { " for \($0.displayable(limit: 300).withoutHTTPS)" } ?? ""
        let client = request.clientName?.displayable(limit: 60) ?? request.clientID.displayable(limit: 60).shortened
        details = "\(account)\(purpose) (app \(client))"
    }

    /// Returns the subject for a page; if its host isn't the authority's, both are shown.
    func at(_ page: String) -> SignInSubject {
        var subject = self
        let host = page.hostForPeople
        if place.cut(at: "/").map({ $0.0 }) ?? Substring(place) != host {
            subject.place = host
            subject.details = ", on behalf of \(place)\(details)"
        }
        return subject
    }

    /// A description such as `at login.example/contoso as alice@contoso.example for git.example/app (app tools)`.
    var text: String { "at \(place)\(details)" }
}

extension String {
    /// An authority's host and path, with shortened IDs.
    fileprivate var placeForPeople: String {
        withoutHTTPS.pieces(between: "/").map { String($0).displayable(limit: 100).shortened }.joined(separator: "/")
    }

    fileprivate var withoutHTTPS: String {
        utf8.starts(with: "https://".utf8) ? String(Substring(utf8.dropFirst("https://".utf8.count))) : self
    }

    /// The first digits of a UUID; any other text unchanged.
    fileprivate var shortened: String { isUUID ? String(prefix(8)) + "…" : self }
}
