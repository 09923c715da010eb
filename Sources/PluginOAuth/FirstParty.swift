/// What the plugins that come with lanyard have in common.
package enum FirstParty {
    /// Their version.
    package static let version = "0.1.0"
}
