import Foundation

extension World {
    /// The user who is signed in to the broker of ``withBroker(_:_:)``.
    package static let alice = "alice@contoso.example"

    /// Runs the body in a world with a broker for the sandbox's authority, to which Alice is signed in; lanyard has no
    /// account of hers.
    ///
    /// The body also gets the environment in which lanyard finds the broker's plugin.
    package static func withBroker(
        _ mode: IdentityBroker.Mode,
        _ body: @Sendable (World, IdentityBroker, [String: String]) async throws -> Void
    ) async throws {
        try await World.with(.secretService) { world in
            let signedIn = try await world.get("common/hello.git", world.browser(as: alice))
            let exported = try await world.lanyard(["export"]).output
            let signedOut = try await world.lanyard(["logout", "--all", "--forget"])
            guard signedIn.status == 0, signedOut.status == 0,
                let cache = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: Any],
                let account = first("Account", in: cache), let token = first("RefreshToken", in: cache)?["secret"],
                let tenant = account["realm"], let id = account["local_account_id"]
            else { throw BrokerWorldError(description: "\(signedIn)\n\(signedOut)") }
            try await world.sandbox.clearLog()
            let broker = try await IdentityBroker(
                on: world.keyring, as: mode,
                [
                    "accounts": [IdentityBroker.account(alice, id: id, tenant: tenant, info: account["client_info"])],
                    "redeem": [
                        "url": "\(world.sandbox.authority)/\(tenant)/oauth2/v2.0/token", "ca": world.sandbox.caFile,
                        "refresh_token": token, "lifetime": 3600,
                    ] as [String: any Sendable],
                ])
            try await body(world, broker, try world.withBrokersPlugin())
        }
    }

    private static func first(_ section: String, in cache: [String: Any]) -> [String: String]? {
        let records = cache[section] as? [String: [String: Any]]
        return records?.values.first?.compactMapValues { $0 as? String }
    }

    /// Makes the first-party broker plugin serve the sandbox's authority.
    ///
    /// Returns the variables for that. It doesn't start a broker on the bus.
    package func withBrokersPlugin() throws -> [String: String] {
        let manifest = try String(contentsOfFile: Built.checkout + "/plugins/entra-broker/plugin.toml", encoding: .utf8)
        let host = String(sandbox.authority.dropFirst("https://".count))
        let place = folder + "/plugins/entra-broker"
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try manifest.replacing("\"login.windows.net\"", with: "\"\(host)\"")
            .replacing("\"lanyard-authority\"", with: "\"\(Built.folder)/lanyard-authority\"")
            .write(toFile: place + "/plugin.toml", atomically: true, encoding: .utf8)
        return ["LANYARD_PLUGIN_PATH": folder + "/plugins"]
    }
}

extension IdentityBroker {
    /// Makes the broker return tokens with this lifetime from now on.
    package func redeeming(lifetime: Int) throws {
        try change { state in
            var redeem = state["redeem"] as? [String: any Sendable] ?? [:]
            redeem["lifetime"] = lifetime
            state["redeem"] = redeem
        }
    }

    /// Returns an error reply of the broker.
    package static func error(_ status: Int, _ context: String) -> [String: any Sendable] {
        let error: [String: any Sendable] = [
            "context": context, "errorCode": 0, "status": status, "subStatus": 0, "tag": 1,
        ]
        return ["brokerTokenResponse": ["error": error, "subError": ""] as [String: any Sendable]]
    }
}

/// The world couldn't be given a broker.
private struct BrokerWorldError: Error, CustomStringConvertible {
    let description: String
}
