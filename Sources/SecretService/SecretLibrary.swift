internal import CGLib

/// libsecret and the GLib it brings, which are loaded when a keyring is first needed.
enum SecretLibrary {
    // GLib would write to stderr, which belongs to the person, what is in the errors that it returns anyway.
    private static let silence: Void = g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)

    /// Loads what isn't loaded yet.
    static func open() throws(ServiceFailure) {
        if let problem = lanyard_secret_open() {
            throw ServiceFailure(.noLibrary, detail: String(cString: problem))
        }
        _ = silence
    }
}
