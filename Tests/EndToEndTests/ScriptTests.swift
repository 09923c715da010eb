import Foundation
import TestSupport
import Testing

/// The commands that scripts run to get a token.
@Suite struct ScriptTests {
    @Test func `exec runs a command with the token in its environment, in lanyard's place`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let without = try await world.lanyard(["exec", url, "--", "echo", "ran"])
            #expect(without.status == 2 && without.output.isEmpty, "\(without)")
            let before = Date().timeIntervalSince1970
            let first = try await world.lanyard(
                ["exec", url, "--", "sh", "-c", #"echo "$LANYARD_ACCESS_TOKEN"; echo "$LANYARD_TOKEN_EXPIRES_ON""#],
                world.browser(as: "alice@contoso.example"))
            let token = try #require(first.lines.first)
            #expect(first.status == 0 && token.split(separator: ".").count == 3, "\(first)")
            #expect((first.lines.last.flatMap(Double.init) ?? 0) > before + 300)

            let named = try await world.lanyard(
                [
                    "exec", url, "--env", "MY_PAT", "--env", "OTHER", "--", "sh", "-c",
                    #"echo "$MY_PAT $OTHER [$LANYARD_ACCESS_TOKEN] $KEPT""#,
                ], ["MY_PAT": "old", "KEPT": "kept"])
            #expect(named.output == "\(token) \(token) [] kept\n", "\(named)")
            #expect(named.errors.isEmpty)
        }
    }

    @Test func `exec gives the command's own status, signals and limits`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            func exec(_ words: String...) async throws -> Ended {
                try await world.lanyard(["exec", url, "--"] + words)
            }
            try await world.lanyard(["login", url], world.browser(as: "alice@contoso.example"))
            #expect(try await exec("sh", "-c", "exit 7").status == 7)
            #expect(try await exec("sh", "-c", "kill -TERM $$").status == -15)
            let missing = try await exec("no-such-command")
            #expect(missing.status == 127, "\(missing)")
            #expect(
                missing.errors == "lanyard: error: no-such-command can't be run: No such file or directory\n")
            #expect(try await exec("/tmp").status == 126)
            let look = ["sh", "-c", "ulimit -c; exec grep -E 'SigBlk|SigIgn' /proc/self/status"]
            let plain = try await run("/bin/sh", Array(look.dropFirst()), environment: world.environment)
            let below = try await world.lanyard(["exec", url, "--"] + look)
            #expect(below.lines.map(standardSignals) == plain.lines.map(standardSignals), "\(below)")
            #expect(below.lines.count == 3)
            let files = try await exec("ls", "/proc/self/fd")
            #expect(files.lines.count <= 4, "\(files)")
        }
    }

    /// Returns a line of /proc/self/status without the signals of the C library and the real-time signals.
    private func standardSignals(_ line: String) -> String {
        guard let mask = line.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) }), line.contains(":") else {
            return line
        }
        return String(mask & 0x7FFF_FFFF, radix: 16)
    }

    @Test(arguments: [["--env", "1A"], ["--env", "A-B"], ["--env", ""], ["--env", "LANYARD_TOKEN_EXPIRES_ON"]])
    func `exec refuses what can't name a variable`(_ options: [String]) async throws {
        let environment = ["PATH": Programs.folder, "HOME": "/nonexistent"]
        let ended = try await run(Built.lanyard, ["exec"] + options + ["--", "true"], environment: environment)
        #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
        let nothing = try await run(Built.lanyard, ["exec", "true"], environment: environment)
        #expect(nothing.status == 64, "\(nothing)")
    }

    @Test func `token, its header, its JSON, exec and get give the same token`() async throws {
        try await World.with { world in
            let authority = "\(world.sandbox.authority)/common"
            let names = [
                "--authority", authority, "--client-id", world.sandbox.clientID, "--scope",
                "https://graph.microsoft.com/User.Read",
            ]
            let bare = try await world.lanyard(["token"] + names, world.browser(as: "alice@contoso.example"))
            let token = try #require(bare.lines.first)
            #expect(bare.output == token + "\n")
            let header = try await world.lanyard(["token", "--header"] + names)
            #expect(header.output == "Authorization: Bearer \(token)\n", "\(header)")
            let shaped = try await world.lanyard(["token", "--json"] + names, ["TZ": "Asia/Kolkata"])
            let az = try #require(try JSONSerialization.jsonObject(with: Data(shaped.output.utf8)) as? [String: Any])
            #expect(Set(az.keys) == ["accessToken", "expiresOn", "expires_on", "tenant", "tokenType"])
            #expect(az["accessToken"] as? String == token)
            let local = DateFormatter()
            local.timeZone = TimeZone(identifier: "Asia/Kolkata")
            local.locale = Locale(identifier: "en_US_POSIX")
            local.dateFormat = "yyyy-MM-dd HH:mm:ss.SSSSSS"
            let moment = try #require(az["expires_on"] as? Double)
            #expect(az["expiresOn"] as? String == local.string(from: Date(timeIntervalSince1970: moment)))
            let both = try await world.lanyard(["token", "--json", "--header"] + names)
            #expect(both.status == 64 && both.output.isEmpty)

            let exec = try await world.lanyard(["exec"] + names + ["--", "printenv", "LANYARD_ACCESS_TOKEN"])
            #expect(exec.output == bare.output, "\(exec)")
            let explicit = "authority=\(authority)\nclient_id=\(world.sandbox.clientID)\n"
            let asked = try await world.lanyard(
                ["get"],
                input: "capability[]=authtype\n\(explicit)scope[]=https://graph.microsoft.com/User.Read\n"
                    + "account=alice@contoso.example\nprompt=none\n")
            #expect(asked.value("credential") == token, "\(asked)")
            let renewed = try await world.lanyard(
                ["get"],
                input: "\(explicit)scope[]=https://graph.microsoft.com/User.Read\n"
                    + #"claims={"access_token":{"xms_cc":{"values":["CP1"]}}}"# + "\n")
            #expect(renewed.status == 0 && renewed.value("password") != token, "\(renewed)")

            let me = try await world.shell(
                #"lanyard token --header \#(names.joined(separator: " ")) | curl -sS --cacert "$CA" -H @- "$R/v1.0/me""#
            )
            #expect(me.output.contains("alice@contoso.example"), "\(me)")
        }
    }

    /// URLs that curl reads as evil.example's, but careless parsers as a host's with a rule.
    static let misleading = ["/\u{301}", "?\u{301}", "#\u{200D}", "/\u{FE0F}", "\\", "\u{D4E}/", "/\u{20E3}"]

    @Test func `a URL that leads elsewhere gets no token`() async throws {
        try await World.with { world in
            _ = try await world.tokenOfAlice()
            let host = world.sandbox.resource.dropFirst("https://".count)
            for mark in Self.misleading {
                let url = "https://evil.example\(mark)@\(host)/common/hello.git"
                for command in [["token", "--header", url], ["token", url], ["exec", url, "--", "echo", "ran"]] {
                    let ended = try await world.lanyard(command)
                    #expect(ended.status != 0 && ended.hasNoCredential, "\(url.debugDescription): \(ended)")
                }
                let asked = try await world.lanyard(["get"], input: "url=\(url)\n")
                #expect(asked.hasNoCredential, "\(url.debugDescription): \(asked)")
                let piped = try await world.shell(#"lanyard token --header "$U""#, ["U": url])
                #expect(piped.status != 0 && piped.output.isEmpty, "\(url.debugDescription): \(piped)")
            }
            let good = try await world.lanyard(["token", "--header", "https://\(host)/common/hello.git"])
            #expect(good.status == 0 && good.output.hasPrefix("Authorization: Bearer "), "\(good)")
        }
    }

    @Test func `the documentation's function asks a mapped URL with its token, and nothing without one`() async throws {
        try await World.with { world in
            let text = try String(contentsOfFile: Built.checkout + "/docs/scripting.md", encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex(of: "entra() {"))
            let function = lines[start...].prefix { !$0.isEmpty }.joined(separator: "\n")
            _ = try await world.tokenOfAlice()
            let url = #"$R/common/hello.git/info/refs?service=git-upload-pack"#
            let variables = ["CURL_CA_BUNDLE": world.sandbox.caFile]
            let refs = try await world.shell("\(function)\nentra \"\(url)\" --output /dev/null", variables)
            #expect(refs.status == 0 && refs.output.isEmpty, "\(refs)")
            let unmapped = try await world.shell("\(function)\nentra \"$A/common/x\"", variables)
            #expect(unmapped.status == 1 && unmapped.errors.contains("no rule maps"), "\(unmapped)")
        }
    }
}

extension World {
    /// Runs a shell command in the world; `$R` is the sandbox's resource and `$CA` its certificate.
    func shell(_ line: String, _ extra: [String: String] = [:]) async throws -> Ended {
        let variables = ["R": sandbox.resource, "CA": sandbox.caFile, "A": sandbox.authority]
        return try await run(
            "/bin/bash", ["-c", line],
            environment: environment.merging(variables) { $1 }.merging(extra) { $1 }, folder: folder + "/work")
    }
}
