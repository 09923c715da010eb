import Foundation

extension World {
    /// The variables for a missing bus, and therefore no keyring, as in a pipeline.
    package static let noKeyring = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]

    /// Runs the body while this computer has a managed identity, provided as in App Service.
    ///
    /// The identity is the sandbox's application. The body gets the variables that programs need to find it.
    package func withMachineIdentity(_ body: ([String: String]) async throws -> Void) async throws {
        let header = "the-identity-header"
        let script = Built.checkout + "/Tests/TestSupport/Scripts/machine-identity"
        let environment = [
            "PATH": Programs.folder, "CLIENT_ID": sandbox.application.clientID,
            "CLIENT_SECRET": sandbox.application.secret, "CA_FILE": sandbox.caFile, "IDENTITY_HEADER": header,
            "TOKEN_ENDPOINT": "\(sandbox.authority)/contoso.example/oauth2/v2.0/token",
        ]
        _ = try await TestSupport.with("/usr/bin/python3", [script, folder], environment: environment) {
            let number = try await port(in: folder + "/machine-port")
            try await body(["IDENTITY_ENDPOINT": "http://127.0.0.1:\(number)/msi/token", "IDENTITY_HEADER": header])
        }
    }
}
