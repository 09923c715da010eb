import AuthorityFixture
import Foundation
import JSON
import TestSupport
import Testing

/// Managed identities of machines in Azure, with the real plugin.
@Suite struct ManagedIdentityTests {
    static func variables(_ world: World, _ platform: String) throws -> [String: String] {
        try #require(world.sandbox.machine.platforms[platform])
    }

    /// Runs a program in a namespace where the sandbox's keys are at the path that the agent of Azure Arc uses.
    static func onArc(
        _ world: World, _ program: String, _ arguments: [String], _ extra: [String: String], input: String = ""
    ) async throws -> Ended {
        let place = "/var/opt/azcmagent/tokens"
        let script = "mount -t tmpfs none /var/opt && mkdir -p \(place) && mount --bind \"$0\" \(place) && exec \"$@\""
        return try await world.runInside(
            "/usr/bin/unshare",
            Namespaces.asRoot + ["--mount", "sh", "-c", script, world.sandbox.machine.arcKeys, program] + arguments,
            input: input, environment: world.environment.merging(extra) { $1 })
    }

    /// Runs `lanyard get` with an identity, on a machine of the platform.
    static func get(_ world: World, on platform: String, as name: String) async throws -> Ended {
        let input = "url=\(world.sandbox.resource)/contoso\nidentity=\(name)\n"
        let extra = try variables(world, platform)
        guard platform == "azure-arc" else { return try await world.lanyard(["get"], extra, input: input) }
        return try await onArc(world, "\(world.folder)/bin/lanyard", ["get"], extra, input: input)
    }

    @Test(arguments: ["imds", "app-service"])
    func `git clones as a machine, and as an identity that was assigned to it`(_ platform: String) async throws {
        try await World.with(ownKernelKeys: true) { world in
            let variables = try Self.variables(world, platform)
            for (name, who) in [("machine", "lanyard sandbox machine"), ("deployment", "lanyard sandbox deployment")] {
                let cloned = try await world.git(
                    ["clone", "--quiet", "\(world.sandbox.resource)/contoso/hello.git", name],
                    variables.merging(["LANYARD_IDENTITY": name]) { $1 })
                #expect(cloned.status == 0, "\(cloned)")
                let requests = try await world.sandbox.requests()
                #expect(requests.contains { $0.host == "resource" && $0.user == who }, "\(requests)")
                #expect(requests.allSatisfy { $0.host != "authority" })
            }
            // Variables that describe no other identity describe the machine's.
            let checked = try await world.lanyard(
                ["identity", "check", "environment", "\(world.sandbox.resource)/contoso"], variables)
            #expect(checked.status == 0, "\(checked)")
            for row in [
                "name       lanyard sandbox machine", "resource   /subscriptions/", "object ID  ", "tenant     ",
            ] {
                #expect(checked.output.contains("\n" + row), "\(checked)")
            }
        }
    }

    @Test(.enabled(if: Namespaces.areAvailable, "this user may make no namespaces"))
    func `a machine of Azure Arc's proves itself by the agent's file`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            for name in ["machine", "deployment"] {
                try await world.sandbox.clearLog()
                let got = try await Self.get(world, on: "azure-arc", as: name)
                #expect(got.status == 0 && got.output.contains("\npassword=ey"), "\(got)")
                #expect(try await world.sandbox.machineRequests().map(\.status) == [401, 200])
            }
            // Without the file, there is no token.
            try world.configure(
                after: "[[identity]]\nname = \"other\"\nmanaged = \"object-id:\(world.sandbox.machine.objectID)\"\n")
            let lost = try await world.get(
                "contoso", try Self.variables(world, "azure-arc"), lines: "identity=other\n")
            #expect(lost.status == 1 && lost.hasNoCredential && lost.errors.contains("azcmagent show"), "\(lost)")
        }
    }
}

/// lanyard's requests to the machines' platforms, compared with those of the SDK for Python.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools has no SDK"))
struct AzureMachineTests {
    private static let program = """
        import sys
        from azure.identity import ManagedIdentityCredential
        kind, value, scope = sys.argv[1:]
        arguments = {"system": {}, "client-id": {"client_id": value}, "object-id": {"identity_config": {"object_id": value}},
            "resource-id": {"identity_config": {"resource_id": value}}}[kind]
        try:
            print(ManagedIdentityCredential(**arguments).get_token(scope).token)
        except Exception as error:
            print(type(error).__name__, error)
        """

    private static let scope = "api://sandbox-git/.default"

    /// A request without the parts that differ every time.
    private struct Asked: Equatable {
        let method: String
        let path: String
        let query: [String: String]
        let headers: [String: String]
        let status: Int

        init(_ request: Sandbox.Request) {
            (method, path, query, status) = (request.method, request.path, request.query ?? [:], request.status)
            headers = Dictionary(
                uniqueKeysWithValues: (request.headers ?? [:]).map { name, value in
                    // The agent's keys are valid once.
                    (name, name == "Authorization" ? request.authorization ?? "" : value)
                })
        }
    }

    private static func asked(_ world: World) async throws -> [Asked] {
        let requests = try await world.sandbox.machineRequests().map(Asked.init)
        try await world.sandbox.clearLog()
        return requests
    }

