import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Synchronization

/// AWS's Security Token Service, as far as it exchanges tokens and keys for temporary keys.
///
/// It accepts tokens for the sandbox's git and the issuer's ID tokens, and knows every role except those named `denied`; `external` wants an ID.
struct SecurityTokenService: Sendable {
    /// Issued keys.
    struct Keys: Sendable {
        let secret: String
        let session: String
        let role: String
        let name: String
        let end: Int64
    }

    /// The prefix of an account's roles, below the service.
    static let roles = "arn:aws:iam::123456789012:role"

    let world: World

    /// Whether a request is for this service.
    static func isMeant(_ visit: Visit) -> Bool {
        visit.method == .post && visit.segments.isEmpty && visit.form["Action"] != nil
    }

    func answer(_ visit: Visit) async throws -> Response {
        if let invalid = invalid(visit) { return invalid }
        switch visit.form["Action"] {
        case "AssumeRoleWithWebIdentity": return try await assumeRoleByToken(visit)
        case "AssumeRole": return assumeRole(visit)
        case "GetCallerIdentity": return callerIdentity(visit)
        default: return refusal("InvalidAction", "Could not find operation", visit, .badRequest)
        }
    }

    private func assumeRoleByToken(_ visit: Visit) async throws -> Response {
        guard let token = visit.form["WebIdentityToken"], let claims = await claims(of: token) else {
            return refusal("InvalidIdentityToken", "Incorrect token audience", visit, .badRequest)
        }
        visit.user = claims["preferred_username"]?.string
        guard let end = claims["exp"]?.integer, end > Date.now.unix else {
            return refusal("ExpiredTokenException", "Token expired", visit, .badRequest)
        }
        guard let role = visit.form["RoleArn"], let name = visit.form["RoleSessionName"], !role.hasSuffix("/denied")
        else {
            let words = "Not authorized to perform sts:AssumeRoleWithWebIdentity"
            return refusal("AccessDenied", words, visit, .forbidden)
        }
        let (identifier, keys) = world.newKeys(role: role, name: name, lifetime: lifetime(visit))
        return answer("AssumeRoleWithWebIdentity", credentials(identifier, keys, visit), visit)
    }

    private func claims(of token: String) async -> Claims? {
        if let claims = await world.idToken(token) { return claims }
        guard let claims = await world.key.verify(token), let audience = claims["aud"]?.string,
            world.directory.resource("api://sandbox-git")?.identifiers.contains(audience) == true
        else { return nil }
        return claims
    }

    private func assumeRole(_ visit: Visit) -> Response {
        do throws(HostError) {
            _ = try Signature.keys(of: visit, for: "sts", in: world)
        } catch {
            return refusal(
                error.error.replacing("InvalidSignatureException", with: "SignatureDoesNotMatch"), error.message, visit,
                .forbidden)
        }
        guard let role = visit.form["RoleArn"], let name = visit.form["RoleSessionName"], !role.hasSuffix("/denied"),
            !role.hasSuffix("/external") || visit.form["ExternalId"] == "shared-with-a-partner"
        else { return refusal("AccessDenied", "Not authorized to perform sts:AssumeRole", visit, .forbidden) }
        let (identifier, keys) = world.newKeys(role: role, name: name, lifetime: lifetime(visit))
        return answer("AssumeRole", credentials(identifier, keys, visit), visit)
    }

    private func lifetime(_ visit: Visit) -> Int64? { visit.form["DurationSeconds"].flatMap { Int64($0) } }

