import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// The control API for tests, on the authority's port.
extension World {
    private struct Revocation: Decodable { var username: String? }

    func control(_ visit: Visit) async -> Response {
        let body = visit.body
        guard visit.header("X-Sandbox-Control") == controlToken else {
            return .json(["error": "send the control token of sandbox.json as X-Sandbox-Control"], status: .forbidden)
        }
        do {
            switch (visit.method, visit.path) {
            case (.get, "/_sandbox/log"): return .json(log.all)
            case (.delete, "/_sandbox/log"): log.clear()
            case (.post, "/_sandbox/settings"): try changeSettings(body)
            case (.post, "/_sandbox/revoke"):
                let username = try decode(Revocation.self, body).username
                ledger.revoke(username)
                for host in hosts { host.revoke(username) }
            case (.get, "/_sandbox/faults"): return .json(["held": .integer(Int64(faults.held))])
            case (.post, "/_sandbox/assertion"):
                let changes = JSONValue(bytes: body.utf8)?.members ?? [:]
                return .json(["assertion": .string(try await workloadAssertion(changes))])
            case (.post, "/_sandbox/faults"): faults.plan(try decode(Fault.self, body))
            case (.delete, "/_sandbox/faults"): faults.clear()
            default: return .json(["error": "there is no such control"], status: .notFound)
            }
            return Response(status: .noContent)
        } catch {
            return .json(["error": .string("\(error)")], status: .badRequest)
        }
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ body: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data((body.isEmpty ? "{}" : body).utf8))
    }

    private func changeSettings(_ body: String) throws {
        guard case .object(let members)? = JSONValue(bytes: body.utf8) else { throw SandboxError("send a JSON object") }
        for (name, value) in members {
            guard value == .null || value.integer != nil else { throw SandboxError("\(name) is not a whole number") }
            let number = value.integer.map(Int.init)
            switch (name, number) {
            case ("refresh_in", _): change { $0.refreshIn = number }
            case ("access_token_lifetime", let number?): change { $0.accessTokenLifetime = number }
            case ("device_code_interval", let number?): change { $0.deviceCodeInterval = number }
            case ("device_code_lifetime", let number?): change { $0.deviceCodeLifetime = number }
            case ("single_use_refresh_tokens", let number?): change { $0.hasSingleUseRefreshTokens = number != 0 }
            case ("id_token_at_renewal", let number?): change { $0.sendsIDTokenAtRenewal = number != 0 }
            case ("renewal_ends_access_token", let number?): change { $0.renewalEndsAccessToken = number != 0 }
            case ("registry_token_lifetime", let number?): change { $0.registryTokenLifetime = number }
            case ("key_lifetime", let number?): change { $0.keyLifetime = number }
            case ("machine_token_lifetime", let number?): change { $0.machineTokenLifetime = number }
            case ("expired_secrets", let number?): change { $0.hasExpiredSecrets = number != 0 }
            case ("registration", let number?): change { $0.offersRegistration = number != 0 }
            default: throw SandboxError("there is no setting \(name)")
            }
        }
    }
}
