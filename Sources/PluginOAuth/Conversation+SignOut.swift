package import PluginKit
package import PluginWire

extension Conversation {
    /// Opens an authority's end-session page (OpenID Connect RP-Initiated Logout 1.0, 2).
    ///
    /// - Throws: `unsupported` if no browser can be opened.
    package func endSession(at page: String) async throws(PluginError) {
        switch await ask(.openURL(url: page, redirectURI: nil)) {
        case .done, .redirected, .answer: return
        case .unsupported: throw PluginError(.unsupported, "no browser can be opened here")
        case .cancelled: throw PluginError(.cancelled, "the sign-out was cancelled")
        }
    }
}
