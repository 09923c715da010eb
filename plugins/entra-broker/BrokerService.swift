import Claims
import JSON
import MicrosoftIdentity
import PluginWire
import Secrets
import SessionBus

/// `com.microsoft.identity.broker1`, which Microsoft's broker and himmelblau provide on the session bus.
///
/// It is called without checking whether it runs, because the bus starts it. Only its methods are used: newer brokers
/// no longer support introspection.
struct BrokerService: Sendable {
    /// A method of the broker; each takes a version, a correlation ID and JSON, and returns JSON.
    enum Method: String, Sendable {
        case accounts = "getAccounts"
        case silently = "acquireTokenSilently"
        case interactively = "acquireTokenInteractively"
        case cancel = "cancelInteractiveFlow"
        case version = "getLinuxBrokerVersion"

        var onBus: BusMethod {
            BusMethod(
                service: "com.microsoft.identity.broker1", path: "/com/microsoft/identity/broker1",
                interface: "com.microsoft.identity.Broker1", name: rawValue)
        }
    }

    /// The protocol version of the calls.
    private static let version = "0.0"
    /// The interval and time limit for calls to a broker that is just starting.
    private static let pause = Duration.milliseconds(100)
    private static let longestStart = Duration.seconds(10)

    let bus: Bus
    /// When the host stops waiting; nil if it waits for the user.
    let deadline: ContinuousClock.Instant?

    /// Connects to the bus at an address.
    init(at address: String?, until deadline: ContinuousClock.Instant) async throws(BrokerError) {
        guard let address, !address.isEmpty else { throw BrokerError(.absent, "there is no session bus") }
        do throws(BusError) {
            bus = try await Bus(at: address, within: ContinuousClock.now.duration(to: deadline))
        } catch {
            throw BrokerError(error)
        }
        self.deadline = deadline
    }

    private init(_ bus: Bus) {
        self.bus = bus
        deadline = nil
    }

    /// The service without a deadline, for requests that involve the user.
    var patient: BrokerService { BrokerService(bus) }

    /// Calls a method and parses its reply, which must be an object.
    func call(
        _ method: Method, _ request: JSONValue, correlationID: String
    ) async throws(BrokerError) -> JSONValue {
        let text = request.encodedText
        let givingUp = ContinuousClock.now + Self.longestStart
        while true {
            let reply: String
            do throws(BusError) {
                reply = try await bus.call(
                    method.onBus, [Self.version, correlationID, text],
                    within: deadline.map { ContinuousClock.now.duration(to: $0) })
            } catch {
                let failure = BrokerError(error)
                guard failure.outcome == .retrySoon, ContinuousClock.now < deadline ?? givingUp else { throw failure }
                try await Self.rest()
                continue
            }
            return try Self.read(reply)
        }
    }

    private static func rest() async throws(BrokerError) {
        do { try await Task.sleep(for: pause) } catch {
            throw BrokerError(.cancelled, "the wait for the broker was cancelled")
        }
    }

    /// Parses a reply's text.
    ///
    /// - Throws: `failed` if it isn't an object, or the error in the reply.
    static func read(_ reply: String) throws(BrokerError) -> JSONValue {
        guard let json = JSONValue(bytes: reply.utf8, atMost: Bus.longestReply), json.members != nil else {
            throw BrokerError(.failed, "the broker returned no usable answer")
        }
        if let error = BrokerErrorReply(json) { throw BrokerError(error) }
        return json
    }
}

extension BrokerService {
    /// Returns the broker's accounts.
    func accounts(clientID: String, correlationID: String) async throws(BrokerError) -> [BrokerAccount] {
        let request = BrokerRequest.accounts(clientID: clientID)
        return Self.accounts(try await call(.accounts, request, correlationID: correlationID))
    }

    /// Returns the accounts in a reply.
    static func accounts(_ reply: JSONValue) -> [BrokerAccount] {
        (reply["accounts"]?.elements ?? []).compactMap(BrokerAccount.init)
    }

    /// Returns the broker's version; nil if it sends none.
    func version(correlationID: String) async throws(BrokerError) -> String? {
        let reply = try await call(
            .version, BrokerRequest.version(of: Version.current), correlationID: correlationID)
        return reply["linuxBrokerVersion"]?.filled
    }
}

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
