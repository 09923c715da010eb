import Addresses
import Crypto
import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import JSON
import Synchronization
import SystemPackage

/// The log of the sandbox's requests, with secrets replaced by short digests.
final class RequestLog: Sendable {
    enum Host: String, Sendable {
        case authority, resource, issuer, registry, forge, gitea, forgejo, exchanges, machine
    }

    private static let mostEntries = 20_000
    private static let secrets: Set<String> = [
        "code", "code_verifier", "refresh_token", "device_code", "client_secret", "client_assertion", "assertion",
        "passwd", "new_passwd", "id_token_hint", "access_token", "token", "ctx",
        "WebIdentityToken", "clientSecret", "codeVerifier", "deviceCode", "refreshToken",
        "subject_token",
    ]

    private let entries = Mutex<[JSONValue]>([])
    private let file: FileDescriptor

    init(file path: String) throws {
        file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .append, .closeOnExec], permissions: [.ownerReadWrite])
    }

    func add(_ visit: Visit, host: Host, status: Int) {
        var entry: [String: JSONValue] = [
            "time": .string(visit.arrived.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
            "method": .string(visit.method.rawValue), "host": .string(host.rawValue), "path": .string(visit.path),
            "query": Self.masked(visit.query), "status": .integer(Int64(status)),
            "form": Self.masked(visit.form.fields.isEmpty ? visit.members : visit.form),
            "grant_type": JSONValue(visit.form["grant_type"]), "user": JSONValue(visit.user),
            "authorization": JSONValue(visit.authorizationScheme),
            "user_agent": JSONValue(visit.request.headers[.userAgent]),
        ]
        if host == .machine { entry["headers"] = Self.proofs(visit) }
        let line = JSONValue.object(entry)
        entries.withLock { entries in
            if entries.count >= Self.mostEntries { entries.removeFirst(Self.mostEntries / 2) }
            entries.append(line)
        }
        // A full disk must not stop the sandbox from answering.
        _ = try? file.writeAll((line.encodedText + "\n").utf8)
    }

    var all: JSONValue { .array(entries.withLock { $0 }) }

    func clear() { entries.withLock { $0 = [] } }

    private static func masked(_ form: Form) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for (name, value) in form.fields {
            members[name] = .string(secrets.contains(name) && !value.isEmpty ? mask(value) : value)
        }
        return .object(members)
    }

    /// The headers that a machine's platform checks.
    private static func proofs(_ visit: Visit) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for name in ["Metadata", "Metadata-Flavor", "X-IDENTITY-HEADER", "Authorization"] {
            guard let value = visit.header(name) else { continue }
            members[name] = .string(name.hasPrefix("Metadata") ? value : mask(value))
        }
        return .object(members)
    }

    /// Returns a digest that distinguishes secrets without revealing them.
    private static func mask(_ secret: String) -> String {
        "masked:" + SHA256.hash(data: Data(secret.utf8)).prefix(4).hexadecimal
    }
}
