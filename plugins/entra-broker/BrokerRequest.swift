import Claims
import JSON
import MicrosoftIdentity
import PluginWire
import Secrets

/// Requests to the broker's methods, in the format of Microsoft's own runtime.
enum BrokerRequest {
    /// The only redirect URI that brokers on Linux accept; it must be registered for applications that users run.
    static let redirectURI = "https://login.microsoftonline.com/common/oauth2/nativeclient"

    /// The broker's number for how to get a token.
    enum AuthorizationType: Int64 {
        /// From the broker's stored tokens.
        case silent = 1
        /// By asking the user.
        case interactive = 6
    }

    /// Returns a request for `getAccounts`.
    static func accounts(clientID: String) -> JSONValue {
        ["clientId": .string(clientID), "redirectUri": .string(redirectURI)]
    }

    /// Returns a request for `acquireTokenSilently` or `acquireTokenInteractively`; only the latter shapes a sign-in.
    ///
    /// - Parameters:
    ///   - type: How to get the token.
    ///   - request: The host's request.
    ///   - account: The account as the broker returned it; nil if the user chooses.
    /// - Returns: The request as JSON.
    static func token(
        _ type: AuthorizationType, for request: PluginRequest, _ account: BrokerAccount?
    ) -> JSONValue {
        let signIn = type == .interactive ? request.signIn : SignInParameters()
        var parameters: [String: JSONValue] = [
            // Since 2.0.2, the account is in here, unchanged, including unknown members.
            "account": account?.whole ?? .null,
            "authority": .string(authority(request.authority, realm: account?.realm)),
            "authorizationType": .integer(type.rawValue), "clientId": .string(request.clientID),
            "redirectUri": .string(redirectURI), "requestedScopes": JSONValue(strings: request.scopes),
            "username": .string(account?.username ?? signIn.loginHint ?? ""),
            "additionalQueryParametersForAuthorization": .object(signIn.queryParameters.mapValues(JSONValue.string)),
            "uxContextHandle": -1,
        ]
        // The JSON as a string, without base64.
        parameters["decodedClaims"] = request.claims.map(JSONValue.string)
        parameters["prompt"] = signIn.prompt.map(JSONValue.string)
        // Without this, a broker gives the same token again while that lives.
        if type == .silent { parameters["accessTokenToRenew"] = request.accessToken.map { .string($0.reveal()) } }
        return ["authParameters": .object(parameters)]
    }

    /// Returns a request for `getLinuxBrokerVersion`.
    static func version(of program: String) -> JSONValue { ["msalCppVersion": .string(program)] }

    /// Returns a request for `cancelInteractiveFlow`, for a sign-in that the user cancelled.
    static func cancellation(context: String) -> JSONValue {
        [
            "error": [
                "context": .string(context), "diagnostics": .null, "errorCode": 0, "status": 7, "subStatus": 0,
                "tag": 0,
            ]
        ]
    }

    /// Returns the authority for an account: if the URL names an audience, the account's tenant.
    static func authority(_ url: String, realm: String?) -> String {
        guard let realm, let authority = try? Authority(url, as: .aad), authority.audience != .identifier,
            realm.utf8.allSatisfy({ $0.isRealmByte }), !realm.isEmpty
        else { return url }
        return "https://\(authority.environment)/\(realm)"
    }
}

extension UInt8 {
    /// Whether a tenant's ID or domain may contain this byte.
    fileprivate var isRealmByte: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
