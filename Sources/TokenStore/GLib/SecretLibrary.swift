internal import CSecret
internal import Logging

/// libsecret and libgcrypt, which are opened when a keyring is first needed.
enum SecretLibrary {
    /// Opens them, and has what libsecret and GLib log go to the logger, to none where none was named yet; costs nothing
    /// where they are open.
    static func open(logger: Logger? = nil) throws(ProviderFailure) {
        if let problem = lanyard_secret_open() {
            throw .found(StoreError(.noLibrary, detail: String(cString: problem)))
        }
        // Names errors of the Secret Service, which calls of its own find as well as libsecret's.
        _ = secret_error_get_quark()
        GLibLog.route(to: logger)
    }
}
