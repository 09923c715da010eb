import Foundation

/// A cluster's server, which verifies ID tokens of an issuer as kube-apiserver and Vault do.
package struct OIDCCluster: Sendable {
    /// The server's URL.
    package let url: String
    /// The certificate to trust.
    package var caFile: String { folder + "/ca.pem" }
    private let folder: String

    /// Runs the server in a new folder while the body runs; it needs the programs from script/get tools.
    ///
    /// Only tokens for the client are accepted, and only with the group, if one is named.
    package static func serve(
        in folder: String, issuer: String, client: String, caFile: String, group: String = "",
        _ body: @Sendable (OIDCCluster) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try await with(
            Clients.program("python3"),
            ["\(Built.checkout)/Tests/TestSupport/Scripts/oidc-cluster", folder, issuer, client, caFile, group],
            environment: ["PATH": Programs.folder, "HOME": folder, "LANG": "C.UTF-8"]
        ) {
            try await body(
                OIDCCluster(url: "https://localhost:\(try await port(in: folder + "/port"))", folder: folder))
        }
    }

    /// Why tokens were refused so far.
    package var refusals: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }

    /// Has the real kubectl ask who it is, with lanyard's credentials.
    package func whoami(_ environment: [String: String], lanyard: String) async throws -> Ended {
        let file = folder + "/kubeconfig"
        try """
        {"apiVersion": "v1", "kind": "Config", "current-context": "c",
         "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
         "clusters": [{"name": "c", "cluster": {"server": "\(url)", "certificate-authority": "\(caFile)"}}],
         "users": [{"name": "u", "user": {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "\(lanyard)", "args": ["kubectl"],
            "interactiveMode": "IfAvailable", "provideClusterInfo": true}}}]}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        return try await run(
            Clients.program("kubectl"), ["--kubeconfig", file, "get", "--raw", "/whoami"], environment: environment)
    }
}
