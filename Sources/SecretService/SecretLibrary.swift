internal import CGLib

/// libsecret and the GLib that comes with it, which are loaded when a keyring is first needed.
enum SecretLibrary {
    // GLib would write messages to stderr that are in the returned errors anyway; stderr is for the user.
    private static let silence: Void = g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)

    /// Loads the library unless it is loaded already.
    static func open() throws(ServiceFailure) {
        if let problem = lanyard_secret_open() {
            throw ServiceFailure(.noLibrary, detail: String(cString: problem))
        }
        _ = silence
    }
}
