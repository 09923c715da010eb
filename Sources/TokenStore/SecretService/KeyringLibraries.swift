internal import CSecret

/// The libraries that reach the keyring.
package enum KeyringLibraries {
    /// Their versions: libsecret as it was when lanyard was built, for it can't be asked, and GLib as it is now.
    package static var description: String {
        let libsecret = "libsecret \(SECRET_MAJOR_VERSION).\(SECRET_MINOR_VERSION).\(SECRET_MICRO_VERSION)"
        let glib = "GLib \(glib_major_version).\(glib_minor_version).\(glib_micro_version)"
        return "built with \(libsecret), running on \(glib)"
    }
}
