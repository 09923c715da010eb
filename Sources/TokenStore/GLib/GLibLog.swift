internal import CSecret

/// Drops what GLib and libsecret log: stderr belongs to the person, and each of their failures comes back as an error, too.
enum GLibLog {
    // GLib has one writer for the process, and lets it be set once.
    private static let silenced: Void = g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)

    /// Has GLib log nothing from here on.
    static func silence() { _ = silenced }
}
