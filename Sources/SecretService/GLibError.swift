internal import CGLib
internal import Keyring

/// A pointer through which GLib returns an error.
typealias ErrorSlot = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

/// Calls GLib, and throws the error that it returns.
func throwing<Result>(_ body: (ErrorSlot) -> Result) throws(KeyringError) -> Result {
    var error: UnsafeMutablePointer<GError>?
    let result = body(&error)
    guard let error else { return result }
    defer { g_error_free(error) }
    throw KeyringError(error.pointee)
}

extension KeyringError {
    /// The same error, after which a new connection may help: the provider vanished during the call, so another may have
    /// replaced it since, or it doesn't know the session any more.
    var worthRepeating: KeyringError { KeyringError(reason, detail: detail, .reconnect) }

    /// Whether the call's object doesn't exist, or no longer does.
    var isMissingObject: Bool { handling == .missingObject }

    fileprivate init(_ error: GError) {
        let code = error.code
        let detail = error.message.map { String(cString: $0) } ?? ""
        switch g_quark_to_string(error.domain).map({ String(cString: $0) }) {
        case "g-io-error-quark":
            self.init(TransportCode.reason(code), detail: detail)
            if TransportCode.vanished.contains(code) { handling = .reconnect }
        case "g-dbus-error-quark":
            self.init(BusCode.reason(code), detail: detail)
            if BusCode.vanished.contains(code) { handling = .reconnect }
            if BusCode.missingObject.contains(code) { handling = .missingObject }
        case "secret-error":
            // `SecretError` 2 is that it is locked, 3 that there is no such object.
            self.init(code == 2 ? .locked : .broken, detail: detail)
            if code == 3 { handling = .missingObject }
        case "g-exec-error-quark", "g-spawn-exit-error-quark":
            self.init(.noSessionBus, detail: detail)
        default:
            self.init(.broken, detail: detail)
        }
    }
}

/// The D-Bus errors that matter here, with GLib's numbers (`GDBusError`).
private enum BusCode {
    static let serviceUnknown: Int32 = 2
    static let nameHasNoOwner: Int32 = 3
    static let noReply: Int32 = 4
    static let accessDenied: Int32 = 9
    static let authFailed: Int32 = 10
    static let noServer: Int32 = 11
    static let timeout: Int32 = 12
    static let disconnected: Int32 = 15
    static let unknownMethod: Int32 = 19
    static let timedOut: Int32 = 20
    static let spawning: ClosedRange<Int32> = 23...34
    static let unknownObject: Int32 = 41

    /// A service is also unknown if libsecret uses the unique name of one that is gone.
    static let vanished = [noReply, nameHasNoOwner, serviceUnknown, disconnected]
    /// GDBus reports a call to a missing object as an unknown method.
    static let missingObject = [unknownObject, unknownMethod]

    static func reason(_ code: Int32) -> KeyringError.Reason {
        switch code {
        case serviceUnknown, nameHasNoOwner, spawning: .noProvider
        case noServer, disconnected: .noSessionBus
        case timeout, timedOut, noReply: .timedOut
        case accessDenied, authFailed: .denied
        default: .broken
        }
    }
}

/// The connection's errors that matter here, with GLib's numbers (`GIOErrorEnum`).
private enum TransportCode {
    /// A reply of the wrong type.
    static let invalidArgument: Int32 = 13
    static let permissionDenied: Int32 = 14
    static let closed: Int32 = 18
    static let cancelled: Int32 = 19
    static let timedOut: Int32 = 24
    static let invalidData: Int32 = 35
    /// A provider's error that neither GLib nor libsecret knows.
    static let remote: Int32 = 36

    /// A process that replaced another doesn't know the session; libsecret strips the name of that error.
    static let vanished = [closed, remote]

    static func reason(_ code: Int32) -> KeyringError.Reason {
        switch code {
        case cancelled, timedOut: .timedOut
        case permissionDenied: .denied
        case invalidArgument, invalidData, remote: .broken
        default: .noSessionBus
        }
    }
}
