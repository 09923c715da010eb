internal import CGLib

/// The reason why a call to the Secret Service failed.
package struct ServiceError: Error, Equatable, Sendable {
    /// The reasons that need different remedies.
    package enum Reason: String, Sendable {
        case locked, noSessionBus, noProvider, noDefaultCollection, timedOut, busy, denied, damaging, noLibrary
        case badBackend, broken
    }

    /// The reason.
    package let reason: Reason
    /// The provider's own words, not yet made displayable.
    package let detail: String
    /// Whether a new connection may help: the provider vanished during the call, so another may have replaced it since,
    /// or it doesn't know the session any more.
    private(set) var isWorthRepeating = false
    /// Whether the call's object doesn't exist, or no longer does.
    private(set) var isMissingObject = false
    /// Whether the user would have been asked if it had been this process's turn.
    package private(set) var wantsTurn = false
    /// Whether the user said no.
    package private(set) var isDeclined = false

    /// Creates a failure that doesn't come from GLib.
    package init(_ reason: Reason, detail: String = "") {
        self.reason = reason
        self.detail = detail
    }

    /// The same failure, after which a new connection may help.
    var worthRepeating: ServiceError { with(\.isWorthRepeating) }

    /// The same failure, of a process whose turn to ask the user it isn't.
    var wantingTurn: ServiceError { with(\.wantsTurn) }

    /// The same failure, by the user's will.
    var declined: ServiceError { with(\.isDeclined) }

    private func with(_ property: WritableKeyPath<ServiceError, Bool>) -> ServiceError {
        var failure = self
        failure[keyPath: property] = true
        return failure
    }
}

/// A pointer through which GLib returns an error.
typealias ErrorSlot = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

/// Calls GLib, and throws the error that it returns.
func throwing<Result>(_ body: (ErrorSlot) -> Result) throws(ServiceError) -> Result {
    var error: UnsafeMutablePointer<GError>?
    let result = body(&error)
    guard let error else { return result }
    defer { g_error_free(error) }
    throw ServiceError(error.pointee)
}

extension ServiceError {
    fileprivate init(_ error: GError) {
        let code = error.code
        let detail = error.message.map { String(cString: $0) } ?? ""
        switch g_quark_to_string(error.domain).map({ String(cString: $0) }) {
        case "g-io-error-quark":
            self.init(TransportError.reason(code), detail: detail)
            isWorthRepeating = TransportError.vanished.contains(code)
        case "g-dbus-error-quark":
            self.init(BusError.reason(code), detail: detail)
            isWorthRepeating = BusError.vanished.contains(code)
            isMissingObject = BusError.missingObject.contains(code)
        case "secret-error":
            self.init(code == LibsecretError.isLocked ? .locked : .broken, detail: detail)
            isMissingObject = code == LibsecretError.noSuchObject
        case "g-exec-error-quark", "g-spawn-exit-error-quark":
            self.init(.noSessionBus, detail: detail)
        default:
            self.init(.broken, detail: detail)
        }
    }
}

/// The D-Bus errors that matter here, with GLib's numbers (`GDBusError`).
private enum BusError {
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

    static func reason(_ code: Int32) -> ServiceError.Reason {
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
private enum TransportError {
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

    static func reason(_ code: Int32) -> ServiceError.Reason {
        switch code {
        case cancelled, timedOut: .timedOut
        case permissionDenied: .denied
        case invalidArgument, invalidData, remote: .broken
        default: .noSessionBus
        }
    }
}

/// The libsecret errors that matter here (`SecretError`).
private enum LibsecretError {
    static let isLocked: Int32 = 2
    static let noSuchObject: Int32 = 3
}
