internal import CSecret
internal import Logging
internal import Synchronization

/// Takes what GLib and libsecret have to say away from stderr, which belongs to the person, and gives it to a logger.
///
/// GLib has one writer for the process and lets it be set once, so the logger is the process's too: the last one wins.
enum GLibLog {
    private static let destination = Mutex<Logger?>(nil)

    private static let installed: Void = g_log_set_writer_func(
        { _, fields, count, _ in
            GLibLog.write(fields: UnsafeBufferPointer(start: fields, count: Int(count)))
            return G_LOG_WRITER_HANDLED
        }, nil, nil)

    static func route(to logger: Logger?) {
        _ = installed
        if let logger { destination.withLock { $0 = logger } }
    }

    private static func write(fields: UnsafeBufferPointer<GLogField>) {
        guard let logger = destination.withLock({ $0 }) else { return }
        logger.debug("glib: \(text("GLIB_DOMAIN", in: fields)): \(text("MESSAGE", in: fields))")
    }

    private static func text(_ key: String, in fields: UnsafeBufferPointer<GLogField>) -> String {
        guard let field = fields.first(where: { $0.key.map { String(cString: $0) } == key }), let value = field.value
        else { return "" }
        // A negative length says that the value is a C string.
        if field.length < 0 { return String(cString: value.assumingMemoryBound(to: CChar.self)) }
        return String(decoding: UnsafeRawBufferPointer(start: value, count: Int(field.length)), as: UTF8.self)
    }
}
