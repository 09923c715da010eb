import Foundation
import TestSupport
import Testing

/// A plugin keeps its hosts and its tokens, also while it can't be used, and after it is gone.
@Suite struct PluginOwnershipTests {
    private static let host = "quill.example"
    private static let script = """
        folder=$(dirname "$0")
        operation=
        while IFS= read -r line && [ -n "$line" ]; do
            case $line in operation=*) operation=${line#operation=} ;; esac
            echo "$line" >>"$folder/requests"
        done
        echo "$operation" >>"$folder/operations"
        case $operation in
            authorize | renew)
                printf 'event=result\\naccess_token=AT-%s\\nrefresh_token=RT-%s\\nexpires_in=%s\\n' \\
                    "$operation" "$(basename "$0")" "$(cat "$folder/lifetime")"
                printf 'scope[]=s\\nhome_account_id=carol.quill\\nenvironment=quill.example\\nrealm=acme\\nusername=carol\\n\\n'
                ;;
            *) printf 'event=error\\ncode=unsupported\\nmessage=no\\n\\n' ;;
        esac
        """
    private static let manifest = "[[authority]]\nhosts = [\"quill.example\"]\npath = \"/{realm}\"\n"

    /// A world with a rule for the authority of the plugin `quill`, which has signed somebody in; a token that lives
    /// for a few seconds only is due at once.
    private static func with(
        lifetime: Int = 0, _ body: @escaping @Sendable (World, _ environment: [String: String]) async throws -> Void
    ) async throws {
        try await World.with { world in
            var environment = try world.install(plugin: "quill", script: script, manifest: manifest)
            environment["BROWSER"] = "/bin/true"
            try "\(lifetime)".write(
                toFile: "\(world.folder)/plugins/quill/lifetime", atomically: true, encoding: .utf8)
            try """
            \(world.keyringTable)[[rule]]
            url = "https://git.quill.example"
            authority = "https://quill.example/acme"
            client-id = "c"
            scopes = ["s"]
            """.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let signedIn = try await world.lanyard(["login", "https://git.quill.example"], environment)
            try #require(signedIn.status == 0, "\(signedIn)")
            try await body(world, environment)
        }
    }

    private static func get(_ world: World, _ environment: [String: String]) async throws -> Ended {
        try await world.lanyard(["get"], environment, input: "url=https://git.quill.example/x\n")
    }

    /// What other plugins were sent, and whether quill's token was in it.
    private static func leaked(_ world: World, to plugin: String) -> Bool {
        let requests = try? String(contentsOfFile: "\(world.folder)/plugins/\(plugin)/requests", encoding: .utf8)
        return requests?.contains("RT-quill") ?? false
    }

