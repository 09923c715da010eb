import Addresses
import Claims
import FoundationEssentials
import Glibc
import JSON
import MicrosoftIdentity
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets
import SessionBus

/// Tokens of the sign-ins that the machine's identity broker holds for Microsoft Entra ID.
///
/// No refresh token leaves the broker: a token is renewed by asking again.
package struct EntraBrokerPlugin: AuthorityPlugin {
    /// How long the broker has to answer if the host doesn't say.
    private static let usualPatience = Duration.seconds(10)
    /// What the answer takes from the broker to the host.
    private static let margin = Duration.milliseconds(250)
    /// How long a broker may take to be told that the person wants no more.
    private static let farewell = Duration.seconds(1)

    private let bus: String?
    private let now: @Sendable () -> Int

    /// Name, version, protocol versions and flows.
    package var description: PluginDescription {
        PluginDescription(
            name: "entra-broker", version: FirstParty.version, protocols: [PluginProtocol.version], flows: [.broker])
    }

    /// Makes the plugin; `bus` is the session bus's address, `now` gives seconds since 1970.
    package init(
        bus: String? = ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"],
        now: @escaping @Sendable () -> Int = { time(nil) }
    ) {
        self.bus = bus
        self.now = now
    }

    /// Gets a token without the person: of the account that is asked for, or of the broker's only one.
    package func silent(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        let limit = request.timeLimit.map { max(.zero, .milliseconds($0) - Self.margin) } ?? Self.usualPatience
        return try await plainly { () async throws(BrokerFailure) in
            try check(request)
            let course = Course(request)
            let service = try await BrokerService(at: bus, until: ContinuousClock.now + limit)
            guard let account = try course.account(among: await course.accounts(service)) else {
                throw BrokerFailure(.interaction, "the broker has several accounts: one has to be chosen")
            }
            let wish = course.wish(for: account)
            let reply = try await service.call(
                .silently, BrokerRequest.token(.silent, wish), correlationID: course.correlationID)
            return try course.result(BrokerToken(reply, asked: account, now: now()), now: now())
        }
    }

    /// Has the broker ask the person, in a window of its own.
    package func authorize(
        _ request: PluginRequest, _ person: any Conversation
    ) async throws(PluginError) -> PluginResult {
        guard request.flows.isEmpty || request.flows.contains(.broker) else {
            throw PluginError(.unsupported, "the broker can't sign in that way")
        }
        return try await plainly { () async throws(BrokerFailure) in
            try check(request)
            let course = Course(request)
            let service = try await BrokerService(at: bus, until: ContinuousClock.now + Self.usualPatience)
            // With a prompt for it, the person chooses; and who isn't known yet signs in there.
            let known = request.signIn.prompt == "select_account" ? [] : try await course.accounts(service)
            let account = known.isEmpty ? nil : try? course.account(among: known)
            switch await person.ask(.openWindow(program: "the machine's identity broker")) {
            case .done: break
            case .cancelled: throw BrokerFailure(.cancelled, "the sign-in was cancelled")
            default: throw BrokerFailure(.nextWay, "nobody would see the broker's window")
            }
            let reply = try await ask(course, service, account)
            // If nobody is named, whoever the person chooses there is right.
            let asked = course.name == nil ? nil : account
            let token = try BrokerToken(reply, asked: asked, among: known, now: now())
            guard request.account.map({ $0.lowercased() == token.identity.homeAccountID }) ?? true else {
                throw BrokerFailure.otherAccount
            }
            return try course.result(token, now: now())
        }
    }

    /// Waits for the person; if the host goes away, the broker's window has to go, too.
    private func ask(
        _ course: Course, _ service: BrokerService, _ account: BrokerAccount?
    ) async throws(BrokerFailure) -> JSONValue {
        // The host ends a plugin that it needs no more by a signal, and by closing its input, which leaves time for that.
        let before = signal(SIGTERM, SIG_IGN)
        defer { signal(SIGTERM, before) }
        do throws(BrokerFailure) {
            let wish = course.wish(for: account, isInteractive: true)
            return try await service.patient.call(
                .interactively, BrokerRequest.token(.interactive, wish), correlationID: course.correlationID)
        } catch {
            if Task.isCancelled { await Self.cancel(service) }
            throw error
        }
    }

    /// Tells the broker that nobody waits any more, under a correlation id of its own; what it says to that doesn't matter.
    private static func cancel(_ service: BrokerService) async {
        await Task.detached {
            _ = try? await service.bus.call(
                BrokerService.Method.cancel.onBus,
                ["0.0", UUID().uuidString.lowercased(), BrokerRequest.cancellation(context: "cancelled").encodedText],
                within: farewell)
        }.value
    }

    /// Nothing here is renewed by a refresh token.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "the broker keeps its refresh tokens to itself")
    }

    /// Signs nobody out: the account is the machine's.
    package func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {}

    /// Finds out whether there is a broker, which one, and how many accounts it has.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await plainly { () async throws(BrokerFailure) in
            try check(request)
            let course = Course(request)
            let service = try await BrokerService(at: bus, until: ContinuousClock.now + Self.usualPatience)
            let accounts = try await course.accounts(service).count
            // Not every broker knows its version.
            let version = try? await service.version(correlationID: course.correlationID)
            var probe = PluginProbe([.authority])
            let held = accounts == 1 ? "1 account" : "\(accounts) accounts"
            probe.summary = [version.map { "version \($0)" }, held].compactMap(\.self)
                .joined(separator: ", ").displayable(limit: 200)
            return probe
        }
    }

    /// Refuses authorities that brokers know nothing of.
    private func check(_ request: PluginRequest) throws(BrokerFailure) {
        guard let authority = try? Authority(request.authority), authority.kind == .aad,
            authority.audience != .consumers
        else {
            throw BrokerFailure(.nextWay, "the broker signs in to Microsoft Entra ID with work or school accounts only")
        }
        guard request.resources.isEmpty else {
            throw BrokerFailure(.nextWay, "the broker doesn't support resource indicators")
        }
    }

    private func plainly<Value: Sendable>(
        _ body: () async throws(BrokerFailure) -> Value
    ) async throws(PluginError) -> Value {
        do throws(BrokerFailure) { return try await body() } catch { throw error.pluginError }
    }
}

