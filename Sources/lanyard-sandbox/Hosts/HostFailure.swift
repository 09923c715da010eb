/// A host's error response, with its standard name and GitHub's.
struct HostFailure: Error, Sendable {
    let error: String
    let gitHub: String
    let message: String
    /// The new polling interval of a client that polled too fast.
    var interval: Int?

    init(_ error: String, gitHub: String? = nil, _ message: String) {
        self.error = error
        self.gitHub = gitHub ?? error
        self.message = message
    }

    func name(at style: CodeHost.Style) -> String {
        switch style {
        case .issuer: error
        case .forge: gitHub
        // Gitea returns this for codes, verifiers and refresh tokens alike.
        case .gitea: error == "invalid_grant" ? "unauthorized_client" : error
        }
    }
}

extension HostFailure {
    static let badClient = HostFailure(
        "invalid_client", gitHub: "incorrect_client_credentials",
        "The client is unknown, its secret is wrong, or it was sent the wrong way.")
    static let badCode = HostFailure(
        "invalid_grant", gitHub: "bad_verification_code", "The code passed is incorrect or expired.")
    static let badVerifier = HostFailure(
        "invalid_grant", gitHub: "bad_verification_code", "The code_verifier does not match the code_challenge.")
    static let badRedirect = HostFailure(
        "invalid_grant", gitHub: "redirect_uri_mismatch",
        "The redirect_uri must match the registered one and that of the authorization request.")
    static let badRefreshToken = HostFailure(
        "invalid_grant", gitHub: "bad_refresh_token", "The refresh token passed is incorrect, expired or revoked.")
    static let unknownGrantType = HostFailure("unsupported_grant_type", "This grant_type is not known here.")
    static let forbiddenGrantType = HostFailure(
        "unauthorized_client", gitHub: "device_flow_disabled", "The client is not registered for this flow.")
    static let badDeviceCode = HostFailure(
        "invalid_grant", gitHub: "incorrect_device_code", "The device_code provided is not valid.")
    static let expiredDeviceCode = HostFailure("expired_token", "The device_code has expired.")
    static let pending = HostFailure("authorization_pending", "The authorization request is still pending.")
    static let denied = HostFailure("access_denied", "The person denied the request.")
    static let badTarget = HostFailure("invalid_target", "The resource is not one of this host.")
    static let loginRequired = HostFailure("login_required", "Nobody is signed in, and no page may be shown.")
    static let consentRequired = HostFailure("consent_required", "Consent is needed, and no page may be shown.")

    static func slowDown(_ interval: Int) -> HostFailure {
        var failure = HostFailure("slow_down", "Too many requests: wait longer between them.")
        failure.interval = interval
        return failure
    }

    static func badScope(_ scope: String) -> HostFailure {
        HostFailure("invalid_scope", "The scope \(scope) does not exist.")
    }

    static func badRequest(_ message: String) -> HostFailure { HostFailure("invalid_request", message) }
    static func missing(_ parameter: String) -> HostFailure { badRequest("The parameter \(parameter) is missing.") }
}
