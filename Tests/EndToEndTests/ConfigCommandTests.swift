import Foundation
import TestSupport
import Testing

/// `config get`, `set`, `unset` and `list`.
@Suite struct ConfigCommandTests {
    @Test func `a setting is set, read, listed with its place, and unset`() async throws {
        try await Home.with { home in
            try home.write("# mine\n\nflow = \"browser\"   # always\n", to: home.configFile)
            let set = try await home.lanyard(["config", "set", "timeout", "600"])
            #expect(set.status == 0 && set.output.isEmpty, "\(set)")
            #expect(set.errors == "lanyard: timeout is now 600, in \(home.configFile)\n", "\(set)")
            #expect(try home.text(home.configFile) == "# mine\n\nflow = \"browser\"   # always\ntimeout = 600\n")
            #expect(try await home.lanyard(["config", "get", "timeout"]).output == "600\n")
            let hosts = ["a.example", "b.example"]
            #expect(try await home.lanyard(["config", "set", "known-authorities"] + hosts).status == 0)
            #expect(try await home.lanyard(["config", "get", "known-authorities"]).lines == hosts)
            let list = try await home.lanyard(["config", "list"], ["LANYARD_CLIENT_ID": "mine"])
            let rows = Set(list.lines.map { $0.split(separator: " ").joined(separator: " ") })
            let expected = [
                "KEY VALUE FROM", "flow browser \(home.configFile):3", "timeout 600 \(home.configFile):4",
                "known-authorities a.example b.example \(home.configFile):5", "client-id mine LANYARD_CLIENT_ID",
                "answer-cache true default", "authority - not set",
            ]
            #expect(rows.isSuperset(of: expected) && list.lines.count == 14, "\(list)")
            let unset = try await home.lanyard(["config", "unset", "timeout"])
            #expect(unset.errors == "lanyard: timeout is no longer set in \(home.configFile)\n", "\(unset)")
            #expect(try await home.lanyard(["config", "get", "timeout"]).output == "900\n")
            let again = try await home.lanyard(["config", "unset", "timeout"])
            #expect(again.status == 0 && again.errors.contains("timeout is not set in"), "\(again)")
        }
    }

    @Test func `the list is JSON for programs`() async throws {
        try await Home.with { home in
            try home.write("timeout = 60\n", to: home.configFile)
            let list = try await home.lanyard(["config", "list", "--json"], ["LANYARD_FLOW": "browser"])
            let settings = try #require(
                try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
            func setting(_ key: String) throws -> [String: Any] {
                try #require(settings.first { $0["key"] as? String == key })
            }
            let timeout = try setting("timeout")
            #expect(timeout["value"] as? Int == 60 && timeout["from"] as? String == "file")
            #expect(timeout["line"] as? Int == 1 && timeout["file"] as? String == home.configFile)
            #expect(timeout["locked"] as? Bool == false)
            #expect(try setting("flow")["variable"] as? String == "LANYARD_FLOW")
            let account = try setting("account")
            #expect(account["value"] is NSNull && account["from"] as? String == "default")
        }
    }

    @Test(arguments: [
        (["set", "timeout", "soon"], 64, "`timeout` must be a whole number"),
        (["set", "flow", "brwser"], 64, "did you mean \"browser\"?"),
        (["set", "authority", "http://login.example/x"], 64, "must be an https URL"),
        (["set", "timeuot", "60"], 64, "did you mean timeout?"), (["get", "rule"], 64, "lanyard help rule"),
        (["set", "policy", "x"], 64, "edited by hand"),
        (["set", "device-mode", "shared"], 64, "sudo lanyard config set --system device-mode shared"),
        (["set", "browser", "firefox 'unclosed"], 64, "a quote isn't closed"),
        (["set", "ca-file", "/nope.pem"], 64, "/nope.pem can't be read"),
        (["set", "ca-file", "/etc/passwd"], 64, "/etc/passwd holds no certificate"),
        (["set", "default-identity", "envirnment"], 64, "did you mean environment?"),
        (["set", "client-id", "azurecli"], 64, "lanyard config set client-id azure-cli"),
        (["get", "authority"], 1, ""),
    ])
    func `what is wrong is said, and nothing is written`(_ words: [String], _ status: Int32, _ text: String)
        async throws
    {
        try await Home.with { home in
            let ended = try await home.lanyard(["config"] + words)
            #expect(ended.status == status && ended.output.isEmpty, "\(ended)")
            #expect(text.isEmpty ? ended.errors.isEmpty : ended.errors.contains(text), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
        }
    }

