import Addresses
import PluginHost
import Terminal

extension AuthorityURL {
    /// Returns the URL at another host; nil if the host isn't valid.
    func at(host: String) -> String? {
        AuthorityURL("https://\(host)" + path.map { "/\($0)" }.joined())?.description
    }
}

extension CommandError {
    /// Creates the error for an authority at an unknown host if the user can't be asked.
    init(unknownHost authority: AuthorityURL, twin: String?) {
        let looks = twin.map { ", which looks like \($0)" } ?? ""
        let right = twin.flatMap(authority.at(host:)).map { Hint("did you mean", write: "--authority \($0)") }
        self.init(
            "no plugin knows the host \(authority.host)\(looks)",
            hints: [right].compactMap(\.self) + [Hint("if you trust it, say so", write: "--trust-authority")],
            status: .usage)
    }
}