    /// Returns the refusal of a value that AWS takes from nobody; nil if there is none.
    private func invalid(_ visit: Visit) -> Response? {
        func refused(_ member: String, _ constraint: String) -> Response {
            let reason = "Value at '\(member)' failed to satisfy constraint: Member must \(constraint)"
            return refusal("ValidationError", "1 validation error detected: \(reason)", visit, .badRequest)
        }
        let texts = [
            ("RoleSessionName", "roleSessionName", 64, "_+=,.@-"), ("ExternalId", "externalId", 1224, "_+=,.@:/-"),
        ]
        for (name, member, longest, marks) in texts {
            guard let text = visit.form[name] else { continue }
            guard text.utf8.count >= 2 else { return refused(member, "have length greater than or equal to 2") }
            guard text.utf8.count <= longest else {
                return refused(member, "have length less than or equal to \(longest)")
            }
            guard text.utf8.allSatisfy({ $0.isAlphanumeric || marks.utf8.contains($0) }) else {
                return refused(member, "satisfy regular expression pattern")
            }
        }
        guard let text = visit.form["DurationSeconds"] else { return nil }
        guard let seconds = Int64(text), seconds >= 900 else {
            return refused("durationSeconds", "have value greater than or equal to 900")
        }
        guard seconds <= 43_200 else { return refused("durationSeconds", "have value less than or equal to 43200") }
        guard seconds <= 3600 else {
            return refusal("ValidationError", "DurationSeconds exceeds the 1 hour session limit", visit, .badRequest)
        }
        return nil
    }

    private func credentials(_ identifier: String, _ keys: Keys, _ visit: Visit) -> JSONValue {
        let end = Date(timeIntervalSince1970: Double(keys.end)).formatted(.iso8601)
        return [
            "Credentials": [
                "AccessKeyId": .string(identifier), "SecretAccessKey": .string(keys.secret),
                "SessionToken": .string(keys.session),
                "Expiration": wantsJSON(visit) ? .integer(keys.end) : .string(end),
            ]
        ]
    }

    /// Returns the identity that signed a request.
    private func callerIdentity(_ visit: Visit) -> Response {
        let keys: Keys
        do throws(HostError) {
            keys = try Signature.keys(of: visit, for: "sts", in: world)
        } catch {
            return refusal("InvalidClientTokenId", error.message, visit, .forbidden)
        }
        let account = keys.role.split(separator: ":").dropFirst(3).first.map(String.init) ?? ""
        let identity: JSONValue = [
            "Arn": .string("\(keys.role)/\(keys.name)"), "UserId": .string("AROA:\(keys.name)"),
            "Account": .string(account),
        ]
        return answer("GetCallerIdentity", identity, visit)
    }

    // MARK: - Format

    private func wantsJSON(_ visit: Visit) -> Bool { visit.header("Accept")?.contains("json") == true }

    private func answer(_ action: String, _ result: JSONValue, _ visit: Visit) -> Response {
        let members: JSONValue = ["\(action)Response": ["\(action)Result": result]]
        return wantsJSON(visit) ? .json(members) : .xml(members, status: .ok)
    }

    private func refusal(
        _ code: String, _ message: String, _ visit: Visit, _ status: HTTPResponse.Status
    ) -> Response {
        let reason: JSONValue = ["Type": "Sender", "Code": .string(code), "Message": .string(message)]
        return wantsJSON(visit)
            ? .json(["Error": reason], status: status) : .xml(["ErrorResponse": ["Error": reason]], status: status)
    }
}

extension Response {
    /// Returns objects and strings as XML elements.
    fileprivate static func xml(_ value: JSONValue, status: HTTPResponse.Status) -> Response {
        Response(
            status: status, headers: [.contentType: "text/xml"],
            body: .init(byteBuffer: ByteBuffer(string: elements(value))))
    }

    private static func elements(_ value: JSONValue) -> String {
        guard let members = value.members else { return value.string?.htmlEscaped ?? "" }
        return members.sorted { $0.key < $1.key }.map { "<\($0)>\(elements($1))</\($0)>" }.joined()
    }
}

extension World {
    /// Issues keys for a role.
    func newKeys(role: String, name: String, lifetime: Int64? = nil) -> (
        identifier: String, keys: SecurityTokenService.Keys
    ) {
        let identifier = "ASIA" + newIdentifier().uppercased().filter { $0 != "-" }.prefix(16)
        let issued = SecurityTokenService.Keys(
            secret: newSecret(), session: newSecret(bytes: 64), role: role, name: name,
            end: Date.now.unix + (lifetime ?? Int64(settings.keyLifetime)))
        keys.withLock { $0[identifier] = issued }
        return (identifier, issued)
    }
}
