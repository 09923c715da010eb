import Foundation
import TestSupport
import Testing

/// `configure TOOL` and `unconfigure TOOL`, in the tools' files.
@Suite struct ConfigureToolTests {
    /// A tool's file before, and its required contents once the tool uses lanyard.
    struct Tool: Sendable, CustomTestStringConvertible {
        let name: String
        var url: String?
        let file: String
        /// The file before; nil if there is none.
        var before: String?
        let after: String

        var arguments: [String] { [name] + [url].compactMap(\.self) + ["--yes"] }
        var testDescription: String { "\(name) \(url ?? "") \(before == nil ? "new" : "")" }
    }

    private static let docker = "{\n\t\"auths\": {\n\t\t\"a.example\": {}\n\t}\n}"
    private static let cargo = "# mine\n[registry]\ndefault = \"x\" # here\n\n[net]\ngit-fetch-with-cli = true\n"

    /// A kubeconfig as kubectl writes it, with a user whose token comes from a program.
    private static func kubelogin(_ command: String, _ arguments: [String], _ more: String...) -> String {
        let exec =
            ["exec:", "  apiVersion: client.authentication.k8s.io/v1beta1", "  args:"]
            + arguments.map { "  - \($0)" } + ["  command: \(command)", "  env: null"] + more
        return """
            apiVersion: v1
            kind: Config
            preferences: {}
            users:
            - name: other
              user:
                exec:
                  apiVersion: client.authentication.k8s.io/v1beta1
                  args:
                  - get-token
                  - --login
                  - spn
                  command: kubelogin
                  env: null
            - name: aks
              user:
            \(exec.map { "    \($0)" }.joined(separator: "\n"))
            - name: token
              user:
                token: x

            """
    }

    /// lanyard's file for a registry's token.
    private static let tokenHelper = ".local/share/lanyard/token-helpers/npm.contoso.com-DIGEST"

    private static let tools = [
        Tool(name: "docker", file: ".docker/config.json", after: "{\n\t\"credsStore\": \"lanyard\"\n}\n"),
        Tool(
            name: "docker", file: ".docker/config.json", before: " \n",
            after: "{\n\t\"credsStore\": \"lanyard\"\n}\n"),
        Tool(
            name: "docker", file: ".docker/config.json", before: docker,
            after: docker.replacing("\t}\n}", with: "\t},\n\t\"credsStore\": \"lanyard\"\n}")),
        Tool(
            name: "docker", file: ".docker/config.json", before: "{\"credsStore\":\"secretservice\"}",
            after: "{\"credsStore\":\"lanyard\"}"),
        Tool(
            name: "docker", url: "https://contoso.azurecr.io", file: ".docker/config.json",
            before: "{ \"credsStore\": \"pass\" }",
            after: "{ \"credsStore\": \"pass\", \"credHelpers\": {\n\t\t\"contoso.azurecr.io\": \"lanyard\"\n\t} }"),
        Tool(
            name: "docker", url: "docker.io", file: ".docker/config.json",
            after: "{\n\t\"credHelpers\": {\n\t\t\"https://index.docker.io/v1/\": \"lanyard\"\n\t}\n}\n"),
        Tool(
            name: "podman", url: "https://index.docker.io/v1/", file: ".config/containers/auth.json",
            after: "{\n\t\"credHelpers\": {\n\t\t\"docker.io\": \"lanyard\"\n\t}\n}\n"),
        Tool(
            name: "bazel", url: "*.contoso.com", file: ".bazelrc",
            after: "common --credential_helper=*.contoso.com=bazel-credential-lanyard\n"),
        Tool(
            name: "cargo", file: ".cargo/config.toml",
            after: "[registry]\nglobal-credential-providers = [\"cargo:token\", \"cargo-credential-lanyard\"]\n"),
        Tool(
            name: "cargo", file: ".cargo/config.toml", before: cargo,
            after: cargo.replacing(
                "# here\n",
                with: "# here\nglobal-credential-providers = [\"cargo:token\", \"cargo-credential-lanyard\"]\n")),
        Tool(
            name: "cargo", file: ".cargo/config.toml",
            before: "[registry]\nglobal-credential-providers = [\n  'cargo:libsecret',\n]\n",
            after: "[registry]\nglobal-credential-providers = [\n  'cargo:libsecret', \"cargo-credential-lanyard\"]\n"),
        Tool(name: "go", file: ".config/go/env", after: "GOAUTH=netrc; lanyard goauth\n"),
        Tool(
            name: "go", file: ".config/go/env", before: "GOAUTH=git /home/me\nGOFLAGS=-mod=mod\n",
            after: "GOAUTH=git /home/me; lanyard goauth\nGOFLAGS=-mod=mod\n"),
        Tool(name: "go", file: ".config/go/env", before: "GOAUTH=off\n", after: "GOAUTH=lanyard goauth\n"),
        Tool(name: "pip", file: ".config/pip/pip.conf", after: "[global]\nkeyring-provider = subprocess\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf",
            before: "; mine\n[global]\nindex-url = https://x.example/simple\n",
            after: "; mine\n[global]\nindex-url = https://x.example/simple\nkeyring-provider = subprocess\n"),
        Tool(
            name: "podman", file: ".config/containers/registries.conf.d/lanyard.conf",
            after: "credential-helpers = [\"lanyard\", \"containers-auth.json\"]\n"),
        Tool(
            name: "podman", url: "https://contoso.azurecr.io", file: ".config/containers/auth.json",
            before: "{\n\t\"auths\": {}\n}",
            after: "{\n\t\"auths\": {},\n\t\"credHelpers\": {\n\t\t\"contoso.azurecr.io\": \"lanyard\"\n\t}\n}"),
        Tool(name: "bazel", file: ".bazelrc", after: "common --credential_helper=bazel-credential-lanyard\n"),
        Tool(
            name: "bazel", url: "https://cache.contoso.com:8443", file: ".bazelrc", before: "# mine\nbuild -c opt\n",
            after: "# mine\nbuild -c opt\ncommon --credential_helper=cache.contoso.com=bazel-credential-lanyard\n"),
        Tool(
            name: "bazel", file: ".bazelrc", before: "build -c opt",
            after: "build -c opt\ncommon --credential_helper=bazel-credential-lanyard\n"),
        Tool(
            name: "cargo", file: ".cargo/config.toml", before: "[net]\noffline = true",
            after:
                "[net]\noffline = true\n\n[registry]\nglobal-credential-providers = [\"cargo:token\", \"cargo-credential-lanyard\"]\n"
        ),
        Tool(
            name: "go", file: ".config/go/env", before: "GOFLAGS=-mod=mod",
            after: "GOFLAGS=-mod=mod\nGOAUTH=netrc; lanyard goauth\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf", before: "[install]\nquiet = 1",
            after: "[install]\nquiet = 1\n\n[global]\nkeyring-provider = subprocess\n"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "offline = true",
            after: "offline = true\nkeyring-provider = \"subprocess\"\n"),
        Tool(
            name: "terraform", file: ".terraformrc", before: "# mine\n",
            after: "# mine\ncredentials_helper \"lanyard\" {}\n"),
        Tool(
            name: "aws", url: "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev", file: ".aws/config",
            before: "[profile x]\nregion = eu-west-1\ns3 =\n  max_queue_size = 9\n[default]\nregion=us-east-1\n",
            after: """
                [profile x]
                region = eu-west-1
                s3 =
                  max_queue_size = 9
                [default]
                region=us-east-1
                credential_process = lanyard aws https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev

                """),
        Tool(
            name: "pnpm", url: "https://npm.contoso.com:8443/a/feed", file: ".npmrc",
            after: "//npm.contoso.com:8443/a/feed/:tokenHelper=HOME/\(tokenHelper)\n"),
        Tool(
            name: "pnpm", url: "https://npm.contoso.com:8443/a/feed", file: ".npmrc",
            before: "; mine\nregistry=https://r.example/\n//npm.contoso.com:8443/a/feed/:tokenHelper=/x\nfund=false",
            after:
                "; mine\nregistry=https://r.example/\n//npm.contoso.com:8443/a/feed/:tokenHelper=HOME/\(tokenHelper)\nfund=false"
        ),
        Tool(
            name: "kubectl", file: ".kube/config",
            before: kubelogin("kubelogin", ["get-token", "--login", "devicecode"]),
            after: kubelogin("lanyard", ["kubectl"], "  interactiveMode: IfAvailable", "  provideClusterInfo: true")),
        Tool(name: "uv", file: ".config/uv/uv.toml", after: "keyring-provider = \"subprocess\"\n"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "[[index]]\nurl = \"https://x.example\"\n",
            after: "keyring-provider = \"subprocess\"\n\n[[index]]\nurl = \"https://x.example\"\n"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "\n[pip]\n",
            after: "\nkeyring-provider = \"subprocess\"\n\n[pip]\n"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "\n\n[pip]\n",
            after: "\n\nkeyring-provider = \"subprocess\"\n\n[pip]\n"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "[pip]\r\nno-index = true",
            after: "keyring-provider = \"subprocess\"\r\n\r\n[pip]\r\nno-index = true"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "a = 1\r\noffline = true",
            after: "a = 1\r\noffline = true\r\nkeyring-provider = \"subprocess\"\r\n"),
        Tool(
            name: "bazel", file: ".bazelrc", before: "build \\\n  -c opt \\\n",
            after: "build \\\n  -c opt \\\n\ncommon --credential_helper=bazel-credential-lanyard\n"),
        Tool(
            name: "bazel", file: ".bazelrc", before: "build \\",
            after: "build \\\n\ncommon --credential_helper=bazel-credential-lanyard\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf", before: "[install] ; mine\nquiet = 1\n  2\n# x\n",
            after: "[install] ; mine\nquiet = 1\n  2\n# x\n\n[global]\nkeyring-provider = subprocess\n"),
        Tool(
            name: "uv", file: ".config/uv/uv.toml", before: "# mine\nkeyring-provider = \"disabled\" # no\n[pip]\n",
            after: "# mine\nkeyring-provider = \"subprocess\" # no\n[pip]\n"),
        Tool(
            name: "docker", url: "https://a.example", file: ".docker/config.json", before: "{\"credHelpers\":{}}",
            after: "{\"credHelpers\":{\n\t\t\"a.example\": \"lanyard\"\n\t}}"),
        Tool(
            name: "podman", url: "https://a.example", file: ".config/containers/auth.json",
            before: "{\n  \"credHelpers\": {}\n}\n",
            after: "{\n  \"credHelpers\": {\n    \"a.example\": \"lanyard\"\n  }\n}\n"),
        Tool(
            name: "cargo", file: ".cargo/config.toml", before: "[registry]\n\n[net]\noffline = true\n",
            after: "[registry]\n\(providers)\n\n[net]\noffline = true\n"),
        Tool(
            name: "cargo", file: ".cargo/config.toml", before: "[registry] # mine\n# default = \"x\"\n",
            after: "[registry] # mine\n\(providers)\n# default = \"x\"\n"),
        Tool(
            name: "cargo", file: ".cargo/config.toml", before: "[registry]\n", after: "[registry]\n\(providers)\n"),
        Tool(name: "cargo", file: ".cargo/config.toml", before: "[registry]", after: "[registry]\n\(providers)\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf", before: "[global]\n",
            after: "[global]\nkeyring-provider = subprocess\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf", before: "[global]\n[install]\nquiet = 1\n",
            after: "[global]\nkeyring-provider = subprocess\n[install]\nquiet = 1\n"),
    ]