    private static func id(_ kind: String, of machine: SandboxDescription.Machine) -> String {
        ["client-id": machine.clientID, "object-id": machine.objectID, "resource-id": machine.resourceID][kind] ?? ""
    }

    @Test(
        arguments: ["imds", "app-service"] + (Namespaces.areAvailable ? ["azure-arc"] : []),
        ["system", "client-id", "object-id", "resource-id"])
    func `lanyard asks a platform as azure-identity does`(_ platform: String, _ kind: String) async throws {
        try await World.with(ownKernelKeys: true) { world in
            let id = Self.id(kind, of: world.sandbox.machine)
            try world.configure(
                after: "[[identity]]\nname = \"asked\"\nmanaged = \"\(kind == "system" ? kind : "\(kind):\(id)")\"\n")
            let variables = try ManagedIdentityTests.variables(world, platform)
            let arguments = ["-c", Self.program, kind, id, Self.scope]
            let given =
                platform == "azure-arc"
                ? try await ManagedIdentityTests.onArc(world, Clients.program("python"), arguments, variables)
                : try await world.tool(Clients.program("python"), arguments, variables)
            #expect(given.output.hasPrefix("ey"), "\(given)")
            let theirs = try await Self.asked(world)
            let got = try await ManagedIdentityTests.get(world, on: platform, as: "asked")
            #expect(got.status == 0, "\(got)")
            let ours = try await Self.asked(world)
            #expect(ours == theirs && ours.count == (platform == "azure-arc" ? 2 : 1))
        }
    }

    // MARK: Platforms that the sandbox isn't

    private static let token: String = {
        let end = Int(Date.now.timeIntervalSince1970) + 3600
        let body =
            #"{"access_token":"eyAT","expires_in":"3600","expires_on":"\#(end)","resource":"r","token_type":"Bearer"}"#
        return "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }()

    /// Returns a request's line, the headers that the platforms check, and its body.
    private static func essence(_ request: String) -> [String] {
        let parts = request.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let target = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        // MSAL for Python can't say that it supports challenges.
        let query = target.dropFirst().flatMap { $0.split(separator: "&") }.filter { $0 != "xms_cc=CP1" }.sorted()
        let headers = lines.dropFirst().filter { line in
            ["metadata:", "secret:", "x-identity-header:"].contains { line.lowercased().hasPrefix($0) }
        }
        // A colon and a slash may be written in two ways there.
        return [words[0], target[0]] + query.map { $0.removingPercentEncoding ?? String($0) }
            + headers.map { $0.lowercased() }.sorted()
            + parts.dropFirst()
    }

    /// Runs both with the same variables, and compares their requests.
    private static func compare(
        _ variables: [String: String], kind: String = "system", id: String = "", _ requests: () -> [String]
    ) async throws {
        try await World.with(ownKernelKeys: true) { world in
            try world.configure(
                after: "[[identity]]\nname = \"asked\"\nmanaged = \"\(kind == "system" ? kind : "\(kind):\(id)")\"\n")
            let given = try await world.tool(
                Clients.program("python"), ["-c", program, kind, id, scope], variables)
            #expect(given.output == "eyAT\n", "\(given)")
            let got = try await world.get("contoso", variables, lines: "identity=asked\n")
            #expect(got.status == 0 && got.value("password") == "eyAT", "\(got)")
        }
        let asked = requests().map(essence)
        #expect(asked.count == 2 && asked.first == asked.last, "\(asked)")
    }

    @Test func `lanyard asks Cloud Shell as azure-identity does`() async throws {
        try await AuthorityFixture.PlainServer.run({ _ in .answer(Self.token) }) { server in
            try await Self.compare(["MSI_ENDPOINT": "\(server.url)/oauth2/token"]) { server.requests }
        }
    }

    @Test func `lanyard asks Azure Machine Learning as azure-identity does`() async throws {
        for (kind, id) in [("system", ""), ("client-id", "de970100-0000-4000-8000-0000000000a7")] {
            try await AuthorityFixture.PlainServer.run({ _ in .answer(Self.token) }) { server in
                let variables = ["MSI_ENDPOINT": "\(server.url)/msi/token", "MSI_SECRET": "a-secret-of-ml"]
                try await Self.compare(variables, kind: kind, id: id) { server.requests }
            }
        }
    }

    @Test func `lanyard asks Service Fabric as azure-identity does`() async throws {
        try await TLSServer.run(.host("localhost"), { _ in .answer(Self.token) }) { server in
            let printed = try await run(
                "/usr/bin/openssl", ["x509", "-in", server.caFile, "-noout", "-fingerprint", "-sha1"], environment: [:])
            let thumbprint = try #require(printed.output.split(separator: "=").last).trimmingCharacters(in: .newlines)
            try await Self.compare([
                "IDENTITY_ENDPOINT": "https://localhost:\(server.port)/metadata/identity/oauth2/token",
                "IDENTITY_HEADER": "a-header-of-fabric", "IDENTITY_SERVER_THUMBPRINT": thumbprint,
            ]) { server.requests }
        }
    }
}
