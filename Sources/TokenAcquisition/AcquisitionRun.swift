import PluginHost
import PluginWire
import Rules
import Secrets
import TokenStore

/// One run of `get`: what it is for, and what came of its attempts so far.
struct AcquisitionRun: Sendable {
    var request: TokenRequest
    let authority: AuthorityMatch
    /// When it began: what has failed since, in any process, isn't tried again.
    let began: Int
    /// Whether to get a new token even if a valid one is stored.
    var isAnew = false
    /// Whether the user may be asked, as far as that shows without looking for them.
    var mayAsk = false
    /// The client's secret, as it was read last; nil if it has none.
    var clientSecret: Secret?
    /// The refresh tokens that were of no use.
    var tried: Set<Secret> = []
    /// What the last of them, or a process that did the same, failed with.
    var failure: PluginError?
    /// The plugin that can be asked for a token of another program's sign-in; nil if none can.
    var broker: PluginManifest?
    /// Why the broker has no token; nil until it was asked.
    var brokerRefusal: PluginError?

    /// The reason why the broker has to ask the user; nil if it doesn't have to, or wasn't asked.
    var brokerWish: PluginError? { brokerRefusal.flatMap { $0.code.wantsPerson ? $0 : nil } }

    /// The key of a recorded failure; with nil, for a user who hasn't signed in.
    func key(_ account: StoredAccount?) -> RecentFailures.Key {
        RecentFailures.Key(account?.heeding(request) ?? request, authority.place, account: account?.account)
    }
}
