import Addresses
import JSON

/// The files of credentials that Google's programs would write, for the sandbox's Google Cloud.
struct GoogleFiles: Sendable {
    let world: World

    private var endpoint: String { "\(world.exchanges)/\(GoogleCloud.path)" }

    /// The files by their names, without the extension.
    var all: [(name: String, content: JSONValue)] {
        [
            ("authorized_user", user), ("service_account", serviceAccount), ("external_account", external),
            ("impersonated_external_account", impersonatedExternal), ("workforce_external_account", externalWorkforce),
            ("aws_external_account", externalAWS), ("external_account_authorized_user", workforce),
            ("impersonated_service_account", impersonated),
        ]
    }

    /// The file that the external accounts read their token from; whoever tries them out writes it.
    var subjectToken: String { "\(world.home.google)/subject-token" }

    private var user: JSONValue {
        [
            "type": "authorized_user", "client_id": .string(GoogleCloud.clientID),
            "client_secret": .string(world.google.clientSecret),
            "refresh_token": .string(world.google.refreshTokens.user), "quota_project_id": "contoso-project",
            "account": "", "universe_domain": "googleapis.com",
        ]
    }

    private var serviceAccount: JSONValue {
        let pem = world.applicationCertificate.pem
        let key = pem.cut(atText: "-----BEGIN CERTIFICATE").map { String($0.0) } ?? pem
        return [
            "type": "service_account", "project_id": "contoso-project", "private_key_id": .string(GoogleCloud.keyID),
            "private_key": .string(key), "client_email": .string(GoogleCloud.account), "client_id": "1234567890",
            "token_uri": .string("\(endpoint)/token"), "universe_domain": "googleapis.com",
        ]
    }

    private var externalMembers: [String: JSONValue] {
        [
            "type": "external_account", "audience": .string(GoogleCloud.pool),
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": .string("\(endpoint)/v1/token"),
            "credential_source": ["file": .string(subjectToken), "format": ["type": "text"]],
            "universe_domain": "googleapis.com",
        ]
    }

    private var external: JSONValue { .object(externalMembers) }

    private var impersonationURL: JSONValue {
        .string("\(endpoint)/v1/projects/-/serviceAccounts/\(GoogleCloud.deployer):generateAccessToken")
    }

    private var impersonatedExternal: JSONValue {
        .object(externalMembers.merging(["service_account_impersonation_url": impersonationURL]) { $1 })
    }

    /// A role of AWS's.
    private var externalAWS: JSONValue {
        let metadata = "http://169.254.169.254/latest/meta-data"
        return .object(
            externalMembers.merging([
                "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request",
                "credential_source": [
                    "environment_id": "aws1", "region_url": .string("\(metadata)/placement/availability-zone"),
                    "url": .string("\(metadata)/iam/security-credentials"),
                    "regional_cred_verification_url":
                        "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
                ],
            ]) { $1 })
    }

    /// A user of the issuer's, whose ID token whoever tries it out writes.
    private var externalWorkforce: JSONValue {
        .object(
            externalMembers.merging([
                "audience": .string(GoogleCloud.workforcePool), "workforce_pool_user_project": "contoso-project",
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
                "credential_source": ["file": .string("\(world.home.google)/id-token")],
            ]) { $1 })
    }

    private var workforce: JSONValue {
        [
            "type": "external_account_authorized_user",
            "audience": "//iam.googleapis.com/locations/global/workforcePools/x",
            "client_id": .string(GoogleCloud.clientID), "client_secret": .string(world.google.clientSecret),
            "refresh_token": .string(world.google.refreshTokens.workforce),
            "token_url": .string("\(endpoint)/v1/oauthtoken"), "token_info_url": .string("\(endpoint)/v1/introspect"),
        ]
    }

    private var impersonated: JSONValue {
        [
            "type": "impersonated_service_account", "delegates": [], "source_credentials": serviceAccount,
            "service_account_impersonation_url": impersonationURL,
        ]
    }
}
