import Foundation
import JSON
import TestSupport
import Testing
import Vectors

/// The cases in `machine.json` about when an identity's token is reused, and when a new one is requested.
@Suite struct IdentityCacheVectorsTests {
    /// The cases of these categories that are tested elsewhere.
    private static let elsewhere = [
        "cache/app-token-python": "MachineVectorsTests of TokenAcquisitionTests",
        "cache/managed-identity-client-field": "MachineVectorsTests of TokenAcquisitionTests",
        "cache/user-token-not-served-to-app": "MachineVectorsTests of TokenAcquisitionTests",
        "refresh/half-life": "the plugin's own", "refresh/short-token": "the plugin's own",
        "refresh/below-boundary": "the plugin's own", "refresh/server-value-kept": "the plugin's own",
        "refresh/single-flight": "StampedeTests has sixty-four processes at once",
    ]

    static let cases = MachineVectors.followed.filter {
        ["cache", "refresh"].contains($0.category) && elsewhere[$0.id] == nil
    }

    @Test func `the file and the table fit together`() {
        #expect(Set(Self.elsewhere.keys).isSubset(of: MachineVectors.followed.map(\.id)))
        #expect(Self.cases.count == 9)
    }

    /// Returns an identity's token, from the stored tokens and not from the answer cache.
    private static func token(
        _ world: World, as name: String, for path: String = "contoso", _ extra: [String: String] = [:]
    ) async throws -> String {
        let imds = try ManagedIdentityTests.variables(world, "imds")
        let got = try await world.get(
            path, imds.merging(extra) { $1 }.merging(["LANYARD_ANSWER_CACHE": "0"]) { $1 }, lines: "identity=\(name)\n")
        #expect(got.status == 0, "\(got)")
        return try #require(got.value("password"))
    }

    private static func requests(_ world: World) async throws -> Int { try await world.sandbox.machineRequests().count }

    @Test(arguments: cases)
    func `a stored token`(_ vector: VectorCase) async throws {
        try await World.with { world in
            let machine = world.sandbox.machine
            try world.configure(
                after: """
                    [[identity]]
                    name = "by-object"
                    managed = "object-id:\(machine.objectID)"
                    [[identity]]
                    name = "by-resource"
                    managed = "resource-id:\(machine.resourceID)"
                    [[identity]]
                    name = "by-secret"
                    authority = "\(world.sandbox.authority)/contoso.example"
                    client-id = "\(world.sandbox.application.clientID)"
                    secret-variable = "PIPELINE_SECRET"
                    """)
            switch vector.id {
            case "cache/by-id-text": try await Self.keptApart(["deployment", "by-object"], vector, world)
            case "cache/arc-partition":
                try await Self.keptApart(["machine", "deployment", "by-resource"], vector, world)
            case "cache/two-resources": try await Self.twoResources(vector, world)
            case "cache/credential-kind-not-in-key": try await Self.twoProofs(vector, world)
            default: try await Self.refreshed(vector, world)
            }
        }
    }

    /// Checks that each identity has a separate token, which remains when another gets one.
    private static func keptApart(_ names: [String], _ vector: VectorCase, _ world: World) async throws {
        var tokens: [String] = []
        for name in names { tokens.append(try await token(world, as: name)) }
        for (name, token) in zip(names, tokens) { #expect(try await self.token(world, as: name) == token) }
        #expect(Set(tokens).count == vector.expect["entries"]?.wholeNumber)
        #expect(try await requests(world) == names.count)
    }

    /// Returns the token after its renewal by another process, or the same token if no renewal is expected.
    private static func settled(
        _ world: World, after old: String, expects isNew: Bool, _ extra: [String: String]
    ) async throws -> String {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let new = try await token(world, as: "machine", extra)
            if new != old || !isNew || ContinuousClock.now > end { return new }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private static func twoResources(_ vector: VectorCase, _ world: World) async throws {
        for path in ["contoso", "v1.0", "contoso", "v1.0"] { _ = try await token(world, as: "machine", for: path) }
        #expect(try await requests(world) == vector.expect["entries"]?.wholeNumber)
    }

    private static func twoProofs(_ vector: VectorCase, _ world: World) async throws {
        let secret = ["PIPELINE_SECRET": world.sandbox.application.secret]
        let first = try await token(world, as: "by-secret", secret)
        let second = try await token(world, as: "pipeline")
        #expect((first == second) == (vector.expect["hit"] == .bool(true)))
        #expect(try await world.sandbox.authorityRequests().count(grant: "client_credentials") == 1)
    }

    private static func refreshed(_ vector: VectorCase, _ world: World) async throws {
        let isAging = vector.text("age")?.hasPrefix("past refresh_in") == true
        if let seconds = vector.input["seconds_left"]?.wholeNumber {
            try await world.sandbox.set(#"{"machine_token_lifetime":\#(seconds)}"#)
        }
        if isAging { try await world.sandbox.set(#"{"refresh_in":1}"#) }
        let old = try await token(world, as: "machine")
        if isAging { try await Task.sleep(for: .seconds(2)) }
        try await world.sandbox.clearLog()
        var extra: [String: String] = [:]
        switch vector.text("authority") {
        case "oauth error"?:
            try await world.sandbox.fault(
                #"{"path":"/metadata/","status":400,"body":"{\"error\":\"invalid_request\",\"error_description\":\"d\"}"}"#
            )
        // Nothing listens there.
        case "unreachable"?: extra["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = "http://127.0.0.1:1"
        default: break
        }
        let new: String
        if vector.text("claims") != nil {
            // The case's own claims are empty, which lanyard treats as no claims.
            let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#
            let asked = try await world.lanyard(
                ["token", "\(world.sandbox.resource)/contoso", "--claims", claims],
                try ManagedIdentityTests.variables(world, "imds").merging(["LANYARD_IDENTITY": "machine"]) { $1 })
            #expect(asked.status == 0, "\(asked)")
            new = asked.lines.first ?? ""
        } else {
            new = try await settled(world, after: old, expects: vector.expected("token") != "old", extra)
        }
        #expect((new == old) == (vector.expected("token") == "old"))
        guard extra.isEmpty, let wanted = vector.expect["requests"]?.wholeNumber else { return }
        let end = ContinuousClock.now + .seconds(60)
        // A process that renews ahead of time may not have finished.
        while try await requests(world) < wanted, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await requests(world) == wanted)
    }
}
