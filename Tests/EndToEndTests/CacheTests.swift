import Foundation
import TestSupport
import Testing

/// Listing, clearing and moving stored tokens.
@Suite struct CacheTests {
    @Test func `cache list shows what is stored and no secrets`() async throws {
        try await World.with { world in
            let none = try await world.lanyard(["cache", "list"])
            #expect(none.status == 0 && none.output.isEmpty && none.errors == "lanyard: nothing is stored\n")
            #expect(try await world.lanyard(["cache", "list", "--json"]).output.filter { !$0.isWhitespace } == "[]")
            let token = try await world.tokenOfAlice()
            let list = try await world.lanyard(["cache", "list"])
            #expect(list.lines.first?.hasPrefix("alice@contoso.example at localhost:") == true, "\(list)")
            #expect(list.lines.allSatisfy { $0.count <= 80 }, "\(list)")
            for what in ["account", "refresh token", "access token", "ID token"] {
                #expect(list.lines.contains { $0.hasPrefix("  \(what) ") }, "\(list)")
            }
            let json = try await world.lanyard(["cache", "list", "--json"])
            let records = try #require(
                try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
            #expect(
                Set(records.compactMap { $0["kind"] as? String })
                    == ["accesstoken", "refreshtoken", "idtoken", "account"])
            #expect(records.allSatisfy { $0["username"] as? String == "alice@contoso.example" })
            let access = try #require(records.first { $0["kind"] as? String == "accesstoken" })
            #expect(access["expired"] as? Bool == false && access["clientId"] as? String == world.sandbox.clientID)
            let exported = try await world.lanyard(["export"]).output
            let unset = try await world.lanyard(["export", "--account", ""])
            #expect(unset.status == 64 && unset.errors.contains("--account is empty"), "\(unset)")
            for secret in try secrets(in: exported) + [token] {
                #expect(!list.output.contains(secret) && !json.output.contains(secret))
            }
        }
    }

    @Test func `cache list shows an account of which there is nothing to add`() async throws {
        try await World.with { world in
            let document =
                #"{"Account": {"1": {"home_account_id": "7", "environment": "github.com", "realm": "default","#
                + #" "username": "octocat", "authority_type": "Generic", "local_account_id": "7"}}}"#
            let imported = try await world.lanyard(["import", "-"], input: document)
            #expect(imported.errors == "lanyard: imported 1, skipped 0\n", "\(imported)")
            #expect(try await world.lanyard(["cache", "list"]).output == "octocat at github.com\n  account\n")
        }
    }

    @Test func `cache clear asks, narrows down, and leaves git's passwords`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            _ = try await world.tokenOfAlice()
            let password = "url=https://git.example\nusername=bob\npassword=secret\n"
            try await world.lanyard(["store"], input: password)
            let unasked = try await world.lanyard(["cache", "clear"])
            #expect(unasked.status == 64 && unasked.errors.contains("without --yes"))
            for options in [
                ["--expired"], ["--client-id", "another"], ["--authority", "https://login.microsoftonline.com/common"],
            ] {
                let ended = try await world.lanyard(["cache", "clear", "--yes"] + options)
                #expect(ended.errors == "lanyard: there is nothing to remove\n", "\(options): \(ended)")
            }
            for option in ["--account", "--authority", "--client-id"] {
                let unset = try await world.lanyard(["cache", "clear", "--yes", option, ""])
                #expect(unset.status == 64 && unset.errors.contains("\(option) is empty"), "\(unset)")
            }
            let stranger = try await world.lanyard(["cache", "clear", "--yes", "--account", "zoe"])
            #expect(stranger.status == 1, "\(stranger)")
            // The cached answer must be removed together with its token.
            #expect(try await world.get("common/hello.git").value("password") != nil)
            let cleared = try await world.lanyard(["cache", "clear", "--yes", "--account", "Alice@contoso.example"])
            #expect(cleared.status == 0 && cleared.errors == "lanyard: removed 4 records\n", "\(cleared)")
            #expect(try await world.lanyard(["token", url]).status == 2)
            #expect(try await world.get("common/hello.git").value("password") == nil)
            let kept = try await world.lanyard(["get"], input: "url=https://git.example\n")
            #expect(kept.value("password") == "secret", "\(kept)")
            _ = try await world.tokenOfAlice()
            let all = try await world.lanyard(["cache", "clear", "--yes"])
            #expect(all.errors == "lanyard: removed 4 records\n", "\(all)")
            #expect(try await world.lanyard(["get"], input: "url=https://git.example\n").value("password") == "secret")
        }
    }

    @Test(arguments: [("secret", "a\r\nX-Injected: y"), ("token_type", "Bearer a\nX-Injected: y\nX:")])
    func `a planted token that would become further lines is never used, and removed by a command only`(
        _ member: String, text: String
    ) async throws {
        try await World.with { world in
            let token = try await world.tokenOfAlice()
            let url = "\(world.sandbox.resource)/common/hello.git"
            try await world.plant([member: text], inPlaceOf: "AccessToken")
            let listed = try await world.lanyard(["cache", "list"])
            #expect(
                listed.errors.contains("not shown: an item of kind accesstoken holds characters that do not belong"),
                "\(listed)")
            let alone = try await world.lanyard(["token", "--header", "--non-interactive", url])
            #expect(
                alone.lines.count == 1 && alone.lines.first?.hasPrefix("Authorization: Bearer ey") == true, "\(alone)")
            #expect(alone.lines != ["Authorization: Bearer \(token)"])
            #expect(alone.errors.contains("to remove them: lanyard cache clear --damaged"), "\(alone)")
            // The renewed token replaced it.
            #expect(try await world.lanyard(["cache", "clear", "--damaged"]).errors == "lanyard: nothing is damaged\n")

            try await world.plant(["secret": "r\nt"], inPlaceOf: "RefreshToken")
            #expect(try await world.lanyard(["doctor"]).output.contains("lanyard cache clear --damaged"))
            #expect(try await world.lanyard(["export"]).output.contains("r\\nt") == false)
            let cleared = try await world.lanyard(["cache", "clear", "--damaged", "--yes"])
            #expect(cleared.status == 0 && cleared.errors == "lanyard: removed 1 item\n", "\(cleared)")
            #expect(try await world.lanyard(["token", url]).status == 0, "what is whole is left")
        }
    }

    @Test func `export says which refresh tokens are for one machine only`() async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            try world.configureIssuer(scopes: ["openid", "offline_access", "read_repository"])
            _ = try await world.tokenOfAlice()
            #expect(try await world.lanyard(["export"]).errors.contains("one machine") == false)
            #expect(try await world.lanyard(["login", issuer.url], world.browser(as: "alice_contoso")).status == 0)
            let host = issuer.url.replacing("https://", with: "")
            let export = try await world.lanyard(["export"])
            #expect(export.errors.contains("use those of \(host) on one machine only\n"), "\(export)")
            let other = try await world.lanyard(["export", "--account", World.alice])
            #expect(other.status == 0 && !other.errors.contains("one machine"), "\(other)")
        }
    }

    @Test func `export writes what MSAL reads, to its owner only`() async throws {
        try await World.with { world in
            let token = try await world.tokenOfAlice()
            let file = world.folder + "/work/cache.json"
            let export = try await world.lanyard(["export", "--output", "cache.json"])
            #expect(export.status == 0 && export.output.isEmpty, "\(export)")
            #expect(export.errors == "lanyard: this holds 1 refresh token: keep it to yourself\n")
            let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(try await world.lanyard(["export"]).output == text)
            let cache = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: [String: Any]]])
            #expect(Set(cache.keys) == ["AccessToken", "RefreshToken", "IdToken", "Account"])
            let access = try #require(cache["AccessToken"]?.values.first)
            #expect(access["secret"] as? String == token)
            #expect((access["expires_on"] as? String).flatMap(Int.init) != nil)
            let key = try #require(cache["RefreshToken"]?.keys.first)
            #expect(key.hasSuffix("-refreshtoken-\(world.sandbox.clientID)--"), "\(key)")

            let target = world.folder + "/work/elsewhere"
            try "mine".write(toFile: target, atomically: true, encoding: .utf8)
            try FileManager.default.createSymbolicLink(
                atPath: world.folder + "/work/link", withDestinationPath: target)
            let link = try await world.lanyard(["export", "--output", "link"])
            #expect(link.status == 1, "\(link)")
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
            let folder = try await world.lanyard(["export", "--output", "/nonexistent/cache.json"])
            #expect(folder.status == 1 && folder.errors.hasPrefix("lanyard: error: /nonexistent/cache.json can't"))
            let unknownAccountCodes = try await world.lanyard(["export", "--account", "zoe"])
            #expect(unknownAccountCodes.status == 1 && unknownAccountCodes.output.isEmpty, "\(unknownAccountCodes)")
            let onTerminal = try await run(
                "script", ["--quiet", "--return", "--command", "lanyard export", "/dev/null"],
                environment: world.environment.merging(["PATH": world.environment["PATH"] ?? ""]) { $1 })
            #expect(onTerminal.status == 64 && !onTerminal.output.contains("secret"), "\(onTerminal)")
        }
    }

    @Test func `cache clear narrows down by expiry, tenant, client and account`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let home = Elsewhere(
                environment: keyring.environment.merging(["PATH": "\(Built.folder):\(Programs.folder)"]) { $1 },
                folder: keyring.scratch.path)
            let imported = try await home.lanyard(["import", "-"], input: Self.document)
            #expect(imported.errors == "lanyard: imported 8, skipped 0\n", "\(imported)")
            try await home.keep(
                #"{"secret":"old","expires_on":"1000","home_account_id":"alice.home","client_id":"app","environment":"login.microsoftonline.com","realm":"home","target":"Old.Read"}"#,
                "xdg:schema=dev.lanyard.Credential group=dev.lanyard kind=accesstoken home-account=alice.home "
                    + "environment=login.microsoftonline.com client=app realm=home target=Old.Read family=")
            let listed = try await home.lanyard(["cache", "list"])
            #expect(listed.output.contains("\n  access token   expired "), "\(listed)")
            func cleared(_ options: String...) async throws -> String {
                let before = try await home.secrets()
                let ended = try await home.lanyard(["cache", "clear", "--yes"] + options)
                #expect(ended.status == 0, "\(ended)")
                return before.subtracting(try await home.secrets()).sorted().joined(separator: " ")
            }
            #expect(try await cleared("--expired") == "old")
            #expect(try await cleared("--authority", "https://login.windows.net/guest") == "guest")
            #expect(try await cleared("--client-id", "OTHER") == "")
            #expect(try await cleared("--client-id", "other") == "other")
            #expect(try await cleared("--authority", "https://login.microsoftonline.us/common") == "bob-rt")
            let accounts = try await home.lanyard(["cache", "list", "--json"]).output
            #expect(!accounts.contains("bob@") && accounts.contains("alice@"))
            #expect(try await cleared("--account", "alice@contoso.example", "--client-id", "app") == "home rt")
            #expect(try await home.lanyard(["cache", "list"]).output.isEmpty)
        }
    }

    /// Alice in her home tenant and as a guest, with two clients; bob in another cloud.
    private static let document = #"""
        {"AccessToken": {
            "1": {"secret": "home", "expires_on": "4000000000", "cached_at": "1", "home_account_id": "alice.home",
                  "environment": "login.microsoftonline.com", "client_id": "app", "realm": "home", "target": "User.Read"},
            "2": {"secret": "guest", "expires_on": "4000000000", "cached_at": "1", "home_account_id": "alice.home",
                  "environment": "login.microsoftonline.com", "client_id": "app", "realm": "guest", "target": "User.Read"},
            "3": {"secret": "other", "expires_on": "4000000000", "cached_at": "1", "home_account_id": "alice.home",
                  "environment": "login.microsoftonline.com", "client_id": "other", "realm": "home", "target": "User.Read"}},
         "RefreshToken": {
            "4": {"secret": "rt", "home_account_id": "alice.home", "environment": "login.windows.net", "client_id": "app"},
            "5": {"secret": "bob-rt", "home_account_id": "bob.home", "environment": "login.microsoftonline.us",
                  "client_id": "app"}},
         "AppMetadata": {"6": {"client_id": "other", "environment": "login.microsoftonline.com", "family_id": "1"}},
         "Account": {
            "7": {"home_account_id": "alice.home", "environment": "login.windows.net", "realm": "home",
                  "username": "alice@contoso.example"},
            "8": {"home_account_id": "bob.home", "environment": "login.microsoftonline.us", "realm": "home",
                  "username": "bob@contoso.example"}}}
        """#

    private func secrets(in exported: String) throws -> [String] {
        let cache = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: [String: [String: Any]]]
        return (cache ?? [:]).values.flatMap(\.values).compactMap { $0["secret"] as? String }
    }
}

extension Elsewhere {
    /// Returns the stored secrets.
    func secrets() async throws -> Set<String> {
        let exported = try await lanyard(["export"]).output
        let cache = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: [String: [String: Any]]]
        return Set((cache ?? [:]).values.flatMap(\.values).compactMap { $0["secret"] as? String })
    }
}

extension World {
    /// Changes members of the only record of a section, as another program of the same user could.
    func plant(_ members: [String: String], inPlaceOf section: String) async throws {
        let exported = try await lanyard(["export"]).output
        let cache = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: [String: [String: String]]]
        let record = try #require(cache?[section]?.values.first)
        let document = try JSONSerialization.data(withJSONObject: record.merging(members) { $1 })
        let target = (record["target"] ?? "").split(separator: " ").sorted().joined(separator: " ")
        let attributes = [
            "xdg:schema": "dev.lanyard.Credential", "group": "dev.lanyard", "kind": section.lowercased(),
            "home-account": record["home_account_id"] ?? "", "environment": record["environment"] ?? "",
            "client": record["client_id"] ?? "", "realm": record["realm"] ?? "",
            "target": section == "AccessToken" ? target : "", "family": "",
        ]
        let planted = try await secretTool(
            ["store", "--label=x"] + attributes.flatMap { [$0.key, $0.value] },
            input: String(decoding: document, as: UTF8.self), environment: environment)
        #expect(planted.status == 0, "\(planted)")
    }

    /// Signs alice in for the sandbox's git, and returns the token.
    func tokenOfAlice() async throws -> String {
        let url = "\(sandbox.resource)/common/hello.git"
        try await lanyard(["login", url], browser(as: "alice@contoso.example"))
        return try await lanyard(["token", url]).lines.first ?? ""
    }
}
