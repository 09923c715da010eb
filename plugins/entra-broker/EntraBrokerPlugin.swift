import Addresses
import Claims
import FoundationEssentials
import Glibc
import JSON
import MicrosoftIdentity
package import PluginKit
package import PluginWire
import Secrets
import SessionBus

/// The plugin for tokens of the accounts that are signed in to the machine's broker for Microsoft Entra ID.
///
/// Refresh tokens never leave the broker: a token is renewed by asking the broker again.
package struct EntraBrokerPlugin: AuthorityPlugin {
    /// The time limit for the broker if the host sets none.
    private static let usualPatience = Duration.seconds(10)
    /// The time reserved for passing the answer on to the host.
    private static let margin = Duration.milliseconds(250)
    /// The time limit for telling the broker that the user cancelled.
    private static let farewell = Duration.seconds(1)

    private let bus: String?
    private let now: @Sendable () -> Int

    /// The name, version, protocol versions and flows.
    package var description: PluginDescription {
        PluginDescription(
            name: "entra-broker", version: Version.current, protocols: [PluginProtocol.version], flows: [.broker])
    }

    /// Creates the plugin; `bus` is the session bus's address, `now` returns seconds since 1970.
    package init(
        bus: String? = ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"],
        now: @escaping @Sendable () -> Int = { time(nil) }
    ) {
        self.bus = bus
        self.now = now
    }

    /// Gets a token without the user, for the requested account or the broker's only one.
    package func silent(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        let limit = request.timeLimit.map { max(.zero, .milliseconds($0) - Self.margin) } ?? Self.usualPatience
        return try await plainly { () async throws(BrokerError) in
            try check(request)
            let run = BrokerRun(request)
            let service = try await BrokerService(at: bus, until: ContinuousClock.now + limit)
            guard let account = try run.account(among: await run.accounts(service)) else {
                throw BrokerError(.interaction, "the broker has several accounts: one has to be chosen")
            }
            let reply = try await service.call(
                .silently, BrokerRequest.token(.silent, for: request, account), correlationID: run.correlationID)
            return try run.result(BrokerToken(reply, asked: account, now: now()), asked: account, now: now())
        }
    }

    /// Makes the broker ask the user, in its own window.
    package func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult {
        guard request.flows.isEmpty || request.flows.contains(.broker) else {
            throw PluginError(.unsupported, "the broker can't sign in that way")
        }
        return try await plainly { () async throws(BrokerError) in
            try check(request)
            let run = BrokerRun(request)
            let service = try await BrokerService(at: bus, until: ContinuousClock.now + Self.usualPatience)
            // With a prompt for it, the user chooses an account; a user who isn't known yet signs in there.
            let known = request.signIn.prompt == "select_account" ? [] : try await run.accounts(service)
            let account = known.isEmpty ? nil : try? run.account(among: known)
            switch await user.ask(.openWindow(program: "the machine's identity broker")) {
            case .done: break
            case .cancelled: throw BrokerError(.cancelled, "the sign-in was cancelled")
            default: throw BrokerError(.nextWay, "nobody would see the broker's window")
            }
            let reply = try await ask(run, service, account)
            // If the request names no account, any that the user chooses is right.
            let asked = run.name == nil ? nil : account
            let token = try BrokerToken(reply, asked: asked, among: known, now: now())
            guard request.account.map({ $0.lowercased() == token.identity.homeAccountID }) ?? true else {
                throw BrokerError.otherAccount
            }
            return try run.result(token, asked: asked, now: now())
        }
    }

    /// Waits for the user; if the host disconnects, the broker's window is closed, too.
    private func ask(
        _ run: BrokerRun, _ service: BrokerService, _ account: BrokerAccount?
    ) async throws(BrokerError) -> JSONValue {
        // The host ends a plugin with a signal and by closing its input; ignoring the signal leaves time to close the
        // window.
        let before = signal(SIGTERM, SIG_IGN)
        defer { signal(SIGTERM, before) }
        do throws(ParameterError) { try run.request.signIn.requireUnreserved() } catch {
            throw BrokerError(.nextWay, error.reason)
        }
        do throws(BrokerError) {
            return try await service.patient.call(
                .interactively, BrokerRequest.token(.interactive, for: run.request, account),
                correlationID: run.correlationID)
        } catch {
            if Task.isCancelled { await Self.cancel(service) }
            throw error
        }
    }

    /// Tells the broker that nobody is waiting any longer, with a separate correlation ID; its answer is ignored.
    private static func cancel(_ service: BrokerService) async {
        await Task.detached {
            _ = try? await service.bus.call(
                BrokerService.Method.cancel.onBus,
                ["0.0", UUID().uuidString.lowercased(), BrokerRequest.cancellation(context: "cancelled").encodedText],
                within: farewell)
        }.value
    }

    /// Always fails: lanyard has no refresh token to redeem.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "the broker keeps its refresh tokens to itself")
    }

    /// Does nothing: the account belongs to the machine.
    package func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {}

    /// Checks whether there is a broker, and reports its version and accounts.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await plainly { () async throws(BrokerError) in
            try check(request)
            let run = BrokerRun(request)
            let service = try await BrokerService(at: bus, until: ContinuousClock.now + Self.usualPatience)
            let accounts = try await run.accounts(service)
            // Not every broker supports the version request.
            let version = try? await service.version(correlationID: run.correlationID)
            var probe = PluginProbe([.authority])
            let held = accounts.count == 1 ? "1 account" : "\(accounts.count) accounts"
            let names = accounts.prefix(64).map { $0.username.displayable(limit: 256) }
            probe.accounts = names.filter { !$0.isEmpty }
            probe.summary = [version.map { "version \($0)" }, held].compactMap(\.self)
                .joined(separator: ", ").displayable(limit: 200)
            return probe
        }
    }

    /// Rejects authorities that brokers don't support.
    private func check(_ request: PluginRequest) throws(BrokerError) {
        guard let authority = try? Authority(request.authority), authority.kind == .aad,
            authority.audience != .consumers
        else {
            throw BrokerError(
                .nextWay, "the broker signs in to Microsoft Entra ID with work or school accounts only")
        }
        if let claims = request.claims, (try? ClaimsRequest(claims, targets: ClaimsRequest.entraTargets)) == nil {
            throw BrokerError(.nextWay, "the broker doesn't support these claims")
        }
        guard request.resources.isEmpty else {
            throw BrokerError(.nextWay, "the broker doesn't support resource indicators")
        }
    }

    private func plainly<Value: Sendable>(
        _ body: () async throws(BrokerError) -> Value
    ) async throws(PluginError) -> Value {
        do throws(BrokerError) { return try await body() } catch { throw error.pluginError }
    }
}

