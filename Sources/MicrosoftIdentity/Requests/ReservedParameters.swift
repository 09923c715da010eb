package import Claims

extension SignInParameters {
    /// What the plugins' manifests call `reserved-parameters`: `p` would name another policy.
    private static let reserved: Set = ["client_info", "p", "x-anchormailbox"]

    /// Checks that no further parameter is one that only the plugin sets; the host has checked it, too.
    ///
    /// - Throws: `SignInParameterError.reserved`.
    package func requireUnreserved() throws(SignInParameterError) {
        if let name = first(of: Self.reserved) { throw .reserved(name) }
    }
}
