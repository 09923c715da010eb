import PluginWire

/// How a flow ended, where it did not fail.
enum FlowOutcome: Sendable {
    /// The person signed in.
    case signedIn(PluginResult)
    /// The flow can't be used here; the next one may.
    case notHere(PluginError)
}
