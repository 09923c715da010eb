import Foundation
import TestSupport
import Testing

/// Importing from other programs and other machines.
@Suite struct ImportTests {
    /// Runs the body with a machine that has a fresh keyring and knows the same authority.
    private func elsewhere(_ world: World, _ body: @Sendable (Elsewhere) async throws -> Void) async throws {
        try await KeyringFixture.with(world.keyring.state) { keyring in
            var environment = keyring.environment
            environment["PATH"] = world.environment["PATH"]
            environment["LANYARD_CONFIG"] = world.configFile
            try await body(Elsewhere(environment: environment, folder: keyring.scratch.path))
        }
    }

    @Test func `what was exported serves on another machine, and the second time nothing is new`() async throws {
        try await World.with { world in
            let token = try await world.tokenOfAlice()
            let url = "\(world.sandbox.resource)/common/hello.git"
            let exported = try await world.lanyard(["export"]).output
            try await elsewhere(world) { there in
                let dry = try await there.lanyard(["import", "-", "--dry-run"], input: exported)
                #expect(dry.errors == "lanyard: would import 4, skip 0\n", "\(dry)")
                #expect(try await there.lanyard(["cache", "list"]).output.isEmpty)
                let imported = try await there.lanyard(["import", "-"], input: exported)
                #expect(imported.status == 0 && imported.errors == "lanyard: imported 4, skipped 0\n", "\(imported)")
                #expect(imported.lines.allSatisfy { $0.hasPrefix("taken ") && !$0.contains(token) })
                #expect(try await there.lanyard(["token", "--non-interactive", url]).lines == [token])
                let again = try await there.lanyard(["import", "-", "--json"], input: exported)
                let rows = try #require(
                    try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [[String: Any]])
                #expect(rows.allSatisfy { $0["reason"] as? String == "stored" } && rows.count == 4, "\(again)")
                #expect(try await there.lanyard(["export"]).output == exported)
            }
        }
    }

    @Test func `the Azure CLI's refresh token of the own client renews`() async throws {
        try await World.with { world in
            let token = try await world.tokenOfAlice()
            let url = "\(world.sandbox.resource)/common/hello.git"
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: nil)
            try await elsewhere(world) { there in
                let empty = try await there.lanyard(["import", "--from", "gcm"])
                #expect(empty.status == 0 && empty.errors == "lanyard: nothing was found\n", "\(empty)")
                let none = try await there.lanyard(["import", "--from", "azure-cli"])
                #expect(none.status == 1 && none.errors.contains("the Azure CLI has no cache at"), "\(none)")
                try there.write(cache, to: "azure/msal_token_cache.json", permissions: 0o644)
                let azure = ["AZURE_CONFIG_DIR": there.folder + "/azure"]
                let imported = try await there.lanyard(["import", "--from", "azure-cli"], azure)
                #expect(imported.status == 0, "\(imported)")
                #expect(
                    imported.errors.hasPrefix("lanyard: imported 2, skipped 1\nlanyard: others can read "),
                    "\(imported)")
                #expect(imported.output.contains("another app's"))
                let renewed = try await there.lanyard(["token", "--non-interactive", url])
                #expect(renewed.status == 0 && renewed.lines.first != token, "\(renewed)")
                #expect(try await there.lanyard(["status", "--accounts"]).output.contains("alice@contoso.example"))
            }
        }
    }

    @Test(arguments: ["organizations", "common"])
    func `a cache that was made for any organisation serves at once, and nobody is a guest there`(
        _ realm: String
    ) async throws {
        try await World.with { world in
            let token = try await world.tokenOfAlice()
            let exported = try await world.lanyard(["export"]).output
            // As in MSAL for Python: the realm is the URL's.
            let tenant = "c0a70500-0000-4000-8000-00000c0a7050"
            let theirs = exported.replacing("\"\(tenant)\"", with: "\"\(realm)\"")
            #expect(theirs != exported)
            try await elsewhere(world) { there in
                let imported = try await there.lanyard(["import", "-"], input: theirs)
                #expect(imported.status == 0 && imported.errors == "lanyard: imported 4, skipped 0\n", "\(imported)")
                let url = "\(world.sandbox.resource)/common/hello.git"
                #expect(try await there.lanyard(["token", "--non-interactive", url]).lines == [token])
                let listed = try await there.lanyard(["status", "--accounts"])
                #expect(
                    listed.output.contains("work or school  contoso.example") && !listed.output.contains("guest"),
                    "\(listed)")
            }
        }
    }

    @Test func `tokens of a client that isn't the user's are left, encrypted or not`() async throws {
        try await World.with(.secretService) { world in
            _ = try await world.tokenOfAlice()
            let other = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: other)
            try await elsewhere(world) { there in
                try there.write("", to: "azure/msal_token_cache.bin", permissions: 0o600)
                try await there.keep(cache, "xdg:schema=my_schema_name my_attr1=foo my_attr2=bar")
                let imported = try await there.lanyard(
                    ["import", "--from", "azure-cli"], ["AZURE_CONFIG_DIR": there.folder + "/azure"])
                #expect(
                    imported.errors.hasPrefix("lanyard: imported nothing, skipped 3\nlanyard: hint: "), "\(imported)")
                #expect(try await there.lanyard(["cache", "list"]).output.isEmpty)
            }
        }
    }

    @Test func `a family's refresh token serves a client of the user's that is known to be in the family`() async throws
    {
        try await World.with { world in
            @Sendable func names(_ client: String) -> [String] {
                let scope = "https://graph.microsoft.com/User.Read"
                return ["--authority", "\(world.sandbox.authority)/common", "--client-id", client, "--scope", scope]
            }
            let editor = "fa311100-0000-4000-8000-0000000000a1"
            let viewer = "fa311100-0000-4000-8000-0000000000b2"
            let login = try await world.lanyard(["login"] + names(editor), world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: nil)
            let host = world.sandbox.authority.dropFirst("https://".count)
            try await elsewhere(world) { there in
                try there.write(cache, to: "theirs.json", permissions: 0o600)
                let configured = ["LANYARD_CLIENT_ID": viewer]
                let borrow = ["import", "--from", "azure-cli", "--file", "theirs.json"]
                let unknown = try await there.lanyard(borrow, configured)
                #expect(unknown.output.contains("its family isn't known to include your app"), "\(unknown)")
                #expect(unknown.errors.hasPrefix("lanyard: imported nothing, "), "\(unknown)")
                let metadata = #"{"client_id":"\#(viewer)","environment":"\#(host)","family_id":"1"}"#
                try await there.lanyard(["import", "-"], input: #"{"AppMetadata":{"x":\#(metadata)}}"#)
                let known = try await there.lanyard(borrow, configured)
                #expect(known.errors.hasPrefix("lanyard: imported 2, "), "\(known)")
                let renewed = try await there.lanyard(["token", "--non-interactive"] + names(viewer))
                #expect(renewed.status == 0 && renewed.lines.count == 1, "\(renewed)")
            }
        }
    }

    @Test func `Git Credential Manager's passwords and tokens are copied, and stay where they are`() async throws {
        try await World.with(.secretService) { world in
            let token = try await world.tokenOfAlice()
            let url = "\(world.sandbox.resource)/common/hello.git"
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: nil)
            try await elsewhere(world) { there in
                let schema = "xdg:schema=com.microsoft.GitCredentialManager"
                try await there.keep("ghp_secret", "\(schema) service=git:https://github.com account=alice")
                try await there.keep("rt", "\(schema) service=git:https://refresh_token.git.example account=alice")
                try await there.keep("pat", "\(schema) service=git:\(url) account=alice")
                try await there.keep(
                    Data(cache.utf8).base64EncodedString(),
                    "xdg:schema=msal.cache MsalClientID=Microsoft.Developer.IdentityService "
                        + "Microsoft.Developer.IdentityService=1.0.0.0")
                let imported = try await there.lanyard(["import", "--from", "gcm"])
                #expect(imported.status == 0 && !imported.output.contains("ghp_secret"), "\(imported)")
                #expect(imported.errors.hasPrefix("lanyard: imported 3, skipped 3\n"), "\(imported)")
                #expect(imported.output.contains("only its own program can use it"))
                #expect(imported.output.contains("a token is used there"))
                let password = try await there.lanyard(["get"], input: "url=https://github.com\n")
                #expect(password.lines == ["username=alice", "password=ghp_secret"], "\(password)")
                let renewed = try await there.lanyard(["token", "--non-interactive", url])
                #expect(renewed.status == 0 && renewed.lines.first != token, "\(renewed)")
                let theirs = try await there.run("secret-tool", ["lookup", "service", "git:https://github.com"])
                #expect(theirs.output == "ghp_secret")
                let again = try await there.lanyard(["import", "--from", "gcm"])
                #expect(again.errors.hasPrefix("lanyard: imported nothing, skipped 6\n"), "\(again)")
            }
        }
    }

    @Test func `git-credential-libsecret's passwords are usable as they are`() async throws {
        try await World.with(.secretService) { world in
            try await elsewhere(world) { there in
                let at = "protocol=https server=git.example user=bob"
                try await there.keep("one", "xdg:schema=org.git.Password \(at)")
                try await there.keep("two", "xdg:schema=org.gnome.keyring.NetworkPassword \(at) object=a/b.git")
                let found = try await there.lanyard(["import", "--from", "git-libsecret"])
                #expect(
                    found.lines == [
                        "usable  password  bob at https://git.example          lanyard uses it already",
                        "usable  password  bob at https://git.example/a/b.git  lanyard uses it already",
                    ], "\(found)")
                let second = try await there.lanyard(["get"], input: "url=https://git.example/a/b.git\n")
                #expect(second.value("password") == "two", "\(second)")
                try there.write("device-mode = \"shared\"\n", to: "shared.toml", permissions: 0o600)
                @Sendable func onSharedDevice(_ words: String..., input: String = "") async throws -> Ended {
                    try await there.run(
                        Built.checkout + "/Tests/TestSupport/Scripts/with-system-file",
                        [there.folder + "/shared.toml", "lanyard"] + words, input: input)
                }
                #expect(try await onSharedDevice("get", input: "url=https://git.example\n").output.isEmpty)
                let copied = try await onSharedDevice("import", "--from", "git-libsecret")
                #expect(copied.errors == "lanyard: imported 2, skipped 0\n", "\(copied)")
                let first = try await onSharedDevice("get", input: "url=https://git.example\n")
                #expect(first.value("password") == "one", "\(first)")
            }
        }
    }

    @Test func `caches of azure-identity are read wherever they are, and stay as they are`() async throws {
        try await World.with(.secretService) { world in
            let token = try await world.tokenOfAlice()
            let url = "\(world.sandbox.resource)/common/hello.git"
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: nil)
            let named = "MsalClientID=Microsoft.Developer.IdentityService"
            for (attributes, item) in [
                ("xdg:schema=msal.cache.nocae \(named)", nil), ("xdg:schema=msal.cache.cae \(named)", nil),
                ("xdg:schema=msal.cache \(named)", nil), ("xdg:schema=mine.nocae \(named)", "mine"),
                (
                    "xdg:schema=org.freedesktop.Secret.Generic service=Microsoft.Developer.IdentityService "
                        + "account=MSALCache", nil
                ),
            ] as [(String, String?)] {
                try await elsewhere(world) { there in
                    let none = try await there.lanyard(["import", "--from", "azure-identity"])
                    #expect(none.status == 1 && none.errors.contains("azure-identity has no cache"), "\(none)")
                    try await there.keep(cache, attributes)
                    let words = ["import", "--from", "azure-identity"] + (item.map { ["--item", $0] } ?? [])
                    let imported = try await there.lanyard(words)
                    #expect(imported.errors.hasPrefix("lanyard: imported 2, skipped 1\n"), "\(attributes) \(imported)")
                    let renewed = try await there.lanyard(["token", "--non-interactive", url])
                    #expect(renewed.status == 0 && renewed.lines.first != token, "\(renewed)")
                }
            }
        }
    }

    @Test func `a cache that another program is writing is waited for, and what died is not`() async throws {
        try await World.with { world in
            _ = try await world.tokenOfAlice()
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: nil)
            try await elsewhere(world) { there in
                try there.write(cache, to: "whole.json", permissions: 0o600)
                try there.write(cache, to: "home/.IdentityService/msal.cache.nocae", permissions: 0o600)
                try there.write(
                    "2147483646 python", to: "home/.IdentityService/msal.cache.nocae.lockfile", permissions: 0o600)
                let stale = try await there.lanyard(["import", "--from", "azure-identity", "--dry-run"])
                #expect(stale.errors.hasPrefix("lanyard: would import 2, skip 1\n"), "\(stale)")
                #expect(stale.duration < .seconds(5), "it waited for nobody")
                // The file is incomplete while the lock is held, either in the kernel or by a running process.
                let held = """
                    cd "$1"; printf '{"Acc' >theirs.json
                    if [ "$2" = flock ]; then
                      flock theirs.json.lockfile sh -c 'touch begun; sleep 1; cat whole.json >theirs.json' &
                    else
                      ( sh -c 'echo "$PPID java"' >theirs.json.lockfile; touch begun
                        sleep 1; cat whole.json >theirs.json; rm theirs.json.lockfile ) &
                    fi
                    while [ ! -e begun ]; do sleep 0.02; done
                    lanyard import --from msal-extensions --file theirs.json --dry-run
                    wait
                    """
                for way in ["flock", "process"] {
                    let waited = try await there.run("sh", ["-c", held, "sh", there.folder, way])
                    #expect(waited.errors.hasPrefix("lanyard: would import 2, skip 1\n"), "\(way): \(waited)")
                    _ = try await there.run("rm", ["-f", "begun", "theirs.json.lockfile"])
                }
            }
        }
    }

    @Test func `the Azure Developer CLI's caches, and whatever keyring item or file is named, are read`() async throws {
        try await World.with(.secretService) { world in
            _ = try await world.tokenOfAlice()
            let cache = try azureCLICache(from: try await world.lanyard(["export"]).output, clientID: nil)
            try await elsewhere(world) { there in
                let none = try await there.lanyard(["import", "--from", "azd"])
                #expect(none.status == 1 && none.errors.contains("--from azure-cli"), "\(none)")
                let user = #"{"auth":{"account":{"currentUser":{"homeAccountId":"u.t"}}}}"#
                try there.write(user, to: "home/.azd/auth.json", permissions: 0o600)
                try there.write(cache, to: "home/.azd/auth/msal/cacheu.t.json", permissions: 0o600)
                try there.write("", to: "home/.azd/auth/msal/cacheu.t.json.lock", permissions: 0o600)
                let azd = try await there.lanyard(["import", "--from", "azd", "--dry-run"])
                #expect(
                    azd.errors == "lanyard: would import 2, skip 1\n"
                        || azd.errors.hasPrefix("lanyard: would import 2"), "\(azd)")
                let application = #"{"auth":{"account":{"currentUser":{"clientId":"c0","tenantId":"t"}}}}"#
                try there.write(application, to: "azd/auth.json", permissions: 0o600)
                let ownerless = try await there.lanyard(
                    ["import", "--from", "azd"], ["AZD_CONFIG_DIR": there.folder + "/azd"])
                #expect(ownerless.output.contains("an application's, not a user's"), "\(ownerless)")

                try await there.keep(cache, "xdg:schema=theirs colour=blue")
                let item = try await there.lanyard([
                    "import", "--from", "msal-extensions", "--item", "theirs", "--dry-run",
                ])
                #expect(item.errors.hasPrefix("lanyard: would import 2, skip 1\n"), "\(item)")
                let missing = try await there.lanyard(["import", "--from", "msal-extensions", "--item", "nobodys"])
                #expect(missing.status == 1 && missing.errors.contains("no item of the schema nobodys"), "\(missing)")
            }
        }
    }

    @Test func `tokens of gh and glab become git's passwords`() async throws {
        try await World.with(.secretService) { world in
            try await elsewhere(world) { there in
                for program in ["gh", "glab"] {
                    let none = try await there.lanyard(["import", "--from", program])
                    #expect(none.status == 1 && none.errors.contains("\(program) has no settings at"), "\(none)")
                }
                try there.write(
                    """
                    github.com:
                        git_protocol: https
                        users:
                            alice:
                            bob:
                                oauth_token: gho_bob
                        user: alice
                    ghe.example:
                        user: carol
                    nowhere.example:
                        user: dan
                    renewed.example:
                        users:
                            eve:
                            frank:
                                oauth_token: gho_frank
                        user: eve
                    """, to: "gh/hosts.yml", permissions: 0o644)
                try await there.keep("gho_alice", "service=gh:github.com username=")
                try await there.keep("ghs_carol", "service=gh:ghe.example username=carol")
                try await there.keep(
                    #"{"access_token":"gho_eve","refresh_token":"ghr_eve"}"#,
                    "service=gh:_refreshable:renewed.example username=eve")
                let gh = ["GH_CONFIG_DIR": there.folder + "/gh"]
                let imported = try await there.lanyard(["import", "--from", "gh"], gh)
                #expect(
                    imported.errors.hasPrefix("lanyard: imported 4, skipped 1\nlanyard: others can read "),
                    "\(imported)")
                // Whoever has pushed as eve would now push as frank.
                let change =
                    "lanyard: at renewed.example, gh uses eve; without a user name in its URL, git now signs in as frank\n"
                #expect(imported.errors.components(separatedBy: change).count == 2, "\(imported)")
                #expect(imported.errors.components(separatedBy: " now signs in as ").count == 2, "\(imported)")
                #expect(!imported.output.contains("gho_") && !imported.output.contains("ghs_"), "\(imported)")
                for (url, username, password) in [
                    ("https://github.com", "alice", "gho_alice"), ("https://bob@github.com", "bob", "gho_bob"),
                    ("https://ghe.example", "carol", "ghs_carol"),
                ] {
                    let got = try await there.lanyard(["get"], input: "url=\(url)\n")
                    #expect(got.value("username") == username && got.value("password") == password, "\(url) \(got)")
                }
                #expect(try await there.lanyard(["get"], input: "url=https://nowhere.example\n").output.isEmpty)

                try there.write(
                    """
                    hosts:
                        gitlab.example:
                            token: glpat-one
                            user: erin
                        oauth.example:
                            token: short
                            is_oauth2: "true"
                            user: erin
                        kept.example:
                            user: erin
                    """, to: "glab/config.yml", permissions: 0o600)
                try await there.keep("glpat-two", "service=glab:kept.example username=")
                let glab = ["GLAB_CONFIG_DIR": there.folder + "/glab"]
                let second = try await there.lanyard(["import", "--from", "glab"], glab)
                #expect(second.errors == "lanyard: imported 2, skipped 1\n", "\(second)")
                #expect(second.output.contains("only its own program can use it"), "\(second)")
                let third = try await there.lanyard(["import", "--from", "glab", "--dry-run", "--json"], glab)
                let entries = try JSONSerialization.jsonObject(with: Data(third.output.utf8)) as? [[String: String]]
                let refused = [
                    "kind": "password", "protocol": "https", "host": "oauth.example", "username": "erin",
                    "result": "skipped", "reason": "programs-own",
                ]
                #expect(entries?.contains(refused) == true, "\(third)")
                let kept = try await there.lanyard(["get"], input: "url=https://kept.example\n")
                #expect(kept.value("password") == "glpat-two", "\(kept)")
                try there.write("[broken", to: "glab/config.yml", permissions: 0o600)
                let broken = try await there.lanyard(["import", "--from", "glab"], glab)
                #expect(broken.status == 1 && broken.errors.contains("is not what glab writes"), "\(broken)")
            }
        }
    }

    @Test(arguments: ["", "[]", "nonsense", #"{"RefreshToken":7"#])
    func `what is no cache is an error`(_ document: String) async throws {
        let environment = ["PATH": Programs.folder, "HOME": "/nonexistent"]
        let ended = try await run(Built.lanyard, ["import", "-"], input: document, environment: environment)
        #expect(
            ended.status == 1 && ended.errors.hasPrefix("lanyard: error: the file on stdin is not an MSAL cache"),
            "\(ended)")
    }

    @Test(arguments: [
        [], ["x", "--from", "adal"], ["x", "--file", "y"], ["--from", "keepass"], ["--from", "msal-extensions"],
        ["--from", "gh", "--item", "x"], ["--from", "azure-identity", "--item", "x", "--file", "y"],
        ["x", "--item", "y"],
    ])
    func `a wrong command line is told of`(_ arguments: [String]) async throws {
        let environment = ["PATH": Programs.folder, "HOME": "/nonexistent"]
        let ended = try await run(Built.lanyard, ["import"] + arguments, environment: environment)
        #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
    }

    /// Returns a cache as the Azure CLI stores it: without lanyard's data, without access token, with the CLI's own ID
    /// token.
    private func azureCLICache(from exported: String, clientID: String?) throws -> String {
        var cache = try #require(
            try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: [String: [String: Any]]])
        cache["AccessToken"] = [:]
        for (section, entries) in cache {
            var changed: [String: [String: Any]] = [:]
            for (index, var entry) in entries.values.enumerated() {
                if section == "IdToken" { entry["client_id"] = "04b07795-8ddb-461a-bbee-02f9e1bf7b46" }
                if let clientID, section == "RefreshToken" { entry["client_id"] = clientID }
                changed["a key of the CLI's \(index)"] = entry
            }
            cache[section] = changed
        }
        return String(decoding: try JSONSerialization.data(withJSONObject: cache), as: UTF8.self)
    }
}

/// Another machine's home.
struct Elsewhere: Sendable {
    let environment: [String: String]
    let folder: String

    @discardableResult
    func lanyard(_ arguments: [String], _ extra: [String: String] = [:], input: String = "") async throws -> Ended {
        try await TestSupport.run(
            "lanyard", arguments, input: input, environment: environment.merging(extra) { $1 }, folder: folder)
    }

    func run(_ program: String, _ arguments: [String], input: String = "") async throws -> Ended {
        try await TestSupport.run(program, arguments, input: input, environment: environment, folder: folder)
    }

    /// Stores a secret in the keyring as other programs do: `name=value` attributes, separated by spaces.
    func keep(_ secret: String, _ attributes: String) async throws {
        let words = attributes.split(separator: " ").flatMap { pair in
            pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        }
        let stored = try await run("secret-tool", ["store", "--label", "x"] + words, input: secret)
        #expect(stored.status == 0, "\(stored)")
    }

    func write(_ text: String, to name: String, permissions: Int) throws {
        let path = "\(folder)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: permissions])
    }
}
