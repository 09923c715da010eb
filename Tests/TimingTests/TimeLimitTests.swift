import Foundation
import TestSupport
import Testing

/// Tools with a time limit, and an authority that never answers.
@Suite struct TimeLimitTests {
    /// The tools' time limits in seconds.
    private static let limits = ["bazel": 10, "nuget": 5, "az": 10]

    @Test func `an authority that hangs holds no tool up for too long, and meanwhile no secret shows`() async throws {
        try await World.withEveryTool(signedIn: false) { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 0}"#)
            let login = try await world.lanyard(
                ["login", "https://tools.example"], world.browser(as: "alice@contoso.example"))
            try #require(login.status == 0, "\(login)")
            let secrets = try await Self.secrets(world)
            try #require(secrets.count >= 3)

            try await world.sandbox.fault(#"{"path": "/token", "hold": true}"#)
            let tools = EveryTool.all.filter { Self.limits[$0.description] != nil }
            try await withThrowingTaskGroup(of: (EveryTool, Ended).self) { group in
                for tool in tools { group.addTask { (tool, try await world.ask(tool)) } }
                try await world.sandbox.untilHeld()
                let processes = Self.processes(of: world)
                #expect(processes.contains("lanyard-plugin-v1"), "\(processes)")
                for secret in secrets { #expect(!processes.contains(secret), "\(processes)") }
                for try await (tool, ended) in group {
                    #expect(tool.isFailure(ended), "\(tool) \(ended)")
                    #expect(ended.duration < .seconds(Self.limits[tool.description] ?? 0), "\(tool) \(ended.duration)")
                }
            }
            try await world.sandbox.clearFaults()
        }
    }

    /// Returns all stored secrets.
    private static func secrets(_ world: World) async throws -> [String] {
        let exported = try await world.lanyard(["export"])
        let cache =
            try JSONSerialization.jsonObject(with: Data(exported.output.utf8)) as? [String: [String: [String: Any]]]
        return (cache ?? [:]).values.flatMap(\.values).compactMap { $0["secret"] as? String }
    }

    /// Returns the command lines and environments of a world's processes, and of all plugins: only root can read a
    /// plugin's environment, which tells its world.
    private static func processes(of world: World) -> String {
        RunningProcess.all.map(\.text).filter { $0.contains(world.folder) || $0.contains("lanyard-plugin-v1") }
            .joined(separator: "\n")
    }
}