    @Test func `a browser's command that can't be split keeps no command from working`() async throws {
        try await Home.with(.unlocked) { home in
            try home.write("browser = \"firefox 'unclosed\"\n", to: home.configFile)
            let unset = ["lanyard config unset browser"]
            #expect(try await home.lanyard(["forward", "list"]).status == 0)
            #expect(try await home.lanyard(["status", "--accounts"]).errors.contains("quote") == false)
            let doctor = try await home.lanyard(["doctor"])
            #expect(unset.allSatisfy(doctor.output.contains), "\(doctor)")
        }
    }

    @Test func `a browser that isn't there is set, and that it opens nothing is said`() async throws {
        try await Home.with { home in
            for (value, told) in [
                ("nosuchbrowser --new", "no program nosuchbrowser on PATH"), ("/no/browser", "no program /no/browser,"),
                ("/bin/true %s", nil), ("none", nil),
            ] {
                let set = try await home.lanyard(["config", "set", "browser", value])
                #expect(set.status == 0 && set.errors.contains("warning") == (told != nil), "\(set)")
                #expect(set.errors.contains(told ?? "browser is now \(value), in"), "\(set)")
            }
        }
    }

    @Test func `what wins over a change is told, and a wrong file is left alone`() async throws {
        try await Home.with { home in
            let set = try await home.lanyard(["config", "set", "flow", "browser"], ["LANYARD_FLOW": "auto"])
            #expect(set.status == 0, "\(set)")
            #expect(set.errors.hasSuffix("lanyard: the value in effect is set by LANYARD_FLOW\n"), "\(set)")
            try home.write("flow = browser\n", to: home.configFile)
            let wrong = try await home.lanyard(["config", "set", "timeout", "60"])
            #expect(wrong.status == 1 && wrong.errors.contains("config.toml:1: not valid TOML"), "\(wrong)")
            #expect(try home.text(home.configFile) == "flow = browser\n")
            for command in ["status", "token", "login"] {
                let ended = try await home.lanyard([command])
                let hint = "config.toml:1: not valid TOML"
                #expect(ended.status == 1 && ended.errors.contains(hint), "\(ended)")
                #expect(
                    ended.errors.contains("\nlanyard: hint: what may stand there: man 5 lanyard-config\n"), "\(ended)")
            }
        }
    }

    @Test func `keys and values are completed`() async throws {
        try await Home.with { home in
            func offered(_ words: String...) async throws -> [String] {
                let answer = try await answered {
                    try await home.lanyard(["complete", "fish", "lanyard", "config"] + words)
                }
                return answer.lines.map { String($0.prefix { $0 != "\t" }) }
            }
            let keys = try await offered("get", "")
            #expect(keys.contains("known-authorities"))
            #expect(try await offered("set", "flow", "") == ["values", "auto", "browser", "device-code", "broker"])
            #expect(try await offered("set", "answer-cache", "") == ["values", "true", "false"])
            #expect(try await offered("set", "ca-file", "") == ["files"])
            let options = try await offered("unset", "--sys")
            #expect(options.contains("--system"))
        }
    }

    @Test func `an authority may be named by its domain`() async throws {
        try await Home.with { home in
            let set = try await home.lanyard(["config", "set", "authority", "contoso.com"])
            #expect(set.status == 0, "\(set)")
            let got = try await home.lanyard(["config", "get", "authority"])
            #expect(got.output == "https://login.microsoftonline.com/contoso.com\n", "\(got)")
        }
    }
}
