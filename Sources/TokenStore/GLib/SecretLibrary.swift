internal import CSecret

/// libsecret, which is opened when a keyring is first needed.
enum SecretLibrary {
    /// Opens it; costs nothing where it is open.
    static func open() throws(ProviderFailure) {
        guard let problem = lanyard_secret_open() else { return }
        throw .found(StoreError(.noLibrary, detail: String(cString: problem)))
    }
}
