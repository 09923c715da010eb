import JSON
import MicrosoftIdentity

/// What the broker's methods are asked, as Microsoft's own runtime writes it.
enum BrokerRequest {
    /// The only redirect URI that brokers on Linux take: applications that people run have it registered for them.
    static let redirectURI = "https://login.microsoftonline.com/common/oauth2/nativeclient"

    /// How a token is got, by the broker's number.
    enum AuthorizationType: Int64 {
        /// By what the broker holds.
        case silent = 1
        /// By asking the person.
        case interactive = 6
    }

    /// What a token is to be like.
    struct Wish {
        /// The authority's URL.
        var authority: String
        var clientID: String
        var scopes: [String]
        /// A claims request, JSON.
        var claims: String?
        /// The account, as the broker gave it; nil if the person is to say whose it is.
        var account: BrokerAccount?
        /// Who is likely to sign in if there is no account.
        var username = ""
        /// Further parameters of the sign-in page.
        var query: [String: String] = [:]
        var prompt: String?
    }

    /// `getAccounts`.
    static func accounts(clientID: String) -> JSONValue {
        ["clientId": .string(clientID), "redirectUri": .string(redirectURI)]
    }

    /// `acquireTokenSilently` or `acquireTokenInteractively`.
    static func token(_ type: AuthorizationType, _ wish: Wish) -> JSONValue {
        var parameters: [String: JSONValue] = [
            // Inside and as it came since 2.0.2, members nobody here knows included.
            "account": wish.account?.whole ?? .null,
            "authority": .string(authority(wish.authority, realm: wish.account?.realm)),
            "authorizationType": .integer(type.rawValue), "clientId": .string(wish.clientID),
            "redirectUri": .string(redirectURI), "requestedScopes": JSONValue(strings: wish.scopes),
            "username": .string(wish.account?.username ?? wish.username),
            "additionalQueryParametersForAuthorization": .object(wish.query.mapValues(JSONValue.string)),
            "uxContextHandle": -1,
        ]
        // JSON in a text, not base64 of it.
        parameters["decodedClaims"] = wish.claims.map(JSONValue.string)
        parameters["prompt"] = wish.prompt.map(JSONValue.string)
        return ["authParameters": .object(parameters)]
    }

    /// `getLinuxBrokerVersion`.
    static func version(of program: String) -> JSONValue { ["msalCppVersion": .string(program)] }

    /// `cancelInteractiveFlow`: the person wants no more.
    static func cancellation(context: String) -> JSONValue {
        [
            "error": [
                "context": .string(context), "diagnostics": .null, "errorCode": 0, "status": 7, "subStatus": 0,
                "tag": 0,
            ]
        ]
    }

    /// The authority that is asked for an account: for one that is anybody's, the tenant where the account is.
    static func authority(_ url: String, realm: String?) -> String {
        guard let realm, let authority = try? Authority(url, as: .aad), authority.audience != .identifier,
            realm.utf8.allSatisfy({ $0.isRealmByte }), !realm.isEmpty
        else { return url }
        return "https://\(authority.environment)/\(realm)"
    }
}

extension UInt8 {
    /// Whether a realm's id or domain may have it.
    fileprivate var isRealmByte: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