/// One request, as the broker is asked it.
private struct Course: Sendable {
    let request: PluginRequest
    let correlationID: String

    init(_ request: PluginRequest) {
        self.request = request
        correlationID = request.correlationID ?? UUID().uuidString.lowercased()
    }

    /// Who is asked for; nil for whoever the broker has.
    var name: String? { request.account ?? request.signIn.loginHint }

    func accounts(_ service: BrokerService) async throws(BrokerFailure) -> [BrokerAccount] {
        try await service.accounts(clientID: request.clientID, correlationID: correlationID)
    }

    /// The account that is meant: the one that is named, or the only one; nil if several could be.
    ///
    /// - Throws: `nextWay` if the broker doesn't have it, or has none.
    func account(among known: [BrokerAccount]) throws(BrokerFailure) -> BrokerAccount? {
        guard let name else {
            guard !known.isEmpty else { throw BrokerFailure(.nextWay, "the broker has no account") }
            return known.count == 1 ? known[0] : nil
        }
        guard let account = known.first(where: { $0.isNamed(name) }) else {
            throw BrokerFailure(.nextWay, "the broker doesn't have the account \(name.displayable(limit: 100))")
        }
        return account
    }

    func wish(for account: BrokerAccount?, isInteractive: Bool = false) -> BrokerRequest.Wish {
        var wish = BrokerRequest.Wish(
            authority: request.authority, clientID: request.clientID, scopes: request.scopes, claims: request.claims,
            account: account)
        guard isInteractive else { return wish }
        wish.username = request.signIn.loginHint ?? ""
        wish.query = request.signIn.queryParameters
        wish.prompt = request.signIn.prompt
        return wish
    }

    /// The broker's token in the plugin protocol's terms.
    func result(_ token: BrokerToken, now: Int) throws(BrokerFailure) -> PluginResult {
        guard let authority = try? Authority(request.authority, as: .aad) else { throw BrokerFailure.absent }
        let identity = token.identity
        let home = identity.homeAccountID.cut(atLast: ".").map { String($0.1) }
        let named = authority.audience == .identifier ? authority.tenant : nil
        guard let realm = identity.realm ?? named ?? home else {
            throw BrokerFailure(.refused, "the broker doesn't say which tenant the token is for")
        }
        var account = PluginAccount(
            homeAccountID: identity.homeAccountID, username: (identity.username ?? "").displayable(limit: 256))
        account.authorityType = "MSSTS"
        account.homeRealms = homeRealms(home, realm, account.username)
        account.kind = home == ClientInfo.personalTenant ? "personal" : "work or school"
        account.name = identity.name?.displayable(limit: 256)
        account.localAccountID = identity.localAccountID
        account.clientInfo = identity.clientInfo
        let granted = token.scopes.isEmpty ? nil : token.scopes.joined(separator: " ")
        return PluginResult(
            accessToken: token.accessToken, expiresIn: token.expiresOn - now,
            scopes: Scopes.granted(granted, requested: request.scopes),
            environment: authority.environment, realm: realm.lowercased(), account: account)
    }

    /// The account's home tenant: by its id and, if these tokens are for it, by its domain.
    private func homeRealms(_ home: String?, _ realm: String, _ username: String) -> [String] {
        guard let home, home.isUUID else { return [] }
        guard home == realm.lowercased(), home != ClientInfo.personalTenant,
            let domain = username.cut(atLast: "@")?.1.lowercased(), !domain.isEmpty
        else { return [home] }
        return [home, domain]
    }
}
