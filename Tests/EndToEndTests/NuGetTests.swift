import Foundation
import TestSupport
import Testing

/// NuGet's own library (6.7), as NuGet asks its plugins.
@Suite(.enabled(if: Clients.nuget != nil, "script/clients has none for this Python"))
struct NuGetTests {
    private static let url = "https://pkgs.example/feed/v3/index.json"

    /// Answers: code, user name, password and message.
    private static func ask(_ world: World, _ folder: String, retries: Int = 0) async throws -> [[String?]] {
        let extra = ["NUGET_NETCORE_PLUGIN_PATHS": "\(world.folder)/bin/nuget-plugin-lanyard"]
        let ended = try await world.runInside(
            Clients.program("python3"),
            [
                Built.checkout + "/Tests/TestSupport/Scripts/nuget-client", Clients.nuget ?? "",
                "\(world.folder)/\(folder)", url,
            ] + Array(repeating: "retry", count: retries),
            environment: world.environment.merging(extra) { $1 })
        #expect(ended.status == 0, "\(ended)")
        return try ended.lines.map { try JSONDecoder().decode([String?].self, from: Data($0.utf8)) }
    }

    @Test func `NuGet is told to sign in, gets a token, and a new one if its server refuses that`() async throws {
        try await World.with { world in
            try world.link("nuget-plugin-lanyard")
            try world.configure(rule: Self.url, at: "contoso.example")
            let early = try await Self.ask(world, "early")
            #expect(early.count == 1 && early[0][0] == "Error" && early[0][2] == nil, "\(early)")
            #expect(early[0][3]?.contains("lanyard login \(Self.url)") == true, "\(early)")

            let login = try await world.lanyard(["login", Self.url], world.browser(as: "alice@contoso.example"))
            try #require(login.status == 0, "\(login)")
            let token = try #require(try await world.lanyard(["token", Self.url]).lines.first)
            let answers = try await Self.ask(world, "signed-in", retries: 1)
            try #require(answers.count == 2, "\(answers)")
            #expect(answers[0] == ["Success", "alice@contoso.example", token, nil])
            #expect(answers[1][0] == "Success" && answers[1][2] != nil && answers[1][2] != token, "\(answers)")
        }
    }
}
