internal import CGLib

/// Why a call over the session bus failed.
package struct BusFailure: Error, Equatable, Sendable {
    /// What is wrong, as far as it makes a difference.
    package enum Reason: Sendable {
        /// GIO isn't installed, or is too old.
        case noLibrary
        /// There is no bus at the address, or it lets nobody in.
        case noBus
        /// The bus or the service answered with an error.
        case answered
        /// No reply came in time.
        case timedOut
        /// Whoever waited doesn't want to know any more.
        case cancelled
        /// The connection broke, or the reply is none.
        case broken
    }

    /// What is wrong.
    package let reason: Reason
    /// The error's name on the bus, such as `org.freedesktop.DBus.Error.NoReply`; nil unless that is what was answered.
    package let name: String?
    /// The text that goes with it, at most 4 KiB; not yet fit to show.
    package let detail: String

    /// Makes a failure.
    package init(_ reason: Reason, name: String? = nil, detail: String = "") {
        self.reason = reason
        self.name = name
        self.detail = detail
    }
}

/// Where a call to GLib may put its error.
typealias ErrorSlot = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

/// Calls GLib, and throws the error it leaves; one that says nothing finer is of this kind.
func failing<Value>(
    as reason: BusFailure.Reason, _ body: (ErrorSlot) -> Value?
) throws(BusFailure) -> Value {
    var error: UnsafeMutablePointer<GError>?
    if let value = body(&error) { return value }
    guard let error else { throw BusFailure(reason) }
    defer { g_error_free(error) }
    throw BusFailure(error, else: reason)
}

extension BusFailure {
    /// The errors of the connection that count here, as GLib numbers them (`GIOErrorEnum`).
    private static let cancelled: Int32 = 19
    private static let timedOut: Int32 = 24

    fileprivate init(_ error: UnsafeMutablePointer<GError>, else reason: Reason) {
        let text = error.pointee.message.map { String(cString: $0) } ?? ""
        let detail = String(decoding: text.utf8.prefix(SessionBus.longestError), as: UTF8.self)
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
