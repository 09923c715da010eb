import JSON
import MicrosoftIdentity

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

    /// The parameters of a token request.
    struct Wish {
        /// The authority's URL.
        var authority: String
        var clientID: String
        var scopes: [String]
        /// A claims request, as JSON.
        var claims: String?
        /// The account as the broker returned it; nil if the user chooses.
        var account: BrokerAccount?
        /// The login hint if there is no account.
        var username = ""
        /// Additional parameters of the sign-in page.
        var query: [String: String] = [:]
        var prompt: String?
    }

    /// Returns a request for `getAccounts`.
    static func accounts(clientID: String) -> JSONValue {
        ["clientId": .string(clientID), "redirectUri": .string(redirectURI)]
    }

    /// Returns a request for `acquireTokenSilently` or `acquireTokenInteractively`.
    static func token(_ type: AuthorizationType, _ wish: Wish) -> JSONValue {
        var parameters: [String: JSONValue] = [
            // Since 2.0.2, the account is in here, unchanged, including unknown members.
            "account": wish.account?.whole ?? .null,
            "authority": .string(authority(wish.authority, realm: wish.account?.realm)),
            "authorizationType": .integer(type.rawValue), "clientId": .string(wish.clientID),
            "redirectUri": .string(redirectURI), "requestedScopes": JSONValue(strings: wish.scopes),
            "username": .string(wish.account?.username ?? wish.username),
            "additionalQueryParametersForAuthorization": .object(wish.query.mapValues(JSONValue.string)),
            "uxContextHandle": -1,
        ]
        // The JSON as a string, without base64.
        parameters["decodedClaims"] = wish.claims.map(JSONValue.string)
        parameters["prompt"] = wish.prompt.map(JSONValue.string)
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
