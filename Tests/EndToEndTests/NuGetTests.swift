import Foundation
import TestSupport
import Testing

/// NuGet's own library (6.7), which runs plugins as NuGet does.
@Suite(.enabled(if: Clients.nuget != nil, "script/get tools has none for this Python"))
struct NuGetTests {
    private static let url = "https://pkgs.example/feed/v3/index.json"

    /// Returns the answers to a request, and to the follow-up requests: code, user name, password and message.
    private static func ask(_ world: World, _ words: String...) async throws -> [[String?]] {
        let extra = world.browser(as: "alice@contoso.example").merging(
            ["NUGET_NETCORE_PLUGIN_PATHS": "\(world.folder)/bin/nuget-plugin-lanyard"]) { $1 }
        let ended = try await world.runInside(
            Clients.program("python3"),
            [
                Built.checkout + "/Tests/TestSupport/Scripts/nuget-client", Clients.nuget ?? "",
                "\(world.folder)/dotnet", url,
            ] + words,
            environment: world.environment.merging(extra) { $1 })
        #expect(ended.status == 0, "\(ended)")
        return try ended.lines.map { try JSONDecoder().decode([String?].self, from: Data($0.utf8)) }
    }

    @Test func `NuGet is told to sign in, gets a token, and a new one if its server refuses that`() async throws {
        try await World.with { world in
            try world.link("nuget-plugin-lanyard")
            try world.configure(rule: Self.url, at: "contoso.example")
            let answers = try await Self.ask(world, "lanyard login \(Self.url)", "retry")
            try #require(answers.count == 3, "\(answers)")
            #expect(answers[0][0] == "Error" && answers[0][2] == nil, "\(answers)")
            #expect(answers[0][3]?.contains("lanyard login \(Self.url)") == true, "\(answers)")
            #expect(answers[1][...1] == ["Success", "alice@contoso.example"] && answers[1][2] != nil, "\(answers)")
            #expect(answers[2][...1] == ["Success", "alice@contoso.example"], "\(answers)")
            #expect(answers[2][2] != answers[1][2])
            #expect(try await world.lanyard(["token", Self.url]).lines.first == answers[2][2])
        }
    }
}