    @Test func `records say which plugin they came from, and it renews them`() async throws {
        try await Self.with { world, environment in
            let exported = try await world.lanyard(["export"], environment)
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(exported.output.utf8)) as? [String: [String: [String: Any]]]
            )
            for section in ["RefreshToken", "AccessToken", "Account"] {
                let records = try #require(document[section]).values
                #expect(
                    !records.isEmpty && records.allSatisfy { $0["lanyard_plugin"] as? String == "quill" }, "\(exported)"
                )
            }
            let got = try await Self.get(world, environment)
            #expect(got.status == 0 && got.output.contains("password=AT-renew\n"), "\(got)")
        }
    }

    @Test(arguments: ["not executable", "no interpreter", "another protocol", "another's folder"])
    func `a plugin that can't be used is named, and no other is asked`(_ fault: String) async throws {
        try await Self.with { world, environment in
            let folder = "\(world.folder)/plugins/quill"
            let operations = try String(contentsOfFile: "\(folder)/operations", encoding: .utf8)
            switch fault {
            case "not executable": chmod("\(folder)/quill", 0o644)
            case "no interpreter":
                try "#!/none/sh\n".write(toFile: "\(folder)/quill", atomically: true, encoding: .utf8)
                chmod("\(folder)/quill", 0o755)
            case "another protocol":
                let text = try String(contentsOfFile: "\(folder)/plugin.toml", encoding: .utf8)
                try text.replacing("\"v1\"", with: "\"v9\"")
                    .write(toFile: "\(folder)/plugin.toml", atomically: true, encoding: .utf8)
            default: chmod(folder, 0o777)
            }
            for command in [["get"], ["login", "https://git.quill.example"], ["token", "https://git.quill.example"]] {
                let ended = try await world.lanyard(command, environment, input: "url=https://git.quill.example/x\n")
                #expect(ended.status == 1 && ended.hasNoCredential, "\(ended)")
                #expect(ended.errors.contains("lanyard: error: the quill plugin can't be used: "), "\(ended)")
                #expect(!ended.errors.contains("aad-tenant"), "\(ended)")
            }
            let explained = try await world.lanyard(["explain", "https://git.quill.example"], environment)
            #expect(explained.output.contains("quill, which can't be used: "), "\(explained)")
            let doctor = try await world.lanyard(["doctor"], environment)
            #expect(doctor.status == 1 && doctor.output.hasPrefix("fail  plugin"), "\(doctor)")
            #expect(doctor.output.contains("quill can't be used: "), "\(doctor)")
            #expect(try String(contentsOfFile: "\(folder)/operations", encoding: .utf8) == operations)
        }
    }

    @Test func `a stored token stays usable while its plugin can't be used`() async throws {
        try await Self.with(lifetime: 200) { world, environment in
            chmod("\(world.folder)/plugins/quill/quill", 0o644)
            let got = try await Self.get(world, environment)
            #expect(got.status == 0 && got.output.contains("password=AT-authorize\n"), "\(got)")
        }
    }

    @Test func `a plugin that is gone is named, and no other is asked`() async throws {
        try await Self.with { world, environment in
            try FileManager.default.moveItem(
                atPath: "\(world.folder)/plugins/quill", toPath: "\(world.folder)/elsewhere")
            for command in [["get"], ["login", "https://git.quill.example"]] {
                let ended = try await world.lanyard(command, environment, input: "url=https://git.quill.example/x\n")
                #expect(ended.status == 1 && ended.hasNoCredential, "\(ended)")
                #expect(ended.errors.contains("through the quill plugin, which is not installed"), "\(ended)")
                #expect(ended.errors.contains("lanyard logout carol"), "\(ended)")
            }
            // Once its sign-in is forgotten, the authority is free for whoever serves it.
            let forgotten = try await world.lanyard(["logout", "carol"], environment)
            #expect(forgotten.status == 0, "\(forgotten)")
            let ended = try await Self.get(world, environment)
            #expect(ended.status != 0 && !ended.errors.contains("quill plugin"), "\(ended)")
        }
    }

    @Test(arguments: [true, false])
    func `a plugin that claims the host later doesn't get its tokens`(_ isQuillGone: Bool) async throws {
        try await Self.with { world, environment in
            // It is found first.
            _ = try world.install(plugin: "grab", script: Self.script, manifest: Self.manifest)
            try "3600".write(toFile: "\(world.folder)/plugins/grab/lifetime", atomically: true, encoding: .utf8)
            if isQuillGone { try FileManager.default.removeItem(atPath: "\(world.folder)/plugins/quill") }
            let refused = try await Self.get(world, environment)
            #expect(refused.status == 2 && refused.hasNoCredential, "\(refused)")
            #expect(refused.errors.contains("signed in through the quill plugin"), "\(refused)")
            #expect(refused.errors.contains("lanyard login https://git.quill.example"), "\(refused)")
            #expect(!Self.leaked(world, to: "grab"))
            // Signing out tells it nothing either.
            if !isQuillGone {
                let again = try await world.lanyard(["login", "https://git.quill.example"], environment)
                #expect(again.status == 0, "\(again)")
                let got = try await Self.get(world, environment)
                #expect(got.output.contains("password=AT-authorize\n"), "\(got)")
            } else {
                let out = try await world.lanyard(["logout", "carol"], environment)
                #expect(out.status == 0, "\(out)")
            }
            #expect(!Self.leaked(world, to: "grab"))
        }
    }

    @Test func `errors of an authority that no plugin names tell of plugins that can't be read`() async throws {
        try await Home.with { home in
            try home.write("[", to: "\(home.folder)/plugins/quill/plugin.toml")
            try home.write(
                """
                [[rule]]
                url = "https://git.quill.example"
                authority = "https://quill.example/acme"
                client-id = "x"
                scopes = ["s"]

                [[rule]]
                url = "https://git.contoso.example"
                authority = "https://login.microsoftonline.com/contoso.com"
                client-id = "x"
                scopes = ["s"]
                """, to: home.configFile)
            let own = home.with(["LANYARD_PLUGIN_PATH": home.folder + "/plugins"])
            let hint = "plugins that can't be used: quill ("
            let ended = try await own.lanyard(["token", "https://git.quill.example"])
            #expect(ended.status == 1 && ended.errors.contains(hint), "\(ended)")
            let known = try await own.lanyard(["token", "https://git.contoso.example"])
            #expect(known.status == 1 && !known.errors.contains(hint), "\(known)")
        }
    }
}