/// One request to the broker.
private struct BrokerRun: Sendable {
    let request: PluginRequest
    let correlationID: String

    init(_ request: PluginRequest) {
        self.request = request
        correlationID = request.correlationID ?? UUID().uuidString.lowercased()
    }

    /// The requested account; nil for any that the broker has.
    var name: String? { request.account ?? request.signIn.loginHint }

    func accounts(_ service: BrokerService) async throws(BrokerError) -> [BrokerAccount] {
        try await service.accounts(clientID: request.clientID, correlationID: correlationID)
    }

    /// Returns the requested account, or the only one; nil if there are several candidates.
    ///
    /// - Throws: `nextWay` if the broker doesn't have the account, or has none.
    func account(among known: [BrokerAccount]) throws(BrokerError) -> BrokerAccount? {
        guard let name else {
            guard !known.isEmpty else { throw BrokerError(.nextWay, "the broker has no account") }
            return known.count == 1 ? known[0] : nil
        }
        guard let account = known.first(where: { $0.isNamed(name) }) else {
            throw BrokerError(.nextWay, "the broker doesn't have the account \(name.displayable(limit: 100))")
        }
        return account
    }

    /// Converts the broker's token to a result of the plugin protocol; `asked` is the requested account, nil for any.
    func result(_ token: BrokerToken, asked: BrokerAccount?, now: Int) throws(BrokerError) -> PluginResult {
        guard let authority = try? Authority(request.authority, as: .aad) else { throw BrokerError.absent }
        let identity = token.identity
        let home = identity.homeAccountID.cut(atLast: ".").map { String($0.1) }
        let named = authority.audience == .identifier ? authority.tenant : nil
        // A domain can't be compared with the tenant's ID.
        if let wanted = (named ?? asked?.realm)?.lowercased(), wanted.isUUID, let realm = identity.realm,
            realm != wanted
        {
            throw BrokerError(.refused, "the broker returned a token for another tenant")
        }
        guard let realm = identity.realm ?? named ?? home else {
            throw BrokerError(.refused, "the broker doesn't say which tenant the token is for")
        }
        var account = PluginAccount(
            homeAccountID: identity.homeAccountID, username: (identity.username ?? "").displayable(limit: 256))
        account.setHome(tokensFor: realm, username: identity.username)
        account.name = identity.name?.displayable(limit: 256)
        account.localAccountID = identity.localAccountID
        account.clientInfo = identity.clientInfo
        let granted = token.scopes.isEmpty ? nil : token.scopes.joined(separator: " ")
        return PluginResult(
            accessToken: token.accessToken, expiresIn: token.expiresOn - now,
            scopes: Scopes.granted(granted, requested: request.scopes),
            environment: authority.environment, realm: realm.lowercased(), account: account)
    }
}
