internal import CSecret

/// Why a call to the provider failed, in GLib's terms or already in ours.
enum ProviderFailure: Error, Equatable, Sendable {
    /// A `GError`, copied.
    case reported(domain: String, code: Int32, message: String)
    /// Something the store itself found.
    case found(StoreError)
}

/// Where a call to GLib may put its error.
typealias ErrorSlot = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>

/// Calls GLib, and throws the error it leaves.
func calling<Result: ~Copyable>(_ body: (ErrorSlot) -> Result) throws(ProviderFailure) -> Result {
    var error: UnsafeMutablePointer<GError>?
    let result = body(&error)
    guard let error else { return result }
    defer { g_error_free(error) }
    let message = error.pointee.message.map { String(cString: $0) } ?? ""
    let domain = g_quark_to_string(error.pointee.domain).map { String(cString: $0) } ?? ""
    throw .reported(domain: domain, code: error.pointee.code, message: message)
}

/// Calls GLib, and throws where it did not do what it was asked to, with or without an error.
func succeeding(_ body: (ErrorSlot) -> gboolean) throws(ProviderFailure) {
    guard try calling(body) != 0 else { throw .found(StoreError(.broken, detail: "libsecret refused the call")) }
}

/// The domains of errors, by the names that GLib and libsecret give them.
private enum Domain {
    static let transport = "g-io-error-quark"
    static let bus = "g-dbus-error-quark"
    static let spawning = ["g-exec-error-quark", "g-spawn-exit-error-quark"]
    static let libsecret = "secret-error"
}

/// The errors of D-Bus that count here, as GLib numbers them (`GDBusError`).
private enum BusError {
    static let serviceUnknown: Int32 = 2
    static let nameHasNoOwner: Int32 = 3
    static let noReply: Int32 = 4
    static let notSupported: Int32 = 7
    static let accessDenied: Int32 = 9
    static let authFailed: Int32 = 10
    static let noServer: Int32 = 11
    static let timeout: Int32 = 12
    static let disconnected: Int32 = 15
    static let unknownMethod: Int32 = 19
    static let timedOut: Int32 = 20
    static let spawning: ClosedRange<Int32> = 23...34
    static let unknownObject: Int32 = 41
}

/// The errors of the connection that count here, as GLib numbers them (`GIOErrorEnum`).
private enum TransportError {
    static let invalidArgument: Int32 = 13
    static let permissionDenied: Int32 = 14
    static let closed: Int32 = 18
    static let cancelled: Int32 = 19
    static let timedOut: Int32 = 24
    static let invalidData: Int32 = 35
    static let remote: Int32 = 36
}

/// The errors of libsecret that count here (`SecretError`).
private enum LibsecretError {
    static let isLocked: Int32 = 2
    static let noSuchObject: Int32 = 3
}

/// The errors of the Secret Service that count here; libsecret has numbers for some, GLib for none.
private enum SecretServiceError {
    static let isLocked = "org.freedesktop.Secret.Error.IsLocked"
    static let noSuchObject = "org.freedesktop.Secret.Error.NoSuchObject"
    static let noSession = "org.freedesktop.Secret.Error.NoSession"
}

extension ProviderFailure {
    /// Whether the provider went away during the call; another may have taken its place since.
    var isVanished: Bool {
        guard case .reported(let domain, let code, _) = self else { return false }
        if domain == Domain.bus {
            // A service is also unknown where libsecret addresses the one that is gone by its unique name.
            return [BusError.noReply, BusError.nameHasNoOwner, BusError.serviceUnknown, BusError.disconnected]
                .contains(code)
        }
        // Another process that took its place knows nothing of the session.
        return domain == Domain.transport && code == TransportError.closed || isError(SecretServiceError.noSession)
    }

    /// Whether the provider can't do what the call asks for.
    var isNotSupported: Bool {
        guard case .reported(let domain, let code, _) = self else { return false }
        return domain == Domain.bus && code == BusError.notSupported
    }

    /// Whether the reply to a call was not of the type that it should be.
    var isWrongType: Bool {
        guard case .reported(let domain, let code, _) = self else { return false }
        return domain == Domain.transport && code == TransportError.invalidArgument
    }

    /// Whether the object that the call was meant for is not there, or no more.
    var isMissingObject: Bool {
        guard case .reported(let domain, let code, _) = self else { return false }
        // GDBus calls a method of an object that is not there an unknown method.
        return domain == Domain.bus && [BusError.unknownObject, BusError.unknownMethod].contains(code)
            || domain == Domain.libsecret && code == LibsecretError.noSuchObject
            || isError(SecretServiceError.noSuchObject)
    }

    /// The failure in the terms of a remedy.
    var storeError: StoreError {
        switch self {
        case .found(let error): error
        case .reported(_, _, let message) where isError(SecretServiceError.isLocked):
            StoreError(.locked, detail: message)
        case .reported(let domain, let code, let message):
            StoreError(Self.reason(domain: domain, code: code), detail: message)
        }
    }

    /// Whether it is the error of D-Bus of that name, for which GLib has no number.
    private func isError(_ name: String) -> Bool {
        guard case .reported(Domain.transport, TransportError.remote, let message) = self else { return false }
        return message.hasPrefix("GDBus.Error:\(name):")
    }

    private static func reason(domain: String, code: Int32) -> StoreError.Reason {
        switch domain {
        case Domain.transport: reason(ofTransport: code)
        case Domain.bus: reason(ofBus: code)
        case Domain.libsecret: code == LibsecretError.isLocked ? .locked : .broken
        default: Domain.spawning.contains(domain) ? .noSessionBus : .broken
        }
    }

    private static func reason(ofTransport code: Int32) -> StoreError.Reason {
        switch code {
        case TransportError.cancelled, TransportError.timedOut: .timedOut
        case TransportError.permissionDenied: .denied
        case TransportError.invalidData: .broken
        default: .noSessionBus
        }
    }

    private static func reason(ofBus code: Int32) -> StoreError.Reason {
        switch code {
        case BusError.serviceUnknown, BusError.nameHasNoOwner, BusError.spawning: .noProvider
        case BusError.noServer, BusError.disconnected: .noSessionBus
        case BusError.timeout, BusError.timedOut, BusError.noReply: .timedOut
        case BusError.accessDenied, BusError.authFailed: .denied
        case BusError.unknownObject, BusError.unknownMethod: .noDefaultCollection
        default: .broken
        }
    }
}
