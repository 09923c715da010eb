import JSON
import PluginHost
import PluginWire
import Secrets
import SessionBus
import TestSupport
import Testing
import Vectors

@testable import EntraBroker

/// The cases in `broker.json` for the broker.
@Suite struct BrokerVectorsTests {
    /// The categories that this suite runs.
    private static let own: Set = [
        "broker-accounts", "broker-error", "broker-request", "broker-token", "broker-transport", "broker-use",
    ]
    /// The categories that other suites run.
    private static let others: Set = [
        "az-reply", "az-request", "azd-endpoint", "azd-reply", "azd-request", "cache-item", "cache-lock",
        "cache-sign-in",
        "cache-write", "default-chain", "identity-endpoint",
    ]

    @Test func `each case is of a category that a suite runs, or is left out`() {
        #expect(BrokerVectors.followed.count == 136)
        for vector in BrokerVectors.followed where !Self.own.union(Self.others).contains(vector.category) {
            let isLeftOut =
                BrokerVectors.leftOut.contains("\(vector.category)/*") || BrokerVectors.leftOut.contains(vector.id)
            #expect(isLeftOut, "\(vector.id)")
        }
    }

    @Test func `what is left out is there`() {
        let known = Set(BrokerVectors.followed.flatMap { [$0.id, "\($0.category)/*"] })
        #expect(BrokerVectors.leftOut.isSubset(of: known))
        for category in Self.own.union(Self.others) {
            #expect(!BrokerVectors.followed(category).isEmpty, "\(category)")
        }
    }

    // MARK: Requests

    @Test(arguments: BrokerVectors.followed("broker-request"))
    func `the broker is asked as Microsoft's runtime asks it`(_ vector: VectorCase) throws {
        let request = Self.request(vector)
        for (name, value) in vector.expect {
            switch name {
            case "request": #expect(request == value)
            case "authParameters", "error": Self.check(request[name], has: value)
            case "request_members": #expect(request.members?.keys.sorted() == value.elements.compactMap(\.string))
            // A new ID; BrokerServiceTests compares it.
            case "correlation": #expect(value == "new")
            case "authorizationType":
                // The values in use have the table's names.
                #expect(value["6"] == "interactive")
                #expect(BrokerRequest.AuthorizationType.interactive.rawValue == 6)
                #expect(BrokerRequest.AuthorizationType.silent.rawValue == 1)
            case "calls_not":
                for method in value.elements.compactMap(\.string) {
                    #expect(BrokerService.Method(rawValue: method) == nil, "\(method)")
                }
            default: Issue.record("\(name) is not checked")
            }
        }
    }

    private static func request(_ vector: VectorCase) -> JSONValue {
        let client = vector.text("client_id") ?? "10000000-0000-4000-8000-000000000001"
        var account = vector.input["account"].flatMap(BrokerAccount.init)
        if let realm = vector.input["account_realm"] {
            account = BrokerAccount(["username": "alice@contoso.com", "realm": realm])
        }
        let authority = vector.text("tenant").map { "https://login.microsoftonline.com/\($0)" }
        var request = PluginRequest(.silent)
        request.authority = vector.text("authority") ?? authority ?? "https://login.microsoftonline.com/contoso.com"
        request.clientID = client
        request.scopes = vector.texts("scopes")
        return switch vector.text("method") {
        case "getAccounts": BrokerRequest.accounts(clientID: client)
        case "acquireTokenSilently": BrokerRequest.token(.silent, for: request, account)
        case "acquireTokenInteractively": BrokerRequest.token(.interactive, for: request, account)
        case "getLinuxBrokerVersion": BrokerRequest.version(of: "1")
        case "cancelInteractiveFlow": BrokerRequest.cancellation(context: "")
        default: .null
        }
    }

