/// The version of everything that is released together: lanyard, its own plugins, and the newest heading of CHANGELOG.md.
package enum Version {
    /// The version, according to SemVer.
    package static let current = "0.1.0"
}
