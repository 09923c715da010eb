import JSON
import PluginWire
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
    init(at address: String?, until deadline: ContinuousClock.Instant) async throws(BrokerFailure) {
        guard let address, !address.isEmpty else { throw BrokerFailure(.absent, "there is no session bus") }
        do throws(BusFailure) {
            bus = try await Bus(at: address, within: ContinuousClock.now.duration(to: deadline))
        } catch {
            throw BrokerFailure(error)
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
    ) async throws(BrokerFailure) -> JSONValue {
        let text = request.encodedText
        let givingUp = ContinuousClock.now + Self.longestStart
        while true {
            let reply: String
            do throws(BusFailure) {
                reply = try await bus.call(
                    method.onBus, [Self.version, correlationID, text],
                    within: deadline.map { ContinuousClock.now.duration(to: $0) })
            } catch {
                let failure = BrokerFailure(error)
                guard failure.outcome == .retrySoon, ContinuousClock.now < deadline ?? givingUp else { throw failure }
                try await Self.rest()
                continue
            }
            return try Self.read(reply)
        }
    }

    private static func rest() async throws(BrokerFailure) {
        do { try await Task.sleep(for: pause) } catch {
            throw BrokerFailure(.cancelled, "the wait for the broker was cancelled")
        }
    }

    /// Parses a reply's text.
    ///
    /// - Throws: `failed` if it isn't an object, or the error in the reply.
    static func read(_ reply: String) throws(BrokerFailure) -> JSONValue {
        guard let json = JSONValue(bytes: reply.utf8, atMost: Bus.longestReply), json.members != nil else {
            throw BrokerFailure(.failed, "the broker returned no usable answer")
        }
        if let error = BrokerError(json) { throw BrokerFailure(error) }
        return json
    }
}

extension BrokerService {
    /// Returns the broker's accounts.
    func accounts(clientID: String, correlationID: String) async throws(BrokerFailure) -> [BrokerAccount] {
        let request = BrokerRequest.accounts(clientID: clientID)
        return Self.accounts(try await call(.accounts, request, correlationID: correlationID))
    }

    /// Returns the accounts in a reply.
    static func accounts(_ reply: JSONValue) -> [BrokerAccount] {
        (reply["accounts"]?.elements ?? []).compactMap(BrokerAccount.init)
    }

    /// Returns the broker's version; nil if it sends none.
    func version(correlationID: String) async throws(BrokerFailure) -> String? {
        let reply = try await call(
            .version, BrokerRequest.version(of: Version.current), correlationID: correlationID)
        return reply["linuxBrokerVersion"]?.filled
    }
}
