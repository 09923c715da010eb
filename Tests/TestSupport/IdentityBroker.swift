import Foundation

/// A service on a test's bus that behaves like the brokers for Microsoft Entra ID and validates its requests strictly.
///
/// The bus starts it on the first call.
package struct IdentityBroker: Sendable {
    /// The broker to imitate.
    package enum Mode: String, Sendable, CaseIterable {
        /// Microsoft's 2.x, since 2.0.2.
        case intune2
        /// Microsoft's 3.x.
        case intune3
        /// himmelblau.
        case himmelblau
    }

    /// A received call.
    package struct Call: Sendable {
        /// The method.
        package let method: String
        /// The request's JSON.
        package let request: [String: any Sendable]
        /// The correlation ID.
        package let correlation: String
        /// What is wrong with the call; nil if it is valid.
        package let wrong: String?

        /// The parameters of a request for a token.
        package var explicit: [String: any Sendable] { request["authParameters"] as? [String: any Sendable] ?? [:] }
    }

    /// The name on the bus.
    package static let name = "com.microsoft.identity.broker1"
    /// Returns an account in the brokers' format.
    package static func account(
        _ username: String, id: String, tenant: String, info: String? = nil
    ) -> [String: any Sendable] {
        var account: [String: any Sendable] = [
            "username": username, "name": "Alice Example", "givenName": "Alice", "homeAccountId": "\(id).\(tenant)",
            "localAccountId": id, "realm": tenant, "environment": "login.microsoftonline.com", "passwordExpiry": 0,
            "somethingNew": [1],
        ]
        account["clientInfo"] = info
        return account
    }

    private let folder: String

    /// Registers the service with a keyring's bus, without starting it.
    package init(on keyring: KeyringFixture, as mode: Mode, _ state: [String: any Sendable]) async throws {
        folder = keyring.scratch.path + "/broker"
        let services = keyring.scratch.path + "/data/dbus-1/services"
        for path in [folder, services] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try set(state.merging(["mode": mode.rawValue]) { $1 })
        try """
        [D-BUS Service]
        Name=\(Self.name)
        Exec="\(Built.checkout)/Tests/TestSupport/Scripts/identity-broker" \(folder)
        """.write(toFile: "\(services)/\(Self.name).service", atomically: true, encoding: .utf8)
        _ = try await keyring.run(
            "dbus-send",
            [
                "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.ReloadConfig",
            ])
    }

    /// Starts the service, so that it answers quickly.
    package func wake(on keyring: KeyringFixture) async throws {
        _ = try await keyring.run(
            "dbus-send",
            [
                "--session", "--print-reply", "--dest=" + Self.name, "/com/microsoft/identity/broker1",
                "org.freedesktop.DBus.Peer.Ping",
            ])
    }

    /// Changes the service's state for all later calls.
    package func set(_ changes: [String: any Sendable]) throws {
        try change { $0.merge(changes) { $1 } }
    }

    /// Changes the service's state for all later calls, based on the current one.
    package func change(_ body: (inout [String: any Sendable]) -> Void) throws {
        let path = folder + "/state.json"
        var state = (try? Self.object(Data(contentsOf: URL(filePath: path)))) ?? [:]
        body(&state)
        try JSONSerialization.data(withJSONObject: state).write(to: URL(filePath: path), options: .atomic)
    }

    /// The calls so far.
    package var calls: [Call] {
        let text = (try? String(contentsOfFile: folder + "/calls.jsonl", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            guard let call = try? Self.object(Data(line.utf8)) else { return nil }
            return Call(
                method: call["method"] as? String ?? "", request: call["request"] as? [String: any Sendable] ?? [:],
                correlation: call["correlation"] as? String ?? "", wrong: call["wrong"] as? String)
        }
    }

    /// The methods called so far.
    package var methods: [String] { calls.map(\.method) }

    /// Clears the list of calls.
    package func clearCalls() { try? FileManager.default.removeItem(atPath: folder + "/calls.jsonl") }

    /// Makes the service exit as soon as it is started.
    package func spoil() throws { try "".write(toFile: folder + "/state.json", atomically: true, encoding: .utf8) }

    /// How often the service was started.
    package var starts: Int {
        ((try? String(contentsOfFile: folder + "/started", encoding: .utf8)) ?? "").split(separator: "\n").count
    }

    private static func object(_ data: Data) throws -> [String: any Sendable] {
        let value = try JSONSerialization.jsonObject(with: data)
        return value as? [String: any Sendable] ?? [:]
    }
}