    /// Files with carriage returns, which the additions must have, too.
    private static let filesOfWindows = [
        Tool(
            name: "go", file: ".config/go/env", before: "GOAUTH=git /home/me\r\nGOFLAGS=-mod=mod\r\n",
            after: "GOAUTH=git /home/me; lanyard goauth\r\nGOFLAGS=-mod=mod\r\n"),
        Tool(
            name: "go", file: ".config/go/env", before: "GOFLAGS=-mod=mod\r\nA=1",
            after: "GOFLAGS=-mod=mod\r\nA=1\r\nGOAUTH=netrc; lanyard goauth\r\n"),
        Tool(
            name: "bazel", file: ".bazelrc", before: "build -c opt \\\r\n",
            after: "build -c opt \\\r\n\r\ncommon --credential_helper=bazel-credential-lanyard\r\n"),
        Tool(
            name: "terraform", file: ".terraformrc", before: "# mine\r\n# x",
            after: "# mine\r\n# x\r\ncredentials_helper \"lanyard\" {}\r\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf", before: "[global]\r\nkeyring-provider = import\r\n",
            after: "[global]\r\nkeyring-provider = subprocess\r\n"),
        Tool(
            name: "pip", file: ".config/pip/pip.conf", before: "[install]\r\nquiet = 1",
            after: "[install]\r\nquiet = 1\r\n\r\n[global]\r\nkeyring-provider = subprocess\r\n"),
    ]

    private static let providers = "global-credential-providers = [\"cargo:token\", \"cargo-credential-lanyard\"]"

