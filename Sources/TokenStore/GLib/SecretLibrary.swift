internal import CSecret
internal import Logging

/// The libraries that lead to a keyring, which are opened when one is first needed.
enum SecretLibrary {
    /// Opens what looking takes, and has what GLib and libsecret log go to the logger, to none where none was named yet;
    /// costs nothing where it is open.
    static func open(logger: Logger? = nil) throws(ProviderFailure) {
        try check(lanyard_gio_open())
        GLibLog.route(to: logger)
    }

    /// Opens libgcrypt, which agreeing on a key for secrets takes.
    static func openForSecrets() throws(ProviderFailure) { try check(lanyard_gcrypt_open()) }

    /// Opens libsecret, which what changes a keyring takes besides.
    static func openForChanges() throws(ProviderFailure) { try check(lanyard_secret_open()) }

    private static func check(_ problem: UnsafePointer<CChar>?) throws(ProviderFailure) {
        guard let problem else { return }
        throw .found(StoreError(.noLibrary, detail: String(cString: problem)))
    }
}
