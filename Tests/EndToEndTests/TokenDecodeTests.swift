import Foundation
import TestSupport
import Testing

/// `token --decode` shows a token's claims, and never the token.
@Suite struct TokenDecodeTests {
    @Test func `the claims are shown in words and as JSON, and not the token`() async throws {
        try await World.with { world in
            try await world.signIn("alice@contoso.example")
            let url = "\(world.sandbox.resource)/common/hello.git"
            let token = try await world.lanyard(["token", url]).output.trimmingCharacters(in: .newlines)
            let text = try await world.lanyard(["token", "--decode", url], ["TZ": "UTC"])
            #expect(text.status == 0, "\(text)")
            for row in ["aud", "tid", "scp"] { #expect(text.lines.contains { $0.hasPrefix("\(row)  ") }, "\(text)") }
            let end = try #require(text.lines.first { $0.hasPrefix("exp ") })
            #expect(end.contains(" +0000, in ") && end.hasSuffix(" minutes"), "\(end)")
            #expect(text.errors == "lanyard: decoded only: the token's signature was not verified\n", "\(text)")

            let json = try await world.lanyard(["token", "--decode", "--json", url])
            let decoded = try #require(
                try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            let claims = try #require(decoded["claims"] as? [String: Any])
            let times = try #require(decoded["times"] as? [String: String])
            let end2 = times["exp"].flatMap(ISO8601DateFormatter().date)
            #expect(end2 != nil && end2?.timeIntervalSince1970 == claims["exp"] as? Double)
            #expect(claims["tid"] as? String == "c0a70500-0000-4000-8000-00000c0a7050")
            #expect(decoded["verified"] as? Bool == false && (decoded["header"] as? [String: Any])?["alg"] != nil)
            // Neither output contains a part from which the token could be reassembled.
            for part in token.split(separator: ".") {
                #expect(!text.output.contains(part) && !json.output.contains(part))
            }
        }
    }

    @Test func `a token that is no JWT is said to be none`() async throws {
        try await World.with { world in
            let script = """
                [ "$1" = lanyard-plugin-v1 ] || exit 64
                while IFS= read -r line; do case $line in '') break ;; esac; done
                printf 'event=result\\naccess_token=opaque-secret\\nscope[]=repo\\nhome_account_id=7.f\\nusername=a\\n'
                printf 'environment=forge.example\\nrealm=default\\nauthority_type=Other\\nexpires_in=3600\\n\\n'
                """
            let manifest = "[[authority]]\nhosts = [\"forge.example\"]\npath = \"/{path}\"\n"
            var environment = try world.install(plugin: "forge", script: script, manifest: manifest)
            environment["BROWSER"] = "/bin/true"
            try world.configure(rule: "https://forge.example", at: "", client: "id", scope: "repo")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try text.replacing("\(world.sandbox.authority)/\"", with: "https://forge.example\"").write(
                toFile: world.configFile, atomically: true, encoding: .utf8)
            let ended = try await world.lanyard(["token", "--decode", "https://forge.example/x"], environment)
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.contains("lanyard: error: the access token is not a JWT: only its "), "\(ended)")
            #expect(!ended.errors.contains("opaque-secret"))
        }
    }

    @Test func `it goes with --json, and not with --header`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["token", "--decode", "--header", "https://x.example"])
            #expect(ended.status == 64 && ended.errors.contains("give --decode or --header, not both"), "\(ended)")
        }
    }
}
