import Foundation
import JSON
import TestSupport
import Testing
import Vectors

/// Unmodified azure-identity, run by `lanyard exec --as`.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools has no SDK"))
struct StandInTests {
    /// Prints the token of an azure-identity credential for a scope, or its error.
    private static let program = """
        import sys
        from azure import identity
        try:
            token = getattr(identity, sys.argv[1])().get_token(sys.argv[2])
            print(token.expires_on, token.token)
        except Exception as error:
            print(type(error).__name__, error)
        """
    private static let scope = "api://sandbox-git/.default"
    private static let resource = "api://sandbox-git"

    private static func configure(_ world: World) throws {
        try world.configure(
            before: """
                authority = "\(world.sandbox.authority)/common"
                client-id = "\(world.sandbox.clientID)"
                """)
    }

    /// Returns the options that select what is imitated.
    private static func options(_ name: String) -> [String] {
        ["--as", name] + (name == "managed-identity" ? ["--resource", resource] : [])
    }

    private static func given(
        _ world: World, as name: String, _ credential: String, _ extra: [String: String] = [:], scope: String = scope
    ) async throws -> Ended {
        try await world.lanyard(
            ["exec"] + options(name) + ["--", Clients.program("python"), "-c", program, credential, scope], extra)
    }

    /// Runs a shell script with a managed identity.
    private static func shell(_ world: World, _ script: String, _ extra: [String: String] = [:]) async throws -> Ended {
        try await world.lanyard(["exec"] + options("managed-identity") + ["--", "sh", "-c", script], extra)
    }

