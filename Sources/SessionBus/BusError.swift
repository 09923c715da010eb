internal import CGLib

/// The reason why a call over the session bus failed.
package struct BusError: Error, Equatable, Sendable {
    /// The reason, as far as callers act on it.
    package enum Reason: Sendable {
        /// GIO isn't installed, or is too old.
        case noLibrary
        /// There is no bus at the address, or it rejects the connection.
        case noBus
        /// The bus or the service answered with an error.
        case answered
        /// No reply came in time.
        case timedOut
        /// The caller's task was cancelled.
        case cancelled
        /// The connection broke, or the reply is invalid.
        case broken
    }

    /// The reason.
    package let reason: Reason
    /// The error's name on the bus, such as `org.freedesktop.DBus.Error.NoReply`; nil unless the bus or service
    /// answered with an error.
    package let name: String?
    /// The error's text, at most 4 KiB; not yet safe to show.
    package let detail: String

    /// Creates a failure.
    package init(_ reason: Reason, name: String? = nil, detail: String = "") {
        self.reason = reason
        self.name = name
        self.detail = detail
    }
}

/// The location for a GLib error.
typealias ErrorSlot = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

/// Calls GLib and throws the error that it sets; an unspecific one gets this reason.
func failing<Value>(
    as reason: BusError.Reason, _ body: (ErrorSlot) -> Value?
) throws(BusError) -> Value {
    var error: UnsafeMutablePointer<GError>?
    if let value = body(&error) { return value }
    guard let error else { throw BusError(reason) }
    defer { g_error_free(error) }
    throw BusError(error, else: reason)
}

extension BusError {
    /// The relevant connection errors, as numbered by GLib (`GIOErrorEnum`).
    private static let cancelled: Int32 = 19
    private static let timedOut: Int32 = 24

    fileprivate init(_ error: UnsafeMutablePointer<GError>, else reason: Reason) {
        let text = error.pointee.message.map { String(cString: $0) } ?? ""
        let detail = String(decoding: text.utf8.prefix(Bus.longestError), as: UTF8.self)
        if let remote = g_dbus_error_get_remote_error(error) {
            defer { g_free(remote) }
            self.init(.answered, name: String(cString: remote), detail: detail)
            return
        }
        let domain = g_quark_to_string(error.pointee.domain).map { String(cString: $0) }
        switch (domain, error.pointee.code) {
        case ("g-io-error-quark", Self.cancelled): self.init(.cancelled)
        case ("g-io-error-quark", Self.timedOut): self.init(.timedOut)
        default: self.init(reason, detail: detail)
        }
    }
}