    private static func check(_ found: JSONValue?, has wanted: JSONValue) {
        for (name, value) in wanted.members ?? [:] { #expect(found?[name] == value, "\(name)") }
    }

    // MARK: Replies

    @Test(arguments: BrokerVectors.followed("broker-accounts"))
    func `accounts are read leniently and kept whole`(_ vector: VectorCase) throws {
        let reply = try BrokerService.read(try #require(vector.input["reply"]).encodedText)
        let accounts = BrokerService.accounts(reply)
        for (name, value) in vector.expect {
            switch name {
            case "usernames": #expect(accounts.map(\.username) == value.elements.compactMap(\.string))
            case "client_info": #expect(accounts.first?.clientInfo == value.string)
            case "host_is_alias": #expect(accounts.first?.environment != "login.microsoftonline.com")
            case "next_request_account":
                let request = BrokerRequest.token(.silent, for: PluginRequest(.silent), accounts.first)
                #expect(request["authParameters"]?["account"] == value)
            default: Issue.record("\(name) is not checked")
            }
        }
    }

    @Test(arguments: BrokerVectors.followed("broker-token"))
    func `a token counts only if it lives and is the account's`(_ vector: VectorCase) throws {
        let now = try #require(vector.input["now"]?.wholeNumber)
        let asked = BrokerAccount([
            "username": "alice@contoso.com", "homeAccountId": .string(vector.text("asked_home_account_id") ?? ""),
        ])
        let token: BrokerToken
        do throws(BrokerError) {
            token = try BrokerToken(
                BrokerService.read(vector.input["reply"]?.encodedText ?? ""), asked: asked, now: now)
        } catch {
            #expect(vector.expected("outcome") == error.outcome.rawValue)
            return
        }
        for (name, value) in vector.expect {
            switch name {
            case "access_token": #expect(token.accessToken == Secret(value.string ?? ""))
            case "expires_on": #expect(token.expiresOn == value.wholeNumber)
            case "expires_on_at_most": #expect(token.expiresOn <= value.wholeNumber ?? 0)
            case "scopes": #expect(token.scopes == value.elements.compactMap(\.string))
            // The parser has no place for one.
            case "refresh_token": #expect(value == .null)
            default: Issue.record("\(name) is not checked")
            }
        }
    }

    @Test(arguments: BrokerVectors.followed("broker-error"))
    func `an error says what there is to do`(_ vector: VectorCase) throws {
        var found: BrokerError?
        if let name = vector.text("dbus_error") {
            found = BrokerError(BusError(.answered, name: name, detail: vector.text("text") ?? ""))
        } else {
            found = #expect(throws: BrokerError.self) {
                try BrokerService.read(vector.input["reply"]?.encodedText ?? "")
            }
        }
        let failure = try #require(found)
        for (name, value) in vector.expect {
            switch name {
            case "outcome": #expect(failure.outcome.rawValue == value.string)
            case "name": #expect(failure.error?.name == value.string)
            case "advice": #expect(failure.pluginError.hint?.hasPrefix(value.string ?? "?") == true)
            case "reason": #expect(value == "scopes" && failure.error?.isAboutScopes == true)
            default: Issue.record("\(name) is not checked")
            }
        }
    }

    // MARK: The bus

    @Test(arguments: BrokerVectors.followed("broker-transport"))
    func `what the bus answers tells a broker that isn't there from one that fails`(_ vector: VectorCase) throws {
        let failure: BrokerError?
        if let name = vector.text("dbus_error") {
            failure = BrokerError(BusError(.answered, name: name))
        } else if let reply = vector.text("reply") {
            failure = #expect(throws: BrokerError.self) { try BrokerService.read(reply) }
        } else {
            // BrokerServiceTests calls a service that must be started, and that doesn't support introspection.
            #expect(vector.expect["call_anyway"] == true || vector.expect["usable"] == true)
            return
        }
        #expect(failure?.outcome.rawValue == vector.expected("outcome"))
    }

    @Test(arguments: BrokerVectors.followed("broker-use"))
    func `only authorities that the broker serves are its business`(_ vector: VectorCase) throws {
        let registry = PluginRegistry.discover(environment: [:], executable: Built.lanyard)
        let match = try #require(
            registry.match(authority: vector.text("authority") ?? "", kind: vector.text("kind"), isConfigured: true))
        #expect((registry.broker(for: match)?.name == "entra-broker") == (vector.expect["broker_asked"] == true))
    }
}
