internal import CSecret

/// Why a call to the provider failed, in GLib's terms or already in ours.
enum ProviderFailure: Error, Equatable {
    /// A `GError`, copied.
    case reported(domain: UInt32, code: Int32, message: String)
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
    throw .reported(domain: error.pointee.domain, code: error.pointee.code, message: message)
}

/// Calls GLib, and throws where it did not do what it was asked to, with or without an error.
func succeeding(_ body: (ErrorSlot) -> gboolean) throws(ProviderFailure) {
    guard try calling(body) != 0 else { throw .found(StoreError(.broken, detail: "libsecret refused the call")) }
}

extension ProviderFailure {
    /// Whether the provider went away during the call; another may have taken its place since.
    var isVanished: Bool {
        guard case .reported(let domain, let code, _) = self else { return false }
        if domain == g_dbus_error_quark() {
            // A service is also unknown where libsecret addresses the one that is gone by its unique name.
            return [
                G_DBUS_ERROR_NO_REPLY, G_DBUS_ERROR_NAME_HAS_NO_OWNER, G_DBUS_ERROR_SERVICE_UNKNOWN,
                G_DBUS_ERROR_DISCONNECTED,
            ].map(\.code).contains(code)
        }
        return domain == g_io_error_quark() && code == G_IO_ERROR_CLOSED.code
    }

    /// Whether the object that the call was meant for is not there, or no more.
    var isMissingObject: Bool {
        guard case .reported(let domain, let code, _) = self else { return false }
        // GDBus calls a method of an object that is not there an unknown method.
        let unknown = [G_DBUS_ERROR_UNKNOWN_OBJECT, G_DBUS_ERROR_UNKNOWN_METHOD].map(\.code)
        return domain == g_dbus_error_quark() && unknown.contains(code)
            || domain == secret_error_get_quark() && code == SECRET_ERROR_NO_SUCH_OBJECT.code
    }

    /// The failure in the terms of a remedy.
    var storeError: StoreError {
        switch self {
        case .found(let error): error
        case .reported(let domain, let code, let message):
            StoreError(Self.reason(domain: domain, code: code), detail: message)
        }
    }

    private static func reason(domain: UInt32, code: Int32) -> StoreError.Reason {
        switch domain {
        case g_io_error_quark(): reason(ofTransport: code)
        case g_dbus_error_quark(): reason(ofBus: code)
        case g_spawn_error_quark(), g_spawn_exit_error_quark(): .noSessionBus
        case secret_error_get_quark(): code == SECRET_ERROR_IS_LOCKED.code ? .locked : .broken
        default: .broken
        }
    }

    private static func reason(ofTransport code: Int32) -> StoreError.Reason {
        switch code {
        case G_IO_ERROR_CANCELLED.code, G_IO_ERROR_TIMED_OUT.code: .timedOut
        case G_IO_ERROR_PERMISSION_DENIED.code: .denied
        case G_IO_ERROR_INVALID_DATA.code: .broken
        default: .noSessionBus
        }
    }

    private static func reason(ofBus code: Int32) -> StoreError.Reason {
        switch code {
        case G_DBUS_ERROR_SERVICE_UNKNOWN.code, G_DBUS_ERROR_NAME_HAS_NO_OWNER.code,
            G_DBUS_ERROR_SPAWN_EXEC_FAILED.code...G_DBUS_ERROR_SPAWN_NO_MEMORY.code:
            .noProvider
        case G_DBUS_ERROR_NO_SERVER.code, G_DBUS_ERROR_DISCONNECTED.code: .noSessionBus
        case G_DBUS_ERROR_TIMEOUT.code, G_DBUS_ERROR_TIMED_OUT.code, G_DBUS_ERROR_NO_REPLY.code: .timedOut
        case G_DBUS_ERROR_ACCESS_DENIED.code, G_DBUS_ERROR_AUTH_FAILED.code: .denied
        case G_DBUS_ERROR_UNKNOWN_OBJECT.code, G_DBUS_ERROR_UNKNOWN_METHOD.code: .noDefaultCollection
        default: .broken
        }
    }
}

extension RawRepresentable where RawValue == UInt32 {
    fileprivate var code: Int32 { Int32(bitPattern: rawValue) }
}

extension RawRepresentable where RawValue == Int32 {
    fileprivate var code: Int32 { rawValue }
}
