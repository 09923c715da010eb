import Foundation

extension World {
    /// Runs the body while a proxy leads to the sandbox's repositories, whatever host is asked for, so that programs reach them by
    /// the names of AWS's and Google's.
    ///
    /// The body gets the variables that programs need for that.
    package func withDetour(_ body: ([String: String]) async throws -> Void) async throws {
        let script = Built.checkout + "/Tests/TestSupport/Scripts/detour"
        let target = sandbox.exchanges.split(separator: ":").last.map(String.init) ?? ""
        _ = try await TestSupport.with(
            "/usr/bin/python3", [script, folder, target], environment: ["PATH": Programs.folder]
        ) {
            let proxy = "http://127.0.0.1:\(try await port(in: folder + "/detour-port"))"
            var variables = [
                "HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": "localhost,127.0.0.1",
                "no_proxy": "localhost,127.0.0.1",
            ]
            for name in ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NPM_CONFIG_CAFILE", "CURL_CA_BUNDLE"] {
                variables[name] = sandbox.caFile
            }
            try await body(variables)
        }
    }

    /// Builds the backend for Python's keyring library, which runs the lanyard on `PATH`, and returns its wheel, which Python can
    /// import as it is.
    package func keyringBackend() async throws -> String {
        let folder = folder + "/wheels"
        let built = try await tool(
            Clients.program("pip"),
            [
                "wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", folder,
                Built.checkout + "/python/keyring-lanyard",
            ], ["PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1"])
        let wheels = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".whl") }
        guard let wheel = wheels.first else { throw WorldError.server("\(built)") }
        return "\(folder)/\(wheel)"
    }
}
