package import OAuth
package import PluginWire

extension PluginRequest {
    /// What the page that ends a sign-in tells of it: who signed in, to what, with which application and where.
    package func facts(account: String?, authority: String) -> [LoopbackPage.Fact] {
        let client = clientName.map { "\($0) (\(clientID))" } ?? clientID
        return [
            .init("Account", account), .init("For", purpose ?? scopes.joined(separator: " ")),
            .init("Application", client), .init("Authority", authority),
        ].compactMap(\.self)
    }
}
