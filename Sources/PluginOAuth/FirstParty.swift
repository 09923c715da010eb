/// Values that lanyard's own plugins share.
package enum FirstParty {
    /// The plugins' version.
    package static let version = "0.1.0"
}
