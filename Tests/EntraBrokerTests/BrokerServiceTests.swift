import Addresses
import Claims
import Foundation
import JSON
import PluginKit
import PluginWire
import Secrets
import SessionBus
import TestSupport
import Testing

@testable import EntraBroker

/// The plugin with a real service on a real bus.
@Suite(.timeLimit(.minutes(2)))
struct BrokerServiceTests {
    private static let tenant = "c0c0c0c0-1111-4111-8111-c0c0c0c0c0c0"
    private static let alice = "a11ce000-0000-4000-8000-00000000000a"
    private static let bob = "b0b00000-0000-4000-8000-00000000000b"
    private static let now = 1_800_000_000

    @Test(arguments: IdentityBroker.Mode.allCases)
    func `a token comes without the user, from a broker that has to be started`(
        _ mode: IdentityBroker.Mode
    ) async throws {
        try await Self.with(mode, ["starts_late": 300]) { broker, plugin in
            #expect(broker.starts == 0)
            for _ in 1...2 {
                let result = try await plugin.silent(Self.request(.silent))
                #expect(result.accessToken == Secret("AT"))
                #expect(result.expiresIn == 3600)
                #expect(result.scopes == ["https://graph.microsoft.com/User.Read"])
                #expect(result.refreshToken == nil && result.idToken == nil)
                #expect(result.realm == Self.tenant && result.environment == "login.microsoftonline.com")
                let account = try #require(result.account)
                #expect(account.homeAccountID == "\(Self.alice).\(Self.tenant)")
                #expect(account.username == "alice@contoso.com" && account.kind == "work or school")
                #expect(account.homeRealms == [Self.tenant, "contoso.com"])
            }
            #expect(broker.starts == 1)
            #expect(broker.methods == ["getAccounts", "acquireTokenSilently", "getAccounts", "acquireTokenSilently"])
            Self.expectRightCalls(broker)
            // Unknown members of an account are sent back to the broker.
            #expect((broker.calls[1].explicit["account"] as? [String: Any])?["somethingNew"] as? [Int] == [1])
            #expect(
                broker.calls[1].explicit["authority"] as? String == "https://login.microsoftonline.com/\(Self.tenant)")
        }
    }

    @Test func `claims go to the broker as they are`() async throws {
        try await Self.with(.intune3) { broker, plugin in
            var request = Self.request(.silent)
            request.claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            _ = try await plugin.silent(request)
            #expect(broker.calls.last?.explicit["decodedClaims"] as? String == request.claims)
            Self.expectRightCalls(broker)
        }
    }

    @Test func `a token is found again by the scopes that it was asked for with`() async throws {
        try await Self.with(.intune3) { _, plugin in
            var request = Self.request(.silent)
            request.scopes = ["https://graph.microsoft.com/.default", "api://other/.default"]
            let result = try await plugin.silent(request)
            #expect(result.scopes == ["https://graph.microsoft.com/User.Read", "https://graph.microsoft.com/.default"])
        }
    }

    // MARK: Whose token

    @Test func `the account that is asked for is the one that the broker is asked for`() async throws {
        try await Self.with(.intune3, ["accounts": [Self.account("bob", Self.bob), Self.account("alice", Self.alice)]])
        {
            broker, plugin in
            var request = Self.request(.silent)
            request.account = "\(Self.alice).\(Self.tenant)".uppercased()
            let first = try await plugin.silent(request)
            #expect(first.account?.username == "alice@contoso.com")
            request.account = nil
            request.signIn.loginHint = "Alice@Contoso.com"
            let second = try await plugin.silent(request)
            #expect(second.account?.username == "alice@contoso.com")
            Self.expectRightCalls(broker)
            // The service returns Alice's token, whatever account is requested.
            request.signIn.loginHint = "bob@contoso.com"
            let error = await #expect(throws: PluginError.self) { try await plugin.silent(request) }
            #expect(error?.message == "the broker returned a token for another account")
            request.signIn.loginHint = "carol@contoso.com"
            let strange = await #expect(throws: PluginError.self) { try await plugin.silent(request) }
            #expect(strange?.code == .unsupported)
            #expect(broker.methods.last == "getAccounts")
            request.signIn.loginHint = nil
            let several = await #expect(throws: PluginError.self) { try await plugin.silent(request) }
            #expect(several?.code == .interactionRequired)
            #expect(broker.methods.last == "getAccounts")
        }
    }

    @Test func `a broker isn't asked for claims that Entra doesn't know`() async throws {
        try await Self.with(.intune3) { broker, plugin in
            var request = Self.request(.silent)
            request.claims = #"{"userinfo":{"email":null}}"#
            let error = await #expect(throws: PluginError.self) { try await plugin.silent(request) }
            #expect(error?.code == .unsupported && broker.methods.isEmpty)
            request.claims = #"{"id_token":{"email":null}}"#
            let result = try await plugin.silent(request)
            #expect(result.account?.username == "alice@contoso.com")
        }
    }

    private static let otherTenant = "d0d0d0d0-2222-4222-8222-d0d0d0d0d0d0"

    @Test(arguments: [
        ("preferred_username", "alice@contoso.com", "organizations", true),
        ("preferred_username", "Alice@Contoso.com", tenant, true), ("upn", "alice@contoso.com", "contoso.com", true),
        ("preferred_username", "mallory@contoso.com", "organizations", false),
        ("upn", "mallory@contoso.com", tenant, false), ("tid", otherTenant, "organizations", false),
        ("tid", otherTenant, tenant, false), ("tid", tenant, otherTenant, false), ("tid", tenant, tenant, true),
    ])
    func `what the ID token says has to be what was asked for`(
        _ claim: String, _ value: String, _ realm: String, _ isTaken: Bool
    ) async throws {
        var claims: [String: JSONValue] = ["oid": .string(Self.alice), "tid": .string(Self.tenant)]
        claims[claim] = .string(value)
        let header: JSONValue = ["alg": "none"]
        let parts = [header, .object(claims)].map { Base64URL.encode($0.encoded()) }
        var response = try #require(Self.reply["brokerTokenResponse"] as? [String: any Sendable])
        response["idToken"] = parts.joined(separator: ".") + "."
        // A home account says nothing about the tenant of a token for a guest.
        if claim == "tid" { response["clientInfo"] = nil }
        let reply: [String: any Sendable] = ["brokerTokenResponse": response]
        var account = Self.account("alice", Self.alice)
        if claim == "tid" { account["homeAccountId"] = "" }
        try await Self.with(.intune3, ["reply": reply, "accounts": [account]]) { _, plugin in
            var request = Self.request(.silent)
            request.authority = "https://login.microsoftonline.com/\(realm)"
            do throws(PluginError) {
                let result = try await plugin.silent(request)
                #expect(isTaken && result.accessToken == Secret("AT"))
            } catch {
                #expect(
                    !isTaken && error.message.hasPrefix("the broker returned a token for another"), "\(error.message)")
            }
        }
    }

    @Test func `a broker without an account can't help`() async throws {
        try await Self.with(.intune3, ["accounts": [any Sendable]()]) { broker, plugin in
            let error = await #expect(throws: PluginError.self) { try await plugin.silent(Self.request(.silent)) }
            #expect(error?.code == .unsupported && error?.message == "the broker has no account")
        }
    }

    // MARK: Failures

    struct Failing: Sendable, CustomTestStringConvertible {
        let name: String
        let changes: [String: any Sendable]
        let code: PluginError.Code
        var message: String?
        var testDescription: String { name }
    }

    private static let failing = [
        Failing(
            name: "hangs at once", changes: ["accounts_call": "hang"], code: .unavailable,
            message: "the broker did not answer in time"),
        Failing(
            name: "hangs", changes: ["silent": "hang"], code: .unavailable,
            message: "the broker did not answer in time"),
        Failing(
            name: "dies", changes: ["silent": "die"], code: .unavailable,
            message: "the broker ended without an answer"),
        Failing(
            name: "answers nothing", changes: ["silent": "empty"], code: .unavailable,
            message: "the broker returned no usable answer"),
        Failing(name: "answers nonsense", changes: ["silent": #"{"accounts": ["#], code: .unavailable),
        Failing(
            name: "answers too much", changes: ["silent": ["x": String(repeating: "x", count: 2 << 20)]],
            code: .unavailable),
        Failing(name: "never gets to its object", changes: ["starts_late": 60_000], code: .unavailable),
        Failing(
            name: "wants the user", changes: ["silent": IdentityBroker.error(2, "AADSTS50078: again")],
            code: .interactionRequired),
        Failing(name: "has no network", changes: ["silent": IdentityBroker.error(3, "")], code: .unavailable),
        Failing(
            name: "always says 0", changes: ["silent": IdentityBroker.error(0, "Failed to authenticate user")],
            code: .unsupported
        ),
        Failing(
            name: "is no redirect", changes: ["silent": IdentityBroker.error(9, "AADSTS50011: redirect mismatch")],
            code: .invalidRequest),
        Failing(
            name: "says no over the bus",
            changes: ["silent": ["dbus": "org.freedesktop.DBus.Error.Failed", "text": "No\u{1B}[31m luck"]],
            code: .unsupported),
    ]

    @Test(arguments: failing)
    func `no failure takes longer than the host waits`(_ given: Failing) async throws {
        try await Self.with(.intune3, given.changes) { broker, plugin in
            // Starting Python takes a while.
            _ = try? await plugin.probe(Self.request(.probe))
            var request = Self.request(.silent)
            request.timeLimit = 1500
            let start = ContinuousClock.now
            let error = await #expect(throws: PluginError.self) { try await plugin.silent(request) }
            // With other tests running, each wait takes longer; without a limit, none would end.
            #expect(ContinuousClock.now - start < .seconds(30))
            #expect(error?.code == given.code, "\(error?.message ?? "")")
            if let message = given.message { #expect(error?.message == message) }
            #expect(error?.message.utf8.contains(0x1B) == false)
        }
    }

    @Test func `a bus without a broker, and no bus, are answered at once`() async throws {
        try await KeyringFixture.with(.noProvider) { keyring in
            let missing = "unix:path=\(keyring.scratch.path)/nothing"
            let tcp = "tcp:host=127.0.0.1,port=1"
            let addresses = [keyring.environment["DBUS_SESSION_BUS_ADDRESS"], missing, tcp, "autolaunch:", "", nil]
            for address in addresses {
                let plugin = EntraBrokerPlugin(bus: address) { Self.now }
                let start = ContinuousClock.now
                let error = await #expect(throws: PluginError.self) { try await plugin.silent(Self.request(.silent)) }
                #expect(error?.code == .unsupported, "\(address ?? "nil"): \(error?.message ?? "")")
                #expect(ContinuousClock.now - start < .seconds(5))
            }
        }
    }

    @Test func `a service that can't be started is absent`() async throws {
        try await Self.with(.intune3) { broker, plugin in
            try broker.spoil()
            let error = await #expect(throws: PluginError.self) { try await plugin.silent(Self.request(.silent)) }
            #expect(
                error?.code == .unsupported && error?.message == "the broker could not be started",
                "\(error?.message ?? "")")
        }
    }

    @Test(arguments: [
        "https://adfs.contoso.com/adfs", "https://contosob2c.b2clogin.com/tfp/contosob2c.onmicrosoft.com/B2C_1_susi",
        "https://login.microsoftonline.com/consumers",
    ])
    func `an authority that isn't the broker's is refused before it is asked`(_ authority: String) async throws {
        try await Self.with(.intune3) { broker, plugin in
            var request = Self.request(.silent)
            request.authority = authority
            let error = await #expect(throws: PluginError.self) { try await plugin.silent(request) }
            #expect(error?.code == .unsupported)
            #expect(broker.starts == 0)
        }
    }

    // MARK: The user

    @Test(arguments: [IdentityBroker.Mode.intune2, .intune3])
    func `the broker asks the user in its own window`(_ mode: IdentityBroker.Mode) async throws {
        try await Self.with(mode) { broker, plugin in
            let user = Watcher(.done)
            let result = try await plugin.authorize(Self.request(.authorize), user)
            #expect(result.account?.username == "alice@contoso.com" && result.refreshToken == nil)
            #expect(await user.events == [.openWindow(program: "the machine's identity broker")])
            #expect(broker.methods == ["getAccounts", "acquireTokenInteractively"])
            Self.expectRightCalls(broker)
            // No account is passed, so that the user can choose another one.
            var request = Self.request(.authorize)
            request.signIn.prompt = "select_account"
            request.signIn.queryParameters = ["domain_hint": "contoso.com"]
            _ = try await plugin.authorize(request, user)
            let explicit = try #require(broker.calls.last?.explicit)
            #expect(explicit["account"] is NSNull && explicit["username"] as? String == "")
            #expect(
                explicit["additionalQueryParametersForAuthorization"] as? [String: String] == [
                    "domain_hint": "contoso.com"
                ]
            )
            Self.expectRightCalls(broker)
        }
    }

    @Test func `a user who can't see the window isn't waited for, nor one who says no`() async throws {
        try await Self.with(.intune3) { broker, plugin in
            for (reply, code) in [(PluginReply.unsupported, PluginError.Code.unsupported), (.cancelled, .cancelled)] {
                let error = await #expect(throws: PluginError.self) {
                    try await plugin.authorize(Self.request(.authorize), Watcher(reply))
                }
                #expect(error?.code == code)
            }
            #expect(!broker.methods.contains("acquireTokenInteractively"))
            try broker.set(["interactive": IdentityBroker.error(7, "")])
            let error = await #expect(throws: PluginError.self) {
                try await plugin.authorize(Self.request(.authorize), Watcher(.done))
            }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `himmelblau without a display, and a token of somebody else, are no sign-in`() async throws {
        try await Self.with(.himmelblau) { broker, plugin in
            let error = await #expect(throws: PluginError.self) {
                try await plugin.authorize(Self.request(.authorize), Watcher(.done))
            }
            #expect(error?.code == .unsupported)
            try broker.set(["interactive": "token"])
            var request = Self.request(.authorize)
            request.account = "\(Self.bob).\(Self.tenant)"
            let other = await #expect(throws: PluginError.self) { try await plugin.authorize(request, Watcher(.done)) }
            #expect(other?.message == "the broker returned a token for another account")
        }
    }

    @Test func `a window that nobody waits for any more is closed`() async throws {
        try await Self.with(.intune3, ["interactive": "hang"]) { broker, plugin in
            let waiting = Task { try await plugin.authorize(Self.request(.authorize), Watcher(.done)) }
            while !broker.methods.contains("acquireTokenInteractively") { try await Task.sleep(for: .milliseconds(20)) }
            waiting.cancel()
            let error = await #expect(throws: PluginError.self) { try await waiting.value }
            #expect(error?.code == .cancelled)
            let calls = broker.calls.suffix(2)
            #expect(calls.map(\.method) == ["acquireTokenInteractively", "cancelInteractiveFlow"])
            #expect(Set(calls.map(\.correlation)).count == 2)
            Self.expectRightCalls(broker)
        }
    }

    @Test(arguments: IdentityBroker.Mode.allCases)
    func `a probe names the version and the accounts`(_ mode: IdentityBroker.Mode) async throws {
        try await Self.with(mode) { broker, plugin in
            let versions: [IdentityBroker.Mode: String] = [
                .intune2: "2.5.2", .intune3: "3.0.1", .himmelblau: "0.0.0",
            ]
            let probe = try await plugin.probe(Self.request(.probe))
            #expect(probe.summary == "version \(versions[mode] ?? ""), 1 account")
            #expect(probe.accounts == ["alice@contoso.com"])
            Self.expectRightCalls(broker)
            try broker.set(["version_call": ["dbus": "org.freedesktop.DBus.Error.UnknownMethod"]])
            let shorter = try await plugin.probe(Self.request(.probe)).summary
            #expect(shorter == "1 account")
        }
    }

    // MARK: Surroundings

    private static func with(
        _ mode: IdentityBroker.Mode, _ changes: [String: any Sendable] = [:],
        _ body: @Sendable (IdentityBroker, EntraBrokerPlugin) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(.noKeyring) { keyring in
            let state: [String: any Sendable] = ["accounts": [account("alice", alice)], "reply": reply]
            let broker = try await IdentityBroker(on: keyring, as: mode, state.merging(changes) { $1 })
            let plugin = EntraBrokerPlugin(bus: keyring.environment["DBUS_SESSION_BUS_ADDRESS"]) { now }
            try await body(broker, plugin)
        }
    }

    private static func request(_ operation: PluginRequest.Operation) -> PluginRequest {
        var request = PluginRequest(operation)
        request.authority = "https://login.microsoftonline.com/organizations"
        request.clientID = "10000000-0000-4000-8000-000000000001"
        request.scopes = ["https://graph.microsoft.com/User.Read"]
        request.correlationID = "0d6f2f6e-7a3c-4c3d-9d57-0b8f3f6a3a11"
        if operation == .authorize { request.flows = [.broker] }
        return request
    }

    private static func account(_ name: String, _ id: String) -> [String: any Sendable] {
        IdentityBroker.account("\(name)@contoso.com", id: id, tenant: tenant)
    }

    private static var reply: [String: any Sendable] {
        let info = JSONValue.object(["uid": .string(alice), "utid": .string(tenant)]).encodedText
        let response: [String: any Sendable] = [
            "accessToken": "AT", "accessTokenType": 0,
            "clientInfo": Data(info.utf8).base64EncodedString().replacing("=", with: ""),
            "expiresOn": (now + 3600) * 1000, "extendedExpiresOn": (now + 7200) * 1000,
            "grantedScopes": "https://graph.microsoft.com/User.Read", "refreshToken": "",
        ]
        return ["brokerTokenResponse": response]
    }

    private static func expectRightCalls(_ broker: IdentityBroker) {
        for call in broker.calls { #expect(call.wrong == nil, "\(call.method): \(call.wrong ?? "")") }
    }
}

/// A user who gives the same answer to everything.
private actor Watcher: Conversation {
    private(set) var events: [PluginEvent] = []
    private let reply: PluginReply

    init(_ reply: PluginReply) {
        self.reply = reply
    }

    func ask(_ event: PluginEvent) async -> PluginReply {
        events.append(event)
        return reply
    }

    func progress(_ message: String) async {}
}
