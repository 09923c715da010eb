internal import CSecret

/// The libraries that lead to a keyring, which are opened when one is first needed.
enum SecretLibrary {
    /// Opens what looking takes, and silences GLib and libsecret; costs nothing if it is open.
    static func open() throws(ProviderFailure) {
        try check(lanyard_gio_open())
        GLibLog.silence()
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
