package import OAuth
package import PluginWire

extension PluginRequest {
    /// Returns the facts on the page that ends a sign-in: who signed in, to what, with which application and where.
    package func facts(account: String?, authority: String) -> [LoopbackPage.Fact] {
        let client = clientName.map { "\($0) (\(clientID))" } ?? clientID
        return [
            .init("Account", account), .init("For", purpose ?? scopes.joined(separator: " ")),
            .init("Application", client), .init("Authority", authority),
        ].compactMap(\.self)
    }
}