    private static func claim(_ name: String, of token: String) throws -> Double {
        let part = try #require(token.split(separator: ".").dropFirst().first)
        var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        let claims = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: text))) as? [String: Any]
        return try #require(claims?[name] as? Double)
    }

    @Test(arguments: ["UTC", "Asia/Tokyo"])
    func `azure-identity gets the stored token, whichever credential it uses`(_ zone: String) async throws {
        try await World.with { world in
            try Self.configure(world)
            try await world.signIn("alice@contoso.example")
            let expected = try await world.lanyard([
                "token", "--authority", "\(world.sandbox.authority)/common", "--scope", Self.scope,
            ]).output
            let end = try Self.claim("exp", of: expected)
            try await world.sandbox.clearLog()
            for (name, credential, chosen) in [
                ("azure-cli", "AzureCliCredential", nil), ("azd", "AzureDeveloperCliCredential", nil),
                ("managed-identity", "ManagedIdentityCredential", nil),
                ("azure-cli", "DefaultAzureCredential", "azureclicredential"),
                ("azd", "DefaultAzureCredential", "AzureDeveloperCliCredential"),
                ("managed-identity", "DefaultAzureCredential", "managedidentitycredential"),
                ("managed-identity", "DefaultAzureCredential", "prod"),
                ("managed-identity", "DefaultAzureCredential", nil),
            ] {
                var variables = ["TZ": zone]
                variables["AZURE_TOKEN_CREDENTIALS"] = chosen
                let given = try await Self.given(world, as: name, credential, variables)
                #expect(given.status == 0 && given.errors.isEmpty, "\(name) \(given)")
                #expect(given.output.hasSuffix(" \(expected)"), "\(name) \(credential) \(given)")
                // azure-identity reads azd's UTC as local time.
                let error = name == "azd" && zone == "Asia/Tokyo" ? -9.0 * 3600 : 0
                let told = try #require(Double(given.output.prefix { $0 != " " }))
                #expect(abs(told - end - error) < 5, "\(name) \(credential) in \(zone): \(told), not \(end)")
            }
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 0)
        }
    }

    @Test func `without a sign-in nobody is asked behind a program's back`() async throws {
        try await World.with { world in
            try Self.configure(world)
            let browser = world.browser(as: "alice@contoso.example")
            let azd = try await Self.given(world, as: "azd", "AzureDeveloperCliCredential", browser)
            #expect(azd.output.hasPrefix("CredentialUnavailableError Please run 'azd auth login'"), "\(azd)")
            // There is no user, so the command, which would fail, doesn't run.
            let identity = try await Self.given(world, as: "managed-identity", "ManagedIdentityCredential")
            #expect(identity.status == 2 && identity.output.isEmpty, "\(identity)")
            #expect(identity.errors.contains("lanyard login"), "\(identity)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 0)
        }
    }

    @Test func `whoever is here signs in before the command runs, and an SDK shows what is to be done later`()
        async throws
    {
        try await World.with { world in
            try Self.configure(world)
            let python = Clients.program("python")
            try Self.program.write(toFile: world.folder + "/ask.py", atomically: true, encoding: .utf8)
            let script = """
                \(python) '\(world.folder)/ask.py' ManagedIdentityCredential \(Self.scope)
                lanyard logout --all >/dev/null 2>&1
                \(python) '\(world.folder)/ask.py' ManagedIdentityCredential \(Self.scope)
                """
            let ended = try await Self.shell(world, script, world.browser(as: "alice@contoso.example"))
            #expect(ended.status == 0 && ended.lines.count >= 2, "\(ended)")
            #expect(ended.lines.first?.split(separator: " ").count == 2, "\(ended)")
            let refusal = ended.lines.dropFirst().joined(separator: " ")
            #expect(refusal.contains("400") && refusal.contains("lanyard login"), "\(ended)")
        }
    }

    @Test func `a managed identity ends with its command, however that ends`() async throws {
        try await World.with { world in
            try Self.configure(world)
            try await world.signIn("alice@contoso.example")
            let left = try await Self.shell(world, "echo \"$IDENTITY_ENDPOINT\"; exit 7")
            #expect(left.status == 7, "\(left)")
            let url = try #require(left.lines.first)
            #expect(url.hasPrefix("http://127.0.0.1:") && url.hasSuffix("/msi/token"))
            let gone = """
                for i in $(seq 400); do curl -s -o '\(world.folder)/x' "$1" || break; sleep 0.05; done
                curl -s "$1"; echo $?
                """
            let after = try await world.runInside("sh", ["-c", gone, "sh", url])
            #expect(after.lines.last == "7", "\(after)")

            let kill = """
                lanyard exec --as managed-identity --resource \(Self.resource) -- \
                  sh -c 'echo "$IDENTITY_ENDPOINT" >endpoint.new; mv endpoint.new endpoint; exec sleep 600' &
                pid=$!
                while [ ! -s endpoint ]; do sleep 0.05; done
                url=$(cat endpoint)
                curl -s -o '\(world.folder)/x' -w '%{http_code}\\n' "$url"
                kill -9 $pid
                set -- "$url"
                """
            let killed = try await world.runInside("sh", ["-c", kill + "\n" + gone])
            #expect(killed.lines == ["401", "7"], "\(killed)")
            let missing = try await world.lanyard(
                ["exec"] + Self.options("managed-identity") + ["--", "no-such-program"])
            #expect(missing.status == 127, "\(missing)")
        }
    }

    @Test func `only the command's own requests get a token, and the secret is in no arguments`() async throws {
        try await World.with { world in
            try Self.configure(world)
            try await world.signIn("alice@contoso.example")
            let script = """
                set -- "$IDENTITY_ENDPOINT?api-version=2019-08-01&resource=\(Self.resource)"
                header="X-IDENTITY-HEADER: $IDENTITY_HEADER"
                ask() { curl -s -o answer -w '%{http_code}' "$@"; grep -q access_token answer && echo ' token' || echo; }
                ask -H "$header" "$1"
                ask "$1"
                ask -H 'X-IDENTITY-HEADER: other' "$1"
                ask -H "$header" -H 'X-Forwarded-For: 10.0.0.1' "$1"
                ask -H "$header" -H 'Host: rebound.example' "$1"
                ask -H "$header" -X POST "$1"
                ask -H "$header" "$IDENTITY_ENDPOINT?api-version=2019-08-01&resource=https://graph.example"
                env | grep -c -e '^MSI_' -e THUMBPRINT -e IMDS
                echo "$no_proxy"
                printf '%s' "$IDENTITY_HEADER" >secret
                grep -l -a -F -f secret /proc/[0-9]*/cmdline 2>/dev/null
                env -u IDENTITY_HEADER grep -l -a -F -f secret /proc/[0-9]*/environ 2>/dev/null >found
                sed "\\|^/proc/$$/|d" found
                """
            let ended = try await Self.shell(
                world, script,
                [
                    "MSI_ENDPOINT": "http://x", "MSI_SECRET": "x", "IDENTITY_SERVER_THUMBPRINT": "x",
                    "IMDS_ENDPOINT": "x",
                    "http_proxy": "http://127.0.0.1:9", "no_proxy": "a.example",
                ])
            #expect(
                ended.lines.prefix(9) == [
                    "200 token", "401", "401", "403", "421", "405", "400", "0", "a.example,127.0.0.1",
                ], "\(ended)")
            #expect(!ended.output.contains("/proc/"), "\(ended)")
        }
    }

    @Test func `many requests at once are one renewal`() async throws {
        try await World.with { world in
            try Self.configure(world)
            try await world.signIn("alice@contoso.example")
            try await world.sandbox.clearLog()
            let script = """
                url="$IDENTITY_ENDPOINT?api-version=2019-08-01&resource=\(Self.resource)"
                seq 64 | xargs -P 64 -I{} curl -s -o 'token.{}' -H "X-IDENTITY-HEADER: $IDENTITY_HEADER" "$url"
                cat token.* | grep -o '"access_token":"[^"]*"' | sort | uniq -c | wc -l
                cat token.* | grep -o '"access_token"' | wc -l
                """
            let ended = try await Self.shell(world, script)
            #expect(ended.lines == ["1", "64"], "\(ended)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") <= 1)
        }
    }

    @Test func `the real azd gets its tokens from lanyard, and SDKs find lanyard in its place`() async throws {
        try await World.with { world in
            try Self.configure(world)
            try await world.signIn("alice@contoso.example")
            let real = world.folder + "/bin/azd"
            try """
            #!/bin/sh
            echo "real $*"
            [ -n "$AZD_AUTH_ENDPOINT" ] || exit 0
            curl -s -H "Authorization: Bearer $AZD_AUTH_KEY" -H 'Content-Type: application/json' \
              -d '{"scopes":["\(Self.scope)"]}' "$AZD_AUTH_ENDPOINT/token?api-version=2023-07-12-preview"
            lanyard logout --all >/dev/null 2>&1
            curl -s -H "Authorization: Bearer $AZD_AUTH_KEY" -H 'Content-Type: application/json' \
              -d '{"scopes":["\(Self.scope)"]}' "$AZD_AUTH_ENDPOINT/token?api-version=2023-07-12-preview"
            """.write(toFile: real, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: real)
            // The proxy, which nothing answers at, isn't for lanyard's own port.
            let shown = try await world.lanyard(
                [
                    "exec", "--as", "azd", "--", "sh", "-c",
                    "azd auth login; azd auth token --output json --scope \(Self.scope); azd up --no-prompt",
                ], ["http_proxy": "http://127.0.0.1:9"])
            let lines = shown.lines
            #expect(lines.count == 4 && lines[0] == "real auth login" && lines[2] == "real up --no-prompt", "\(shown)")
            let token = try #require(JSONValue(bytes: lines[1].utf8)?["token"]?.string)
            #expect(lines[3].hasPrefix("{") && lines[3].contains(#""status":"success""#), "\(shown)")
            #expect(lines[3].contains("\"token\":\"\(token)\"") && lines[3].contains("NotSignedInError"), "\(shown)")
        }
    }

    @Test(arguments: [
        ["--as", "managed-identity"], ["--as", "managed-identity", "--resource", "https://x.example/.default"],
        ["--as", "managed-identity", "--resource", "x", "--scope", "y"], ["--as", "azd", "--resource", "x"],
        ["--as", "managed-identity", "--resource", "x", "--env", "Y"], ["--as", "az"],
    ])
    func `a command line that leaves open what is served is refused`(_ options: [String]) async throws {
        let environment = ["PATH": Programs.folder, "HOME": "/nonexistent"]
        let ended = try await run(Built.lanyard, ["exec"] + options + ["--", "echo", "ran"], environment: environment)
        #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
    }

    /// Runs azure-identity with the program's output in a case, and checks its result.
    @Test(arguments: ["az-reply", "azd-reply"])
    func `azure-identity takes replies as the cases say`(_ category: String) async throws {
        try await ScratchDirectory.with { try await Self.compare(category, in: $0.path) }
    }

    private static func compare(_ category: String, in folder: String) async throws {
        let program = category == "az-reply" ? "az" : "azd"
        let name = program == "az" ? "AzureCliCredential" : "AzureDeveloperCliCredential"
        let python = """
            import sys
            from azure import identity
            claims = sys.argv[1] or None
            try:
                print(identity.\(name)().get_token("r/.default", claims=claims).expires_on)
            except identity.CredentialUnavailableError:
                print("goes on")
            except Exception:
                print("ends")
            """
        for vector in BrokerVectors.followed(category) where vector.id.contains("/python-") {
            let printed = vector.input["stdout"].map { $0.members == nil ? $0.string ?? "" : $0.encodedText } ?? ""
            let path = folder + "/\(program)"
            try """
            #!/bin/sh
            touch '\(folder)/called'
            printf '%s' '\(vector.text("stderr")?.replacing("'", with: "'\\''") ?? "")' >&2
            printf '%s' '\(printed)'
            exit \(vector.input["exit"]?.wholeNumber ?? 0)
            """.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            try? FileManager.default.removeItem(atPath: folder + "/called")
            let ended = try await run(
                Clients.program("python"), ["-c", python, vector.text("claims") ?? ""],
                environment: ["PATH": "\(folder):\(Programs.folder)", "TZ": vector.text("tz") ?? "UTC"])
            let expected =
                vector.expect["expires_on"]?.wholeNumber.map { String($0) } ?? vector.expected("chain") ?? "ends"
            #expect(ended.lines == [expected], "\(vector.id): \(ended)")
            if vector.expect["called"] == .bool(false) {
                #expect(!FileManager.default.fileExists(atPath: folder + "/called"), "\(vector.id)")
            }
        }
    }

    @Test(arguments: BrokerVectors.followed("default-chain"))
    func `DefaultAzureCredential asks whom the variable names`(_ vector: VectorCase) async throws {
        let python = """
            from azure import identity
            try:
                print(" ".join(type(each).__name__ for each in identity.DefaultAzureCredential().credentials))
            except ValueError:
                print("error")
            """
        let ended = try await run(
            Clients.program("python"), ["-c", python],
            environment: [
                "PATH": Programs.folder, "AZURE_TOKEN_CREDENTIALS": vector.text("AZURE_TOKEN_CREDENTIALS") ?? "",
            ])
        let names = vector.expect["error"] == .bool(true) ? ["error"] : vector.expectedTexts("credentials")
        #expect(ended.lines.first?.split(separator: " ").map(String.init) == names, "\(ended)")
    }
}