    @Test(arguments: tools + filesOfWindows)
    func `what configure wrote, unconfigure takes back to the byte`(tool: Tool) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/\(tool.file)"
            if let before = tool.before { try home.write(before, to: file) }
            let folders = home.folders
            let ended = try await home.lanyard(["configure"] + tool.arguments)
            #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.contains("this is written to ~/\(tool.file):\n"), "\(ended)")
            let digest = try home.files(in: ".local/share/lanyard/token-helpers").first?.split(separator: "-").last
            let after = tool.after.replacing("HOME", with: home.folder + "/home")
                .replacing("DIGEST", with: digest ?? "")
            #expect(try home.text(file) == after)
            let again = try await home.lanyard(["configure"] + tool.arguments)
            #expect(again.errors.contains("nothing has to be changed"), "\(again)")
            let back = try await home.lanyard(["unconfigure"] + tool.arguments)
            #expect(back.status == 0, "\(back)")
            #expect((try? home.text(file)) == tool.before)
            #expect(!FileManager.default.fileExists(atPath: home.record))
            #expect(home.folders == folders)
            let none = try await home.lanyard(["unconfigure"] + tool.arguments)
            let end = tool.url.map { " for \($0)" } ?? ""
            #expect(none.errors == "lanyard: there is nothing that lanyard configure \(tool.name) wrote\(end)\n")
        }
    }

    @Test func `a section or an object that was empty stays, whichever of its values goes last`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.docker/config.json"
            for before in ["{\"credHelpers\": {}}", "{\"auths\": {}}"] {
                for order in [["a", "b"], ["b", "a"]] {
                    try home.write(before, to: file)
                    for name in ["a", "b"] {
                        try await home.lanyard(["configure", "docker", "https://\(name).example", "--yes"])
                    }
                    for name in order {
                        try await home.lanyard(["unconfigure", "docker", "https://\(name).example", "--yes"])
                    }
                    #expect(try home.text(file) == before)
                }
            }
        }
    }

    @Test func `a comment that somebody wrote behind lanyard's header stays`() async throws {
        try await Home.withTools { home in
            let files = ["cargo": ".cargo/config.toml", "pip": ".config/pip/pip.conf"]
            for (tool, header) in [("cargo", "[registry]"), ("pip", "[global]")] {
                let file = "\(home.folder)/home/\(files[tool] ?? "")"
                try await home.lanyard(["configure", tool, "--yes"])
                try home.write(try home.text(file).replacing(header, with: "\(header) # mine"), to: file)
                try await home.lanyard(["unconfigure", tool, "--yes"])
                #expect(try home.text(file) == "\(header) # mine\n")
            }
        }
    }

    @Test func `what a link leads to that is not there is made, and goes with its folder`() async throws {
        try await Home.withTools { home in
            let link = "\(home.folder)/home/.docker/config.json"
            try FileManager.default.createDirectory(
                atPath: "\(home.folder)/home/.docker", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../dots/docker/c.json")
            try await home.lanyard(["configure", "docker", "--yes"])
            #expect(try home.text("\(home.folder)/home/dots/docker/c.json").contains("lanyard"))
            try await home.lanyard(["unconfigure", "docker", "--yes"])
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../dots/docker/c.json")
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/dots"))
        }
    }

    @Test func `each registry of pnpm's has a program of its own, which prints the header`() async throws {
        try await Home.withTools(.unlocked) { home in
            let urls = ["https://npm.contoso.com/a/b", "https://npm.contoso.com/a-b", "https://npm.contoso.com/o'b"]
            for url in urls {
                let ended = try await home.lanyard(["configure", "pnpm", url, "--yes"])
                #expect(ended.status == 0, "\(ended)")
            }
            let folder = ".local/share/lanyard/token-helpers"
            #expect(try home.files(in: folder).count == 3)
            let input = "url=https://npm.contoso.com/a\nusername=u\npassword=p\n"
            _ = try await run(
                "\(home.folder)/bin/lanyard", ["store"], input: input, environment: home.environment,
                folder: home.folder)
            let lines = try home.text("\(home.folder)/home/.npmrc").split(separator: "\n")
            for (line, status) in zip(lines, [Int32(0), 1, 1]) {
                let helper = try #require(line.split(separator: "=").last)
                // pnpm before 10.27 runs it in a shell, without arguments.
                let ended = try await run(
                    "/bin/sh", ["-c", String(helper)], environment: home.environment, folder: home.folder)
                #expect(ended.status == status, "\(ended)")
                #expect(ended.output == (status == 0 ? "Basic dTpw\n" : ""), "\(ended)")
            }
            try await home.lanyard(["unconfigure", "pnpm", urls[1], "--yes"])
            #expect(try home.files(in: folder).count == 2)
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("pnpm ") }
            #expect(
                list?.hasSuffix("uses lanyard for https://npm.contoso.com/a/b, \(urls[2])") == true, "\(list ?? "")")
            let doctor = try await home.lanyard(["doctor", "--all"])
            #expect(doctor.output.contains(/pass  tools.pnpm +pnpm asks lanyard/), "\(doctor)")
            try await home.lanyard(["unconfigure", "pnpm", "--yes"])
            #expect(try home.files(in: folder).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.npmrc"))
        }
    }

    @Test func `pnpm's program is nowhere that a shell could misread`() async throws {
        try await Home.withTools { home in
            let place = ["XDG_DATA_HOME": "\(home.folder)/home/my data"]
            let ended = try await home.lanyard(["configure", "pnpm", "https://npm.contoso.com", "--yes"], place)
            #expect(ended.status == 1 && ended.errors.contains("pnpm can't run a token helper at "), "\(ended)")
            #expect(ended.errors.contains("hint: set XDG_DATA_HOME"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.npmrc"))
        }
    }

    @Test func `NuGet's link is made if none is on PATH, and goes again`() async throws {
        try await Home.withTools { home in
            let folder = "\(home.folder)/home/.local/bin"
            let link = "\(folder)/nuget-plugin-lanyard"
            let ended = try await home.lanyard(["configure", "nuget", "--yes"])
            #expect(ended.status == 0 && ended.errors.contains("nuget-plugin-lanyard is not on PATH"), "\(ended)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == Built.lanyard)
            let variable = ["PATH": "\(folder):\(home.environment["PATH"] ?? "")", "NUGET_PLUGIN_PATHS": "/x"]
            let again = try await home.lanyard(["configure", "nuget", "--yes"], variable)
            let nothing = "nothing has to be changed, but nuget does not ask lanyard yet"
            #expect(again.errors.contains(nothing), "\(again)")
            #expect(again.errors.contains("unset it: unset NUGET_PLUGIN_PATHS"), "\(again)")
            let doctor = try await home.lanyard(["doctor"], variable)
            #expect(
                doctor.output.contains(/warn  tools.nuget +nuget is configured to ask lanyard, but may not/),
                "\(doctor)")
            let back = try await home.lanyard(["unconfigure", "nuget", "--yes"])
            #expect(back.status == 0 && !FileManager.default.fileExists(atPath: link), "\(back)")
        }
    }

    @Test func `a link of the installation's is no change, and nobody's business without NuGet`() async throws {
        try await Home.withTools { home in
            try FileManager.default.createSymbolicLink(
                atPath: "\(home.folder)/bin/nuget-plugin-lanyard", withDestinationPath: "lanyard")
            let ended = try await home.lanyard(["configure", "nuget", "--yes"])
            let nothing = "nothing has to be changed, but nuget does not ask lanyard yet"
            #expect(ended.errors.contains(nothing), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.local/bin"))
            let undone = try await home.lanyard(["unconfigure", "--all", "--yes"])
            #expect(undone.status == 0 && !undone.errors.contains("nuget"), "\(undone)")
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("nuget ") }
            #expect(list?.hasSuffix("not installed  doesn't use lanyard") == true, "\(list ?? "")")
            #expect(try await home.lanyard(["doctor", "--all"]).output.contains("tools.nuget") == false)
            try home.program("dotnet", "exit 0")
            let doctor = try await home.lanyard(["doctor", "--all"])
            #expect(doctor.output.contains(/pass  tools.nuget +nuget asks lanyard/), "\(doctor)")
        }
    }

    @Test func `what was changed since stays, and that is said`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.docker/config.json"
            try home.write("{\"credsStore\": \"pass\"}", to: file)
            try await home.lanyard(["configure", "docker", "--yes"])
            try await home.lanyard(["configure", "docker", "https://a.example", "--yes"])
            let written = try home.text(file)
            try home.write(written.replacing("\"credsStore\": \"lanyard\"", with: "\"credsStore\": \"x\""), to: file)
            let ended = try await home.lanyard(["unconfigure", "docker", "--yes"])
            #expect(ended.errors.contains("~/.docker/config.json was changed since, so it stays"), "\(ended)")
            #expect(try home.text(file) == "{\"credsStore\": \"x\"}")
        }
    }

    @Test(arguments: [
        ("[profile \"dev\"]\n", "dev"), ("[profile  dev]\n", "dev"), ("[profile\tdev]\n", "dev"),
        ("[profile 'dev' ]\n", "dev"), ("[profile \"my dev\"]\n", "my dev"), ("[profile default]\n", "default"),
        ("[profile dev]\n", "dev"),
    ])
    func `a profile's section is found however it is written`(header: String, profile: String) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.aws/config"
            let before = "\(header)region = eu-west-1\n"
            try home.write(before, to: file)
            let variable = ["AWS_PROFILE": profile]
            try await home.lanyard(["configure", "aws", Self.role, "--yes"], variable)
            #expect(try home.text(file) == "\(before)credential_process = lanyard aws \(Self.role)\n")
            try await home.expectAWS(variable, region: "eu-west-1")
            try await home.lanyard(["unconfigure", "aws", "--yes"])
            #expect(try home.text(file) == before)
        }
    }

    @Test(arguments: [("my dev", "[profile \"my dev\"]"), ("dev", "[profile dev]"), ("o'b", "[profile \"o'b\"]")])
    func `a new profile's section is written as the AWS CLI reads it`(profile: String, header: String) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.aws/config"
            // The AWS CLI doesn't treat this as a profile.
            let before = "[ profile \(profile) ]\nregion = eu-west-1\n"
            try home.write(before, to: file)
            let variable = ["AWS_PROFILE": profile]
            try await home.lanyard(["configure", "aws", Self.role, "--yes"], variable)
            #expect(try home.text(file).contains("\n\(header)\ncredential_process = "))
            try await home.expectAWS(variable, region: "")
            try await home.lanyard(["unconfigure", "aws", "--yes"])
            #expect(try home.text(file) == before)
        }
    }

    private static let role = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"

    @Test func `what lanyard replaced is kept until the line that somebody changed is gone`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.aws/config"
            let before = "[default]\ncredential_process = /opt/keys --secret hunter2\nregion = eu-west-1\n"
            try home.write(before, to: file)
            let url = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
            try await home.lanyard(["configure", "aws", url, "--yes"])
            let written = try home.text(file)
            let changed = written.replacing("role/dev", with: "role/other")
            try home.write(changed, to: file)
            // Another tool's changes don't affect this one's record.
            try await home.lanyard(["configure", "go", "--yes"])
            let ended = try await home.lanyard(["unconfigure", "aws", "--yes"])
            #expect(ended.status == 0 && ended.errors.contains("it replaced /opt/keys …"), "\(ended)")
            let hint = "remove credential_process from the file, then: lanyard unconfigure aws"
            #expect(ended.errors.contains(hint) && !ended.errors.contains("hunter2"), "\(ended)")
            #expect(!ended.errors.contains("there is nothing"), "\(ended)")
            #expect(try home.text(file) == changed)
            try home.write("[default]\nregion = eu-west-1\n", to: file)
            let back = try await home.lanyard(["unconfigure", "aws", "--yes"])
            #expect(back.errors.contains("this is put back into ~/.aws/config:"), "\(back)")
            #expect(!back.errors.contains("hunter2"), "\(back)")
            #expect(try home.text(file).contains("credential_process = /opt/keys --secret hunter2\n"))
            try await home.lanyard(["unconfigure", "go", "--yes"])
            #expect(!FileManager.default.fileExists(atPath: home.record))
        }
    }

    @Test func `a line of lanyard's that somebody changed is still lanyard's when it is configured again`() async throws
    {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.docker/config.json"
            let before = "{\"credsStore\": \"pass\"}"
            try home.write(before, to: file)
            try await home.lanyard(["configure", "docker", "--yes"])
            try home.write("{}", to: file)
            try await home.lanyard(["configure", "docker", "--yes"])
            try await home.lanyard(["unconfigure", "docker", "--yes"])
            #expect(try home.text(file).contains("\"credsStore\": \"pass\""))
            #expect(!FileManager.default.fileExists(atPath: home.record))
        }
    }

    @Test func `terraform's helper that is written otherwise is recognised`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.terraformrc"
            let before = "credentials_helper \"lanyard\" {\n  args = []\n}\n"
            try home.write(before, to: file)
            let ended = try await home.lanyard(["configure", "terraform", "--yes"])
            #expect(ended.status == 0, "\(ended)")
            #expect(try home.text(file) == before)
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("terraform ") }
            #expect(list?.hasSuffix("  uses lanyard") == true, "\(list ?? "")")
        }
    }

    @Test(arguments: [
        ("docker", "https://x.example/path", "ignores the path, so this applies to all of x.example"),
        ("bazel", "https://h.example:8443/foo", "ignores the port and path, so this applies to all of h.example"),
        ("bazel", "grpcs://h.example:8980", "ignores the port, so this applies to all of h.example"),
    ])
    func `what is left out of a URL is said`(tool: String, url: String, message: String) async throws {
        try await Home.withTools { home in
            let ended = try await home.lanyard(["configure", tool, url, "--yes"])
            #expect(ended.status == 0 && ended.errors.contains("\(tool) \(message)\n"), "\(ended)")
            let back = try await home.lanyard(["unconfigure", tool, url, "--yes"])
            #expect(!back.errors.contains("nothing"), "\(back)")
        }
    }

    @Test(arguments: [
        (
            ".docker/config.json", "{\"credHelpers\": {\"a.example\": \"lanyard\", \"b.example\": \"x\"}}", "docker",
            " for https://a.example"
        ),
        (
            ".config/containers/auth.json", "{\"credHelpers\": {\"a.example\": \"lanyard\"}}", "podman",
            " for https://a.example"
        ),
        (
            ".bazelrc", "common --credential_helper=*.contoso.com=bazel-credential-lanyard\n", "bazel",
            " for https://*.contoso.com"
        ),
        (
            ".cargo/config.toml",
            """
            [registries.contoso]
            index = "sparse+https://cargo.contoso.com/index/"
            credential-provider = ["cargo-credential-lanyard"]
            [registries.other]
            index = "sparse+https://other.example/"

            """, "cargo", " for https://cargo.contoso.com/index/"
        ),
        (".bazelrc", "build --experimental_credential_helper=/x/bazel-credential-lanyard\n", "bazel", ""),
        (
            ".aws/config",
            "[profile developer]\ncredential_process = lanyard aws https://sts.amazonaws.com/arn:aws:iam::1:role/x\n",
            "aws", " for https://sts.amazonaws.com/arn:aws:iam::1:role/x (developer)"
        ),
    ])
    func `the list knows what was written by hand`(file: String, text: String, tool: String, use: String) async throws {
        try await Home.withTools { home in
            try home.write(text, to: "\(home.folder)/home/\(file)")
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("\(tool) ") }
            #expect(list?.hasSuffix("  uses lanyard\(use)") == true, "\(list ?? "")")
        }
    }

    @Test(arguments: [
        ("go", ["GOAUTH": "lanyard goauth"], true), ("pip", ["PIP_KEYRING_PROVIDER": "subprocess"], true),
        ("uv", ["UV_KEYRING_PROVIDER": "subprocess"], true),
    ])
    func `the list knows variables`(tool: String, variables: [String: String], isUsed: Bool) async throws {
        try await Home.withTools { home in
            try FileManager.default.createSymbolicLink(
                atPath: "\(home.folder)/bin/keyring", withDestinationPath: Built.lanyard)
            func use(_ variables: [String: String]) async throws -> String {
                let lines = try await home.lanyard(["configure", "--list"], variables).lines
                return lines.first { $0.hasPrefix("\(tool) ") } ?? ""
            }
            #expect(try await use(variables).hasSuffix("  uses lanyard"))
            try await home.lanyard(["configure", tool, "--yes"])
            #expect(try await use([:]).hasSuffix("  uses lanyard"))
            let off = variables.mapValues { _ in tool == "go" ? "off" : "disabled" }
            #expect(try await use(off).hasSuffix("  doesn't use lanyard"))
        }
    }

    @Test func `pnpm without its settings file does not use lanyard`() async throws {
        try await Home.withTools { home in
            try await home.lanyard(["configure", "pnpm", "https://npm.contoso.com", "--yes"])
            try FileManager.default.removeItem(atPath: "\(home.folder)/home/.npmrc")
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("pnpm ") }
            #expect(list?.hasSuffix("  doesn't use lanyard") == true, "\(list ?? "")")
        }
    }

    @Test func `a provider that comes before what is written is named`() async throws {
        try await Home.withTools { home in
            try home.write("[install]\nkeyring-provider = disabled\n", to: "\(home.folder)/home/.config/pip/pip.conf")
            let pip = try await home.lanyard(["configure", "pip", "--yes"], ["PIP_KEYRING_PROVIDER": "import"])
            #expect(
                pip.errors.contains("keyring-provider is disabled in [install] of ~/.config/pip/pip.conf"), "\(pip)")
            #expect(pip.errors.contains("PIP_KEYRING_PROVIDER is import in the environment"), "\(pip)")
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("pip ") }
            #expect(list?.hasSuffix("  doesn't use lanyard") == true, "\(list ?? "")")
            try home.write("[pip]\nkeyring-provider = \"disabled\"\n", to: "\(home.folder)/home/.config/uv/uv.toml")
            let uv = try await home.lanyard(["configure", "uv", "--yes"])
            #expect(uv.errors.contains("keyring-provider is disabled in [pip] of ~/.config/uv/uv.toml"), "\(uv)")
            #expect(try await home.use(of: "uv") == "doesn't use lanyard")
            let paths = ["PATH": "\(home.folder)/home/.local/bin:\(home.environment["PATH"] ?? "")"]
            #expect(try await home.use(of: "uv", paths) == "uses lanyard, but not for uv pip")
        }
    }

    @Test(arguments: [
        ("pip", "pip", "pip 23.0.1 from /usr/lib/pip (python 3.11)", "pip 23.1 from /usr/lib/pip (python 3.11)"),
        ("cargo", "cargo", "cargo 1.73.0 (9c4383fb5 2023-08-26)", "cargo 1.74.0 (ecb9851af 2023-10-18)"),
        ("go", "go", "go version go1.23.12 linux/amd64", "go version go1.24rc1 linux/amd64"),
        ("bazel", "bazel", "bazel 6.5.0", "bazel 7.0.0"), ("nuget", "dotnet", "9.0.101", "9.0.200"),
    ])
    func `a tool that is too old for what is written is told wherever its set-up is`(
        tool: String, program: String, old: String, new: String
    ) async throws {
        try await Home.withTools { home in
            for (version, isOld) in [(old, true), (new, false)] {
                // In a project's folder, some tools run the release that the project names.
                try home.program(program, "[ \"$PWD\" = / ] && echo '\(version)'")
                let url = "\(tool == "cargo" ? "sparse+" : "")https://feeds.contoso.com/x"
                for command in [["configure", tool, "--yes"], ["doctor"], ["explain", url, "--for", tool]] {
                    let ended = try await home.lanyard(command)
                    let told = (ended.output + ended.errors).contains(
                        "\(tool) \(Self.number(version)) can't ask lanyard, ")
                    #expect(told == isOld, "\(command) \(version): \(ended)")
                }
            }
        }
    }

    private static func number(_ version: String) -> String {
        String(version.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." })
    }

    @Test func `where pip may not replace itself, a newer one is for a virtual environment`() async throws {
        try await Home.withTools { home in
            try home.program("pip", "echo pip 23.0.1 from x")
            let own = try await home.lanyard(["configure", "pip", "--yes"])
            #expect(own.errors.contains("\(home.folder)/bin/pip install --upgrade pip"), "\(own)")
            try home.write("[externally-managed]\n", to: "\(home.folder)/lib/python3.11/EXTERNALLY-MANAGED")
            let managed = try await home.lanyard(["configure", "pip", "--yes"])
            let command =
                "python3 -m venv --without-pip ~/.venv && pip --python ~/.venv install pip && . ~/.venv/bin/activate"
            #expect(managed.errors.contains(command) && !managed.errors.contains("--upgrade"), "\(managed)")
        }
    }

    @Test func `one host of several is taken back`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.docker/config.json"
            for host in ["a.example", "b.example:5000"] {
                try await home.lanyard(["configure", "docker", "https://\(host)", "--yes"])
            }
            let unknown = try await home.lanyard(["unconfigure", "docker", "https://c.example", "--yes"])
            let known = "it wrote something for https://a.example, https://b.example:5000"
            #expect(unknown.errors.contains(known), "\(unknown)")
            try await home.lanyard(["unconfigure", "docker", "a.example", "--yes"])
            let left = "{\n\t\"credHelpers\": {\n\t\t\"b.example:5000\": \"lanyard\"\n\t}\n}\n"
            #expect(try home.text(file) == left)
            try await home.lanyard(["unconfigure", "docker", "--yes"])
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.docker"))
        }
    }

    @Test(arguments: ["[profile x]\nregion = eu-west-1", "[default]\ncredential_process = old --key a\n"])
    func `what was configured twice becomes what it was before the first time`(before: String) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.aws/config"
            try home.write(before, to: file)
            for role in ["a", "b", "c"] {
                let url = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/\(role)"
                let ended = try await home.lanyard(["configure", "aws", url, "--yes"])
                #expect(ended.status == 0, "\(ended)")
                #expect(try home.text(file).contains("/\(role)\n"))
                #expect(try home.text(home.record).matches(of: /"tool"/).count == 1)
            }
            try await home.lanyard(["unconfigure", "aws", "--yes"])
            #expect(try home.text(file) == before)
            #expect(!FileManager.default.fileExists(atPath: home.record))
        }
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `a file without a line feed at its end has none again, whichever line goes first`(order: [Int]) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.bazelrc"
            try home.write("build -c opt", to: file)
            let urls = ["https://a.example", "https://b.example"]
            for url in urls { try await home.lanyard(["configure", "bazel", url, "--yes"]) }
            for index in order { try await home.lanyard(["unconfigure", "bazel", urls[index], "--yes"]) }
            #expect(try home.text(file) == "build -c opt")
        }
    }

    @Test func `what somebody wrote behind lanyard's line keeps its line feed`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.bazelrc"
            try home.write("build -c opt", to: file)
            try await home.lanyard(["configure", "bazel", "--yes"])
            try home.write(try home.text(file) + "test -c dbg\n", to: file)
            try await home.lanyard(["unconfigure", "bazel", "--yes"])
            #expect(try home.text(file) == "build -c opt\ntest -c dbg\n")
        }
    }

    @Test func `a folder that was made goes with the last that is in it, unless somebody uses it`() async throws {
        try await Home.withTools { home in
            let folder = "\(home.folder)/home/.config"
            for tool in ["pip", "uv", "go"] { try await home.lanyard(["configure", tool, "--yes"]) }
            try home.write("x", to: "\(folder)/go/mine")
            for tool in ["pip", "go", "uv"] { try await home.lanyard(["unconfigure", tool, "--yes"]) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["go"])
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.local/bin"))
        }
    }

    @Test func `the link that pip and uv share goes with the last of them`() async throws {
        try await Home.withTools { home in
            let link = "\(home.folder)/home/.local/bin/keyring"
            for tool in ["pip", "uv"] {
                let ended = try await home.lanyard(["configure", tool, "--yes"])
                let hint = "put first: export PATH=\"$HOME/.local/bin:$PATH\""
                #expect(ended.status == 0 && ended.errors.contains(hint), "\(ended)")
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == Built.lanyard)
            let pip = try await home.lanyard(["unconfigure", "pip", "--yes"])
            #expect(pip.errors.contains("this stays in ~/.local/bin/keyring, because uv needs it:"), "\(pip)")
            #expect(!pip.errors.contains("removed from ~/.local/bin/keyring"), "\(pip)")
            #expect(FileManager.default.fileExists(atPath: link))
            try await home.lanyard(["unconfigure", "uv", "--yes"])
            #expect(!FileManager.default.fileExists(atPath: link))
        }
    }

    @Test func `pip uses lanyard if lanyard is the keyring that it finds, in the settings that it reads`() async throws
    {
        try await Home.withTools { home in
            let paths = ["PATH": "\(home.folder)/home/.local/bin:\(home.environment["PATH"] ?? "")"]
            try await home.lanyard(["configure", "pip", "--yes"])
            #expect(try await home.use(of: "pip") == "doesn't use lanyard")
            #expect(try await home.use(of: "pip", paths) == "uses lanyard")
            try home.program("keyring", "exit 0")
            #expect(try await home.use(of: "pip") == "doesn't use lanyard")
            let none = paths.merging(["PIP_CONFIG_FILE": "/dev/null"]) { $1 }
            #expect(try await home.use(of: "pip", none) == "doesn't use lanyard")
            let refused = try await home.lanyard(["configure", "pip", "--yes"], none)
            #expect(refused.status == 1 && refused.errors.contains("unset PIP_CONFIG_FILE"), "\(refused)")
            let other = paths.merging(["PIP_CONFIG_FILE": "\(home.folder)/home/mine.conf"]) { $1 }
            try home.write("[global]\n", to: "\(home.folder)/home/mine.conf")
            #expect(try await home.use(of: "pip", other) == "doesn't use lanyard")
            try await home.lanyard(["configure", "pip", "--yes"], other)
            #expect(try home.text("\(home.folder)/home/mine.conf").contains("keyring-provider = subprocess"))
        }
    }

    @Test func `what comes before lanyard in terraform's and AWS's files is named`() async throws {
        try await Home.withTools { home in
            let token = #"{"credentials": {"app.terraform.io": {"token": "x"}}}"#
            try home.write(token, to: "\(home.folder)/home/.terraform.d/credentials.tfrc.json")
            let terraform = try await home.lanyard(["configure", "terraform", "--yes"])
            let note = "the token for app.terraform.io in ~/.terraform.d/credentials.tfrc.json comes first"
            #expect(
                terraform.errors.contains("\(note); to remove it: terraform logout app.terraform.io"), "\(terraform)")
            try home.write("[profile dev]\nrole_arn = x\nsso_session = y\n", to: "\(home.folder)/home/.aws/config")
            let aws = try await home.lanyard(["configure", "aws", Self.role, "--yes"], ["AWS_PROFILE": "dev"])
            for key in ["role_arn", "sso_session"] {
                #expect(
                    aws.errors.contains("~/.aws/config has \(key) for the profile dev, which comes first"), "\(aws)")
            }
        }
    }

    @Test func `another keyring stays`() async throws {
        try await Home.withTools { home in
            let path = "\(home.folder)/home/.local/bin"
            try home.write("#!/bin/sh\n", to: path + "/keyring")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + "/keyring")
            let paths = ["PATH": path + ":" + (home.environment["PATH"] ?? "")]
            let ended = try await home.lanyard(["configure", "pip", "--yes"], paths)
            let note = "the keyring on PATH is ~/.local/bin/keyring; for lanyard's, put first"
            #expect(ended.errors.contains(note), "\(ended)")
            try await home.lanyard(["unconfigure", "pip", "--yes"], paths)
            #expect(try home.text(path + "/keyring") == "#!/bin/sh\n")
        }
    }

    @Test func `a dry run writes nothing, and nobody is passed over`() async throws {
        try await Home.withTools { home in
            let dry = try await home.lanyard(["configure", "docker", "--dry-run"])
            #expect(dry.status == 0 && dry.errors.contains("this would be written to ~/.docker/config.json:"), "\(dry)")
            let unasked = try await home.lanyard(["configure", "docker"])
            #expect(unasked.status == 64 && unasked.errors.contains("no terminal to ask you whether"), "\(unasked)")
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.docker"))
            let no = try await home.lanyardAtTerminal(["configure", "docker"], [("go on? [Y/n] ", "n")])
            #expect(no.output.contains("nothing was changed"), "\(no)")
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.docker/config.json"))
        }
    }

    @Test(arguments: [
        (["docker", "https://*.azurecr.io"], "docker doesn't support wildcards in hosts"),
        (["cargo", "https://x.example"], "cargo takes no URL; leave it out"),
        (["aws"], "aws needs a URL"),
        (["docker", "smtp://mail.example"], "docker accepts no smtp URLs, only https, http"),
        (["docker", "hub.docker.com"], "hint: for Docker Hub: lanyard configure docker docker.io"),
        (["podman", "https://hub.docker.com"], "hint: for Docker Hub: lanyard configure podman docker.io"),
        (["aws", "https://sts.amazonaws.com"], "the URL names no role"),
        (
            ["aws", "arn:aws:iam::123456789012:role/dev"],
            "write it like: https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
        ),
        (["tofu"], "hint: did you mean: lanyard configure terraform"),
        (["list"], "hint: for the list of tools: lanyard configure --list"),
        (["docker", "https://"], "write it like: https://registry.contoso.com"),
        (["gcloud"], "hint: gcloud is set up by hand; see: man lanyard-gcloud"),
        (["helm"], "what lanyard configure kubectl and lanyard configure docker write"),
        (["azure-cli"], "lanyard exec --as azure-cli"),
        (["twine"], "keyring-lanyard"),
        (["pnpm", "git://npm.contoso.com"], "hint: write: https://npm.contoso.com"),
        (["bazel", "https://a.*.example"], "doesn't support wildcards in hosts"),
        (["dockr"], "there is no command 'dockr'"),
        (["mercurial"], "command 'mercurial'\nlanyard: hint: for all commands"),
    ])
    func `what can't be configured is refused`(arguments: [String], message: String) async throws {
        try await Home.withTools { home in
            let ended = try await home.lanyard(["configure"] + arguments + ["--yes"])
            #expect(ended.status == 64 && ended.errors.contains(message), "\(ended)")
        }
    }

    @Test(arguments: [
        ("docker", ".docker/config.json", "[]", "not a JSON object"),
        ("docker", ".docker/config.json", "{\n// x\n}", "config.json:2: not valid JSON"),
        ("docker", ".docker/config.json", "{\n\"a\": 1,\n\n}", "config.json:4: not valid JSON"),
        (
            "docker", ".docker/config.json", "{\"credHelpers\": {\"a.example\": \"a\",\n\"a.example\": \"b\"}}",
            "config.json:2: a.example is there twice"
        ),
        (
            "docker", ".docker/config.json", "{\"credHelpers\": {},\n\n \"credHelpers\": {}}",
            "config.json:3: credHelpers is there twice"
        ),
        ("docker", ".docker/config.json", "{\"credHelpers\": 1}", "the value of credHelpers is not an object"),
        ("pip", ".config/pip/pip.conf", "\u{1}garbage\n", "pip.conf:1: neither a section nor a setting in one"),
        ("pip", ".config/pip/pip.conf", "[global]\nx = 1\ngarbage\n", "pip.conf:3: neither a section"),
        ("aws", ".aws/config", "region = x\n", "config:1: neither a section"),
        ("cargo", ".cargo/config.toml", "registry = {}\n", "config.toml:1: registry is not written as a table"),
        ("cargo", ".cargo/config.toml", "[registry\n", "not valid TOML"),
        ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = 'x'\n", "can't safely extend"),
    ])
    func `a file that can't be edited safely stays as it is`(
        tool: String, file: String, text: String, message: String
    ) async throws {
        try await Home.withTools { home in
            let path = "\(home.folder)/home/\(file)"
            try home.write(text, to: path)
            let urls = ["docker": "https://a.example", "aws": "https://sts.amazonaws.com/arn:aws:iam::1:role/x"]
            let url = urls[tool].map { [$0] } ?? []
            let ended = try await home.lanyard(["configure", tool] + url + ["--yes"])
            #expect(ended.status == 1 && ended.errors.contains(message), "\(ended)")
            #expect(!ended.errors.contains("this is written"), "\(ended)")
            #expect(try home.text(path) == text)
            #expect(!FileManager.default.fileExists(atPath: home.record))
        }
    }

    @Test func `a host that is no token service of AWS's needs a rule first`() async throws {
        try await Home.withTools { home in
            let url = "https://example.com/arn:aws:iam::123456789012:role/dev"
            let ended = try await home.lanyard(["configure", "aws", url, "--yes"])
            #expect(ended.status == 1 && ended.errors.contains("example.com is not AWS's token service"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.aws"))
        }
    }

    @Test(arguments: [
        ";touch${IFS}PWNED", "$(touch${IFS}PWNED)", "`touch${IFS}PWNED`", "|touch$IFS'PWNED'", "&&touch\tPWNED",
        ">PWNED", "\\x", "'x",
        "\"x", "*", "?x", "#x", "(x)", "{a,b}", "!x", "~", "^x", "%20x", "%3Btouch%20PWNED", "é", "<x",
    ])
    func `a role has no characters that mean something to a shell`(end: String) async throws {
        try await Home.withTools { home in
            for url in [
                "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev\(end)",
                "https://u\(end)@sts.amazonaws.com/arn:aws:iam::123456789012:role/dev",
            ] {
                let ended = try await home.lanyard(["configure", "aws", url, "--yes"])
                #expect(ended.status == 64, "\(ended)")
            }
            #expect(!FileManager.default.fileExists(atPath: "\(home.folder)/home/.aws"))
        }
    }

    @Test func `a shell runs the line for a role with all of IAM's characters as it is`() async throws {
        try await Home.withTools { home in
            let url = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/path/A-Z+a=z,0.9@b_c"
            #expect(try await home.lanyard(["configure", "aws", url, "--yes"]).status == 0)
            let text = try home.text("\(home.folder)/home/.aws/config")
            let line = try #require(
                text.components(separatedBy: "credential_process = ").last?.split(separator: "\n").first)
            try home.program("lanyard", #"printf '<%s>' "$@""#)
            let ran = try await run("/bin/sh", ["-c", String(line)], environment: home.environment)
            #expect(ran.output == "<aws><\(url)>", "\(ran)")
        }
    }

    @Test func `what is written is shown as it is, in its lines`() async throws {
        try await Home.withTools { home in
            let list = "[registry]\nglobal-credential-providers = [\n\t'cargo:libsecret',\n]\n"
            try home.write(list, to: "\(home.folder)/home/.cargo/config.toml")
            let cargo = try await home.lanyardAtTerminal(["configure", "cargo"], [("go on? [Y/n] ", "n")])
            #expect(!cargo.output.replacing("go on?", with: "").contains("?"), "\(cargo)")
            let url = "https://npm.contoso.com/a/long/path/of/a/registry/of/packages/that/is/not/broken/anywhere"
            let pnpm = try await home.lanyardAtTerminal(["configure", "pnpm", url], [("go on? [Y/n] ", "n")])
            #expect(pnpm.output.contains("exec lanyard pnpm \(url)\n"), "\(pnpm)")
        }
    }

    @Test(arguments: ["docker.io", "https://docker.io", "registry-1.docker.io", "https://index.docker.io/v1/"])
    func `Docker Hub goes by the name that docker asks with`(url: String) async throws {
        try await Home.withTools { home in
            try await home.lanyard(["configure", "docker", url, "--yes"])
            let file = "\(home.folder)/home/.docker/config.json"
            #expect(try home.text(file).contains("\"https://index.docker.io/v1/\": \"lanyard\""))
            let list = try await home.lanyard(["configure", "--list"]).lines.first { $0.hasPrefix("docker ") }
            #expect(list?.hasSuffix("uses lanyard for https://index.docker.io/v1/") == true, "\(list ?? "")")
            let explained = try await home.lanyard(["explain", url, "--for", "docker"])
            #expect(explained.output.contains(/docker +uses lanyard\n/), "\(explained)")
            #expect(explained.output.contains(/asks +for https:\/\/index.docker.io\/v1/), "\(explained)")
            let back = try await home.lanyard(["unconfigure", "docker", "docker.io", "--yes"])
            #expect(back.status == 0 && !FileManager.default.fileExists(atPath: file), "\(back)")
        }
    }

    @Test func `passwords in the clear and other helpers of docker's are named`() async throws {
        try await Home.withTools { home in
            let settings = """
                {"auths": {"a.example": {"auth": "dTpw"}, "b.example": {}}, "credsStore": "pass", "credHelpers": {"c.example": "ecr"}}
                """
            try home.write(settings, to: "\(home.folder)/home/.docker/config.json")
            let one = try await home.lanyard(["configure", "docker", "https://a.example", "--dry-run"])
            #expect(one.errors.contains("the password for a.example stays in ~/.docker/config.json"), "\(one)")
            #expect(one.errors.contains("what docker keeps in pass for a.example stays there"), "\(one)")
            #expect(one.errors.contains("docker logout a.example") && !one.errors.contains("b.example"), "\(one)")
            let all = try await home.lanyard(["configure", "docker", "--dry-run"])
            #expect(all.errors.contains("instead of \"pass\""), "\(all)")
            #expect(all.errors.contains("what docker keeps in pass stays there, but is no longer used"), "\(all)")
            let other = try await home.lanyard(["configure", "docker", "https://c.example", "--dry-run"])
            #expect(other.errors.contains("what docker keeps in ecr for c.example stays there"), "\(other)")
            #expect(all.errors.contains("ecr is still asked for c.example"), "\(all)")
        }
    }

    @Test func `podman's file is the one that it reads`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/mine.json"
            let variable = ["REGISTRY_AUTH_FILE": file]
            try await home.lanyard(["configure", "podman", "https://a.example", "--yes"], variable)
            #expect(try home.text(file).contains("\"a.example\": \"lanyard\""))
            try await home.lanyard(["unconfigure", "podman", "--yes"], variable)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func `of the files that name podman's helpers the last one counts`() async throws {
        try await Home.withTools { home in
            let folder = "\(home.folder)/home/.config/containers"
            func list() async throws -> String {
                let lines = try await home.lanyard(["configure", "--list"]).lines
                return String(lines.first { $0.hasPrefix("podman ") }?.split(separator: "  ").last ?? "")
            }
            try home.write("credential-helpers = [\"x\"]\n", to: "\(folder)/registries.conf")
            let ended = try await home.lanyard(["configure", "podman", "--yes"])
            let replaced = "credential-helpers is [\"x\"] in ~/.config/containers/registries.conf; lanyard's setting"
            #expect(ended.errors.contains(replaced), "\(ended)")
            #expect(try await list().hasSuffix("uses lanyard"))
            try home.write("credential-helpers = [\"y\"]\n", to: "\(folder)/registries.conf.d/zz.conf")
            #expect(try await list().hasSuffix("doesn't use lanyard"))
            let again = try await home.lanyard(["configure", "podman", "--yes"])
            let note = "is [\"y\"] in ~/.config/containers/registries.conf.d/zz.conf, which takes precedence"
            #expect(again.errors.contains(note), "\(again)")
            try home.write("credential-helpers = ['lanyard']\n", to: "\(folder)/registries.conf.d/zz.conf")
            #expect(try await list() == "uses lanyard")
        }
    }

    @Test(arguments: [
        (["tofu"], nil, [".config/opentofu/tofurc"]), (["tofu"], ".tofurc", [".tofurc"]),
        (["tofu"], ".terraformrc", [".terraformrc"]), (["terraform", "tofu"], ".tofurc", [".terraformrc", ".tofurc"]),
        (["terraform", "tofu"], nil, [".terraformrc"]),
    ])
    func `OpenTofu's own file is written if it reads no other`(
        programs: [String], existing: String?, files: [String]
    ) async throws {
        try await Home.withTools { home in
            for program in programs { try home.program(program, "exit 0") }
            if let existing { try home.write("# mine\n", to: "\(home.folder)/home/\(existing)") }
            let ended = try await home.lanyard(
                ["configure", "terraform", "--yes"], ["PATH": "\(home.folder)/bin"])
            let all = [".terraformrc", ".tofurc", ".config/opentofu/tofurc"]
            let written = all.filter { name in
                (try? home.text("\(home.folder)/home/\(name)"))?.contains("credentials_helper") == true
            }
            #expect(written == files, "\(ended)")
        }
    }

    @Test func `an old program's arguments are not shown, but put back`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.aws/config"
            let before = "[default]\ncredential_process = /opt/keys --secret hunter2\n"
            try home.write(before, to: file)
            let url = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
            let ended = try await home.lanyard(["configure", "aws", url, "--yes"])
            #expect(ended.errors.contains("instead of /opt/keys …") && !ended.errors.contains("hunter2"), "\(ended)")
            #expect(ended.errors.contains("lanyard rule add https://sts.amazonaws.com"), "\(ended)")
            let back = try await home.lanyard(["unconfigure", "aws", "--yes"])
            #expect(back.errors.contains("and put back: /opt/keys …") && !back.errors.contains("hunter2"), "\(back)")
            #expect(try home.text(file) == before)
        }
    }

    @Test func `Go's "off" is said to be replaced, and put back`() async throws {
        try await Home.withTools { home in
            try home.write("GOAUTH=off\n", to: "\(home.folder)/home/.config/go/env")
            let ended = try await home.lanyard(["configure", "go", "--yes"], ["GOAUTH": "off"])
            #expect(ended.errors.contains("GOAUTH is off, so Go sends no credentials"), "\(ended)")
            #expect(ended.errors.contains("GOAUTH is off in the environment, which wins"), "\(ended)")
            try await home.lanyard(["unconfigure", "go", "--yes"])
            #expect(try home.text("\(home.folder)/home/.config/go/env") == "GOAUTH=off\n")
        }
    }

    /// Returns a kubeconfig with a cluster for two users.
    private static func clusters(_ user: String) -> String {
        """
        apiVersion: v1
        clusters:
        - cluster:
            server: https://contoso-1a2b3c4d.hcp.westeurope.azmk8s.io:443
          name: contoso
        contexts:
        - context:
            cluster: contoso
            user: aks
          name: contoso
        users:
        - name: aks
          user:
        \(user.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))

        """
    }

    private static let tenant = "11111111-aaaa-bbbb-cccc-222222222222"
    private static let provider = """
        auth-provider:
          config:
            access-token: secret
            apiserver-id: 6dae42f8-4368-4678-94ff-3960e28e3630
            client-id: 80faf920-1908-4b52-b5ef-a8e7bedfc67a
            environment: AzurePublicCloud
            tenant-id: \(tenant)
          name: azure
        """
    private static let login = """
        exec:
          apiVersion: client.authentication.k8s.io/v1beta1
          args:
          - get-token
          - --environment
          - AzurePublicCloud
          - --server-id
          - 6dae42f8-4368-4678-94ff-3960e28e3630
          - --client-id
          - 80faf920-1908-4b52-b5ef-a8e7bedfc67a
          - --tenant-id
          - \(tenant)
          - --login
          - devicecode
          command: kubelogin
          env: null
        """

    @Test(arguments: [login, provider])
    func `what a user of kubectl's signed in with becomes a rule`(user: String) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.kube/config"
            try home.write(Self.clusters(user), to: file)
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            let command = """
                the cluster contoso still needs a rule; to add it: lanyard rule add https://contoso-1a2b3c4d.hcp.westeurope.azmk8s.io:443 \
                --authority https://login.microsoftonline.com/\(Self.tenant) --client-id 80faf920-1908-4b52-b5ef-a8e7bedfc67a \
                --resource 6dae42f8-4368-4678-94ff-3960e28e3630
                """
            #expect(ended.errors.contains(command), "\(ended)")
            let again = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(again.errors.contains("configured already") && again.errors.contains(command), "\(again)")
            let words = command.split(separator: " ").map(String.init).drop { $0 != "rule" }
            let added = try await home.lanyard(Array(words))
            #expect(added.status == 0, "\(added)")
            let done = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(!done.errors.contains("needs a rule"), "\(done)")
            let dry = try await home.lanyard(["unconfigure", "kubectl", "--dry-run"])
            #expect(dry.status == 0 && !dry.errors.contains("the rule"), "\(dry)")
            let isProvider = user.hasPrefix("auth-provider")
            #expect(ended.errors.contains("the tokens of the user aks are removed") == isProvider, "\(ended)")
            let back = try await home.lanyard(["unconfigure", "kubectl", "--yes"])
            #expect(back.errors.contains("az aks get-credentials") == isProvider, "\(back)")
            #expect(back.errors.contains("lanyard rule remove https://contoso-1a2b3c4d.hcp."), "\(back)")
            #expect(try home.text(file) == Self.clusters(user).replacing("        access-token: secret\n", with: ""))
        }
    }

    @Test(.enabled(if: Clients.folder != nil, "there are no tools of others"))
    func `kubectl takes the user that is printed`() async throws {
        try await Home.withTools { home in
            try home.write(Self.clusters("token: t"), to: "\(home.folder)/home/.kube/config")
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            let command = try #require(
                ended.errors.components(separatedBy: "to set up another: kubectl ").last, "\(ended)")
            func kubectl(_ arguments: [String]) async throws -> Ended {
                try await run(
                    Clients.program("kubectl"), arguments, environment: home.environment, folder: home.folder)
            }
            let words = command.split { $0.isWhitespace }.map(String.init)
            let made = try await kubectl(words)
            #expect(made.status == 0, "\(made)")
            let asked = try await kubectl(["--user", "NAME", "--server", "https://127.0.0.1:1", "get", "pods"])
            #expect(asked.errors.contains("lanyard") && !asked.errors.contains("must be specified"), "\(asked)")
        }
    }

    /// A user of the kubelogin for issuers of OpenID Connect, with a secret.
    private static let oidc = """
        exec:
          apiVersion: client.authentication.k8s.io/v1beta1
          args:
          - get-token
          - --oidc-issuer-url=https://id.example.com/realms/lab
          - --oidc-client-id=kubernetes
          - --oidc-client-secret=not-for-the-screen
          command: kubelogin
          env: null
          provideClusterInfo: false
        """

    @Test func `a user of an issuer of OpenID Connect keeps its ID tokens, or becomes a rule for the issuer`()
        async throws
    {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.kube/config"
            try home.write(Self.clusters(Self.oidc), to: file)
            let stays = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(stays.status == 1 && stays.errors.contains("it has --oidc-client-secret"), "\(stays)")
            for step in [
                "lanyard rule add https://contoso-1a2b3c4d.hcp.westeurope.azmk8s.io:443 --client-id kubernetes",
                "lanyard rule secret --authority https://id.example.com/realms/lab kubernetes",
                "kubectl config set-credentials aks --exec-api-version",
            ] { #expect(stays.errors.contains(step), "\(stays)") }
            let plain = Self.oidc.replacing("  - --oidc-client-secret=not-for-the-screen\n", with: "")
            try home.write(Self.clusters(plain), to: file)
            let other = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(other.status == 0 && other.errors.contains(" --token id --redirect-port 8000"), "\(other)")
            #expect(
                other.errors.contains("register with the application kubernetes: http://127.0.0.1:8000"), "\(other)")
            #expect(!(stays.errors + other.errors).contains("not-for-the-screen"), "\(stays)")
            let user = plain.replacing("  - get-token\n", with: "  - get-token\n  - --oidc-use-access-token\n")
            try home.write(Self.clusters(user), to: file)
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            let command = """
                lanyard rule add https://contoso-1a2b3c4d.hcp.westeurope.azmk8s.io:443 --client-id kubernetes \
                --authority https://id.example.com/realms/lab --kind oidc --trust-authority --scope openid
                """
            #expect(ended.status == 0 && ended.errors.contains(command), "\(ended)")
            let added = try await home.lanyard(Array(command.split(separator: " ").map(String.init).dropFirst()))
            #expect(added.status == 0, "\(added)")
            #expect(try await home.lanyard(["unconfigure", "kubectl", "--yes"]).status == 0)
            #expect(try home.text(file) == Self.clusters(user))
        }
    }

    /// What may stand in a user's settings, and must survive.
    private static let odd = [
        login + "\nas: viewer\nas-groups:\n- readers",
        login.replacing(
            "  env: null", with: "  env: null\n  installHint: |2\n\n    kubelogin is missing.\n\n    See the manual."),
        "# mine\nextensions: [] # none\nexec: # the token\n  args: [get-token, --server-id, '6dae42f8-4368-4678-94ff-3960e28e3630']"
            + "\n\n  # which\n  command: \"kubelogin\"\n  apiVersion: client.authentication.k8s.io/v1\n  interactiveMode: Never\n\ntokenFile: /x",
    ]

    @Test(arguments: odd, ["\n", "\r\n"])
    func `kubectl sees another exec only, and the file is as it was afterwards`(user: String, end: String) async throws
    {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.kube/config"
            let indented = user.split(separator: "\n", omittingEmptySubsequences: false).map {
                $0.isEmpty ? "" : "    \($0)"
            }
            let text = Self.clusters("X").replacing("    X", with: indented.joined(separator: "\n")).replacing(
                "\n", with: end)
            try home.write(text, to: file)
            func view() async throws -> [String: Any]? {
                guard Clients.folder != nil else { return nil }
                let seen = try await run(
                    Clients.program("kubectl"), ["config", "view", "--raw", "--output=json"],
                    environment: home.environment,
                    folder: home.folder)
                return try JSONSerialization.jsonObject(with: Data(seen.output.utf8)) as? [String: Any]
            }
            func others(_ view: [String: Any]?) -> NSDictionary? {
                guard var view, let users = view["users"] as? [[String: Any]] else { return nil }
                view["users"] = users.map { user in
                    var settings = user["user"] as? [String: Any] ?? [:]
                    settings["exec"] = nil
                    return ["name": user["name"] ?? "", "user": settings]
                }
                return view as NSDictionary
            }
            let before = try await view()
            let done = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(done.status == 0, "\(done)")
            let after = try await view()
            #expect(others(after) == others(before) && (after == nil) == (Clients.folder == nil))
            if let users = after?["users"] as? [[String: Any]] {
                let exec = (users.first?["user"] as? [String: Any])?["exec"] as? [String: Any]
                #expect(exec?["command"] as? String == "lanyard" && exec?["args"] as? [String] == ["kubectl"])
            }
            #expect(try await home.lanyard(["configure", "kubectl", "--yes"]).errors.contains("configured already"))
            try await home.lanyard(["unconfigure", "kubectl", "--yes"])
            #expect(try home.text(file) == text)
        }
    }

    @Test(.enabled(if: Clients.folder != nil)) func `what kubectl writes anew meanwhile is undone`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.kube/config"
            let user = "as: viewer\n\(Self.login)".split(separator: "\n").map { "            \($0)" }.joined(
                separator: "\n")
            let deep = Self.clusters("X").replacing(
                "- name: aks\n  user:\n    X", with: "    - name: aks\n      user:\n\(user)")
            try home.write(deep, to: file)
            let done = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(done.status == 0, "\(done)")
            let kubectl = try await run(
                Clients.program("kubectl"), ["config", "set-context", "other", "--user=aks"],
                environment: home.environment,
                folder: home.folder)
            #expect(kubectl.status == 0, "\(kubectl)")
            let back = try await home.lanyard(["unconfigure", "kubectl", "--yes"])
            #expect(back.status == 0, "\(back)")
            let seen = try await run(
                Clients.program("kubectl"), ["config", "view", "--raw", "--output=jsonpath={.users[0].user}"],
                environment: home.environment, folder: home.folder)
            #expect(seen.output.contains("kubelogin") && seen.output.contains("viewer"), "\(seen)")
        }
    }

    @Test func `changes of a later version stay, and keep only their tool back`() async throws {
        try await Home.withTools { home in
            let later =
                #"{"tool": "docker", "file": "/f", "format": "yaml", "key": ["a"], "value": "b", "more": {"x": [1]}}"#
            try home.write(#"{"changes": [\#(later)]}"#, to: home.record)
            func kept() throws -> Bool {
                let json = try JSONSerialization.jsonObject(with: Data(home.text(home.record).utf8)) as? [String: Any]
                let changes = json?["changes"] as? [[String: Any]] ?? []
                return changes.contains {
                    ($0["more"] as? [String: [Int]]) == ["x": [1]] && $0["format"] as? String == "yaml"
                }
            }
            for command in ["configure", "unconfigure"] {
                let refused = try await home.lanyard([command, "docker", "--yes"])
                #expect(
                    refused.status == 1 && refused.errors.contains("this version of lanyard doesn't know"), "\(refused)"
                )
                let done = try await home.lanyard([command, "cargo", "--yes"])
                #expect(done.status == 0, "\(done)")
                #expect(try kept())
            }
            let list = try await home.lanyard(["configure", "--list"])
            #expect(list.status == 0 && list.errors.isEmpty, "\(list)")
        }
    }

    @Test func `a user of a cluster without encryption, where no token is sent, stays as it is`() async throws {
        try await Home.withTools { home in
            let text = Self.clusters(Self.login).replacing("https://contoso-", with: "http://contoso-")
            let file = "\(home.folder)/home/.kube/config"
            try home.write(text, to: file)
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(ended.errors.contains("the user aks stays as it is: tokens are not sent to http://"), "\(ended)")
            #expect(try home.text(file) == text)
        }
    }

    @Test func `of two accounts of one cluster, one becomes lanyard's, and the other stays as it is`() async throws {
        try await Home.withTools { home in
            func login(_ account: String) -> String {
                Self.login.replacing("  command:", with: "  - --login-hint=\(account)@contoso.example\n  command:")
            }
            let text = Self.clusters(login("alice"))
            let user = login("adm-alice")
            let indented = user.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
            let cluster = try #require(text.firstMatch(of: /cluster: ([a-z]+)/)?.1)
            let both =
                text + (text.hasSuffix("\n") ? "" : "\n")
                + "- name: second\n  user:\n\(indented)\n"
                + ""
            try home.write(
                both.replacing(
                    "contexts:\n", with: "contexts:\n- {name: b, context: {cluster: \(cluster), user: second}}\n"),
                to: "\(home.folder)/home/.kube/config")
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(ended.status == 0, "\(ended)")
            #expect(
                ended.errors.contains(
                    "the user second stays as it is: aks is for the same cluster, and a rule has one account"),
                "\(ended)")
            let file = "\(home.folder)/home/.kube/config"
            // Who uses lanyard already comes first, whichever context is current.
            try home.write("current-context: b\n" + home.text(file), to: file)
            for told in [ended, try await home.lanyard(["configure", "kubectl", "--yes"])] {
                let command = try #require(told.errors.firstMatch(of: /lanyard rule add .*/)?.0, "\(told)")
                #expect(told.errors.ranges(of: "needs a rule").count == 1, "\(told)")
                #expect(command.contains("--account alice@contoso.example") && command.contains(Self.tenant))
            }
            let config = try home.text(file)
            #expect(config.ranges(of: "command: lanyard").count == 1 && config.contains("adm-alice@"), "\(config)")
        }
    }

    @Test func `kubeconfigs in braces are said to be so`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.kube/config"
            let json =
                #"{"users": [{"name": "aks", "user": {"exec": {"command": "kubelogin", "args": ["get-token"]}}}]}"#
            try home.write(json, to: file)
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(
                ended.status == 1 && ended.errors.contains("the user aks stays as it is: it is written with braces"))
            #expect(ended.errors.contains("kubectl config view --raw --kubeconfig "), "\(ended)")
            try home.write("users:\n\t- name: aks\n\t  user: {exec: {command: kubelogin\n", to: file)
            let broken = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(broken.status == 1 && broken.errors.contains("is not written as kubectl writes it"), "\(broken)")
        }
    }

    @Test(arguments: ["\n    token: x", "{}"])
    func `of two users of one name the first file's counts, as for kubectl`(first: String) async throws {
        try await Home.withTools { home in
            let (a, b) = ("\(home.folder)/home/a", "\(home.folder)/home/b")
            try home.write("apiVersion: v1\nkind: Config\nusers:\n- name: aks\n  user: \(first)\n", to: a)
            try home.write(Self.clusters(Self.provider), to: b)
            let variable = ["KUBECONFIG": "\(a):\(b)"]
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"], variable)
            #expect(ended.status == 1, "\(ended)")
            #expect(
                ended.errors.contains("the user aks of ~/b stays as it is: kubectl uses the one in an earlier file"),
                "\(ended)")
            #expect(!ended.errors.contains("tokens"), "\(ended)")
            #expect(try home.text(b) == Self.clusters(Self.provider))
            let other = ["KUBECONFIG": "\(b):\(a)"]
            let converted = try await home.lanyard(["configure", "kubectl", "--yes"], other)
            #expect(converted.status == 0, "\(converted)")
            for (variable, command) in [(variable, ""), (other, "lanyard")] where Clients.folder != nil {
                let seen = try await run(
                    Clients.program("kubectl"),
                    ["config", "view", "--output=jsonpath={.users[?(@.name=='aks')].user.exec.command}"],
                    environment: home.environment.merging(variable) { $1 }, folder: home.folder)
                #expect(seen.output == command, "\(seen)")
            }
        }
    }

    @Test(arguments: ["\r\n", ""])
    func `a kubeconfig with carriage returns keeps them`(end: String) async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.kube/config"
            let text = String(Self.clusters(Self.login).dropLast()).replacing("\n", with: "\r\n") + end
            try home.write(text, to: file)
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(ended.status == 0 && !ended.errors.contains("?"), "\(ended)")
            let written = try home.text(file)
            #expect(written.hasSuffix("provideClusterInfo: true\(end)"), "\(written)")
            #expect(written.replacing("\r\n", with: "").utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D })
            #expect(try await home.lanyard(["configure", "kubectl", "--yes"]).errors.contains("configured already"))
            try await home.lanyard(["unconfigure", "kubectl", "--yes"])
            #expect(try home.text(file) == text)
        }
    }

    @Test func `a user of kubectl's that stays is named with the reason`() async throws {
        try await Home.withTools { home in
            let user = Self.login.replacing("env: null", with: "env:\n  - name: AAD_LOGIN\n    value: x")
            try home.write(Self.clusters(user), to: "\(home.folder)/home/.kube/config")
            let ended = try await home.lanyard(["configure", "kubectl", "--yes"])
            #expect(ended.status == 1, "\(ended)")
            let reason = "the user aks stays as it is: it sets AAD_LOGIN for kubelogin (env)"
            #expect(ended.errors.contains(reason), "\(ended)")
        }
    }

    @Test func `keyring's second deletion fails as Python's does`() async throws {
        try await Home.withTools(.unlocked) { home in
            let link = "\(home.folder)/bin/keyring"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.lanyard)
            let url = "https://pypi.contoso.com/simple/"
            for (words, status) in [
                (["set", url, "me"], Int32(0)), (["del", url, "me"], 0), (["del", url, "me"], 1),
            ] {
                let ended = try await run(
                    link, words, input: "p\n", environment: home.environment, folder: home.folder)
                #expect(ended.status == status, "\(ended)")
                if status == 1 { #expect(ended.errors.contains("No such password!"), "\(ended)") }
            }
        }
    }

    @Test func `what is shown fits a terminal of 80 columns`() async throws {
        try await Home.withTools { home in
            try home.write(Self.clusters(Self.login), to: "\(home.folder)/home/.kube/config")
            let ended = try await home.lanyardAtTerminal(["configure", "kubectl"], [("go on? [Y/n] ", "n")])
            #expect(ended.output.contains("lanyard:   instead of"), "\(ended)")
            let rows = ended.output.split(whereSeparator: \.isNewline)
            #expect(rows.allSatisfy { $0.count <= 80 }, "\(ended)")
        }
    }

    @Test func `eight at once write it once`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.docker/config.json"
            try home.write(Self.docker, to: file)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let ended = try await home.lanyard(["configure", "docker", "--yes"])
                        #expect(ended.status == 0, "\(ended)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try home.text(file).matches(of: /lanyard/).count == 1)
            #expect(try home.text(home.record).matches(of: /"tool"/).count == 1)
            try await home.lanyard(["unconfigure", "docker", "--yes"])
            #expect(try home.text(file) == Self.docker)
        }
    }

    @Test func `the list says who is installed and who uses lanyard`() async throws {
        try await Home.withTools { home in
            try home.program("docker", "exit 0")
            try await home.lanyard(["configure", "docker", "https://a.example", "--yes"])
            try await home.lanyard(["configure", "bazel", "--yes"])
            let lines = try await home.lanyard(["configure", "--list"]).lines
            let rows = lines.map { $0.split(separator: " ", maxSplits: 1) }
            let states = Dictionary(
                uniqueKeysWithValues: rows.map { (String($0[0]), String($0[1].drop { $0 == " " })) })
            #expect(states["docker"] == "installed         uses lanyard for https://a.example")
            #expect(states["bazel"] == "not installed     uses lanyard")
            try home.program("skopeo", "exit 0")
            #expect(try await home.use(of: "podman", installed: "skopeo installed") == "doesn't use lanyard")
            #expect(states["git"] == "installed         doesn't use lanyard")
        }
    }

    @Test func `a record that can't be read doesn't keep the list back`() async throws {
        try await Home.withTools { home in
            try await home.lanyard(["configure", "bazel", "--yes"])
            try home.write("{}", to: home.record)
            let ended = try await home.lanyard(["configure", "--list"])
            #expect(ended.status == 0 && ended.errors.contains("is not the record that lanyard wrote"), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: remove lanyard from"), "\(ended)")
            #expect(ended.output.contains(/bazel +not installed +uses lanyard\n/), "\(ended)")
        }
    }

    @Test func `a line of bazelrc's that another helper has for the same hosts is named`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.bazelrc"
            try home.write("common --credential_helper=*.contoso.com=other\n", to: file)
            let ended = try await home.lanyard(["configure", "bazel", "*.contoso.com", "--yes"])
            #expect(ended.errors.contains("other is in ~/.bazelrc for *.contoso.com"), "\(ended)")
            #expect(ended.errors.contains("neither bazel nor bazelisk is on PATH"), "\(ended)")
        }
    }

    @Test func `doctor says what a configured tool misses`() async throws {
        try await Home.withTools { home in
            try await home.lanyard(["configure", "docker", "--yes"])
            let works = try await home.lanyard(["doctor", "--all"])
            #expect(works.output.contains(/pass  tools.docker +docker asks lanyard/), "\(works)")
            #expect(!works.output.contains("tools.cargo"), "\(works)")
            try FileManager.default.removeItem(atPath: "\(home.folder)/bin/docker-credential-lanyard")
            let missing = try await home.lanyard(["doctor"])
            let finding = /fail  tools.docker +docker can't find docker-credential-lanyard/
            #expect(missing.output.contains(finding), "\(missing)")
            try home.write("{}", to: "\(home.folder)/home/.docker/config.json")
            let changed = try await home.lanyard(["doctor"])
            #expect(changed.output.contains("what lanyard wrote to ~/.docker/config.json was changed"), "\(changed)")
        }
    }

    /// A real program, and its output after configuration.
    private static let programs: [(tool: String, command: [String], answer: String)] = [
        ("pip", ["pip", "config", "get", "global.keyring-provider"], "subprocess\n"),
        ("uv", ["uv", "--show-settings", "pip", "install", "--dry-run", "x"], "keyring_provider: Subprocess"),
        (
            "kubectl", ["kubectl", "config", "view", "--output=jsonpath={.users[?(@.name=='aks')].user.exec.command}"],
            "lanyard"
        ),
        ("go", ["go", "env", "GOAUTH"], "netrc; lanyard goauth\n"),
    ]

    @Test(.enabled(if: Clients.folder != nil), arguments: programs)
    func `the tool itself reads what was written`(tool: String, command: [String], answer: String) async throws {
        try await Home.withTools { home in
            if tool == "kubectl" {
                let old = Self.kubelogin("/usr/bin/kubelogin", ["get-token", "--server-id", "x"])
                try home.write(old, to: "\(home.folder)/home/.kube/config")
            }
            try await home.lanyard(["configure", tool, "--yes"])
            let ended = try await run(
                Clients.program(command[0]), Array(command.dropFirst()), environment: home.environment,
                folder: home.folder + "/home")
            #expect(ended.output.contains(answer), "\(ended)")
        }
    }
}

