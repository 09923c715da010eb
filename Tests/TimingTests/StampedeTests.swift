import Foundation
import TestSupport
import Testing

/// Many processes that request the same token concurrently cause the authority no more work than one.
@Suite struct StampedeTests {
    private static let many = 64
    private static let path = "common/hello.git"

    @Test func `sixty-four that find an expired token make one token request`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let browser = world.browser(as: "alice@contoso.example")
            #expect(try await world.get(Self.path, browser).status == 0)
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            try await world.sandbox.clearLog()
            let answers = try await Self.atOnce(world)
            #expect(Set(answers.compactMap { $0.value("password") }).count == 1)
            #expect(answers.allSatisfy { $0.status == 0 && $0.value("username") == "alice@contoso.example" })
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count { $0.path.hasSuffix("/token") } == 1, "\(requests)")
        }
    }

    @Test func `sixty-four with nobody signed in open one page`() async throws {
        try await World.with { world in
            let answers = try await Self.atOnce(world, world.browser(as: "alice@contoso.example"))
            #expect(Set(answers.compactMap { $0.value("password") }).count == 1)
            #expect(answers.allSatisfy { $0.status == 0 && $0.value("username") == "alice@contoso.example" })
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count { $0.method == "GET" && $0.path.hasSuffix("/authorize") } == 1, "\(requests)")
            #expect(requests.count(grant: "authorization_code") == 1, "\(requests)")
        }
    }

    @Test func `sixty-four that need a registry's token exchange one`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<Self.many { group.addTask { try await world.docker("get") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 0 }, "\(answers.filter { $0.status != 0 })")
            #expect(Set(answers.map(\.output)).count == 1)
            #expect(try await world.exchanges() == 1)
        }
    }

    @Test func `sixty-four that work as an identity make one token request`() async throws {
        try await World.with { world in
            let answers = try await Self.atOnce(world, ["LANYARD_IDENTITY": "pipeline"])
            #expect(answers.allSatisfy { $0.status == 0 }, "\(answers.filter { $0.status != 0 })")
            #expect(Set(answers.compactMap { $0.value("password") }).count == 1)
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count(grant: "client_credentials") == 1, "\(requests)")
        }
    }

    @Test func `sixty-four clones of a workload make one token request, without a keyring`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let application = world.sandbox.application
            let environment = [
                "LANYARD_IDENTITY": "workload", "ACTIONS_ID_TOKEN_REQUEST_URL": application.requestURL,
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": application.requestToken,
            ].merging(World.noKeyring) { $1 }
            try world.configure(
                after: """
                    [[identity]]
                    name = "workload"
                    authority = "\(world.sandbox.authority)/contoso.example"
                    client-id = "\(application.clientID)"
                    assertion = "github-actions"
                    """)
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let clones = try await withThrowingTaskGroup(of: Ended.self) { group in
                for number in 0..<Self.many {
                    group.addTask {
                        try await world.runInside(
                            "/usr/bin/git", ["clone", "--quiet", url, "\(number)"],
                            environment: world.environment.merging(environment) { $1 }, timeout: .seconds(300))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(clones.allSatisfy { $0.status == 0 && $0.errors.isEmpty }, "\(clones.filter { $0.status != 0 })")
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count(grant: "client_credentials") == 1, "\(requests)")
            #expect(requests.count { $0.path.hasPrefix("/_actions/") } == 1, "\(requests)")
        }
    }

    @Test(arguments: ["pipeline", "machine"])
    func `sixty-four that need a registry's token as an identity exchange one, without a keyring`(
        _ identity: String
    ) async throws {
        try await World.with(ownKernelKeys: true) { world in
            try world.link("docker-credential-lanyard")
            try world.configure(
                after: """
                    [[rule]]
                    url = "\(world.sandbox.exchanges)"
                    authority = "\(world.sandbox.authority)/contoso.example"
                    exchange = "acr"
                    identity = "\(identity)"
                    """)
            try await world.withMachineIdentity { variables in
                let environment = world.environment.merging(World.noKeyring.merging(variables) { $1 }) { $1 }
                let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                    for _ in 0..<Self.many {
                        group.addTask { try await world.docker("get", environment) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.status == 0 }, "\(answers.filter { $0.status != 0 })")
                #expect(Set(answers.map(\.output)).count == 1)
            }
            #expect(try await world.exchanges() == 1)
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count(grant: "client_credentials") == 1, "\(requests)")
        }
    }

    @Test func `where the one that signs in is killed, one of those that waited does`() async throws {
        try await World.with { world in
            // A browser that opens nothing: the first process waits forever.
            let opened = world.folder + "/opened"
            let script = world.folder + "/bin/opens-nothing"
            try "#!/bin/sh\n: >'\(opened)'\n".write(toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
            let others = try await with(
                "\(world.folder)/bin/lanyard", ["token", "\(world.sandbox.resource)/\(Self.path)"],
                environment: world.environment.merging(["BROWSER": script]) { $1 }
            ) {
                let end = ContinuousClock.now + .seconds(60)
                while !FileManager.default.fileExists(atPath: opened), ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(20))
                }
                try #require(FileManager.default.fileExists(atPath: opened))
                let others = Task { try await Self.atOnce(world, world.browser(as: "alice@contoso.example"), count: 8) }
                try await Task.sleep(for: .seconds(1))
                #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 0)
                return others
            }.result
            let answers = try await others.value
            #expect(answers.allSatisfy { $0.status == 0 && $0.value("password") != nil }, "\(answers)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 1)
        }
    }

    private struct Outage: Sendable {
        let name: String
        let fault: String
        let status: Int32
        let requests: Int
    }

    private static let outages = [
        Outage(name: "503", fault: #"{"path": "/token", "status": 503}"#, status: 1, requests: 2),
        Outage(
            name: "interaction required",
            fault:
                #"{"path": "/token", "status": 400, "delay": 3, "body": "{\"error\":\"invalid_grant\",\"error_codes\":[50076]}"}"#,
            status: 2, requests: 1),
    ]

    /// Runs all outages concurrently, each in its own world, because most of the time is spent waiting.
    @Test func `of many processes that wait one finds out that there is no token`() async throws {
        try await withThrowingTaskGroup { group in
            for outage in Self.outages { group.addTask { try await Self.suffer(outage) } }
            try await group.waitForAll()
        }
    }

    private static func suffer(_ outage: Outage) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 0}"#)
            let first = try await world.get(path, world.browser(as: "alice@contoso.example"))
            try #require(first.status == 0, "\(first)")
            try await world.sandbox.clearLog()
            try await world.sandbox.fault(outage.fault)
            for ended in try await atOnce(world, count: 12) {
                #expect(ended.status == outage.status && ended.hasNoCredential, "\(outage.name): \(ended)")
            }
            // The plugin itself retries once if a server fails.
            #expect(
                try await world.sandbox.authorityRequests().renewals.count == outage.requests, "\(outage.name)")
            try await world.sandbox.clearFaults()
            try await Task.sleep(for: .seconds(3.1))
            // Who needs the user is asked again after a minute, or once the user has signed in.
            if outage.status == 2 {
                #expect(try await world.get(path).status == 2, "\(outage.name)")
                #expect(try await world.sandbox.authorityRequests().renewals.count == outage.requests)
                let browser = world.browser(as: "alice@contoso.example")
                #expect(
                    try await world.lanyard(["login", "\(world.sandbox.resource)/\(path)"], browser).status == 0)
            }
            #expect(try await world.get(path).status == 0, "\(outage.name)")
        }
    }

    private static func atOnce(
        _ world: World, _ environment: [String: String] = [:], count: Int = many
    ) async throws -> [Ended] {
        try await withThrowingTaskGroup(of: Ended.self) { group in
            for _ in 0..<count { group.addTask { try await world.get(path, environment) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