extension Home {
    /// Checks that the AWS CLI's library, if installed, finds what `configure aws` wrote, and the region next to it.
    fileprivate func expectAWS(_ variables: [String: String], region: String) async throws {
        guard Clients.folder != nil else { return }
        let environment = environment.merging(variables) { $1 }
        let script = """
            import awscli.botocore.session
            profile = awscli.botocore.session.Session().get_scoped_config()
            print(profile.get("credential_process", ""), profile.get("region", ""), sep="\\n")
            """
        let ended = try await run(
            Clients.program("python"), ["-c", script], environment: environment, folder: "\(folder)/home")
        let values = ended.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(values.first?.hasPrefix("lanyard aws https://sts.") == true, "\(ended)")
        #expect(values.dropFirst().first.map(String.init) == region, "\(ended)")
    }

    /// Returns how the list describes a tool's use of lanyard.
    func use(
        of tool: String, _ variables: [String: String] = [:], installed: String = "installed"
    ) async throws -> String {
        let lines = try await lanyard(["configure", "--list"], variables).lines
        let line = try #require(lines.first { $0.hasPrefix("\(tool) ") })
        let end = try #require(line.ranges(of: installed).last?.upperBound)
        return String(line[end...].drop { $0 == " " })
    }

    /// Returns the names of the files in a folder of the home; empty if there is no such folder.
    fileprivate func files(in folder: String) throws -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(self.folder)/home/\(folder)")) ?? []
    }

    /// The folders in the home, except those of lanyard's own files.
    fileprivate var folders: Set<String> {
        let all = FileManager.default.enumerator(atPath: "\(folder)/home")?.compactMap { $0 as? String } ?? []
        let own = [".local", ".local/state", ".local/state/lanyard"]
        return Set(
            all.filter { path in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(folder)/home/\(path)", isDirectory: &isFolder)
                    && isFolder.boolValue && !own.contains(path)
            })
    }

    /// The file in which `configure TOOL` records its changes.
    fileprivate var record: String { "\(folder)/home/.local/state/lanyard/tool-changes.json" }

    /// Runs the body in a home with the tools' programs on `PATH`, and the usual folders for settings.
    static func withTools(
        _ state: KeyringFixture.State = .noBus, _ body: @Sendable (Home) async throws -> Void
    ) async throws {
        try await Home.with(state) { home in
            for name in ["docker-credential-lanyard", "cargo-credential-lanyard", "bazel-credential-lanyard"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(home.folder)/bin/\(name)", withDestinationPath: Built.lanyard)
            }
            let places = ["XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"]
            try await body(home.with(places.mapValues { "\(home.folder)/home/\($0)" }))
        }
    }
}
