import Foundation
import TestSupport
import Testing

/// The files and variables that tools read, and their order: what `configure` writes is read, and what comes first is named.
///
/// Where the tools themselves are here, they say so.
@Suite struct ToolPlaceTests {
    private static let role = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
    private static let registry = "https://npm.contoso.com/a"

    /// A variable with a path, as a tool takes it.
    struct NamedFile: Sendable, CustomTestStringConvertible {
        let tool: String
        var url: String?
        let variable: String
        var path = "there/file"
        /// The file that the tool reads then, in the working folder.
        var file = "there/file"
        /// The file before; nil if there is none.
        var before: String?
        var arguments: [String] { [tool] + [url].compactMap(\.self) + ["--yes"] }
        var testDescription: String { "\(tool) \(variable)=\(path)" }
    }

    static let kubeconfig = """
        apiVersion: v1
        clusters:
        - cluster:
            server: https://127.0.0.1:1
          name: c
        contexts:
        - context:
            cluster: c
            user: u
          name: x
        current-context: x
        kind: Config
        preferences: {}
        users:
        - name: u
          user:
            exec:
              apiVersion: client.authentication.k8s.io/v1beta1
              args:
              - get-token
              - --login
              - devicecode
              command: kubelogin
              env: null

        """

    private static let namedFiles = [
        NamedFile(tool: "docker", variable: "DOCKER_CONFIG", path: "there", file: "there/config.json"),
        NamedFile(tool: "docker", variable: "DOCKER_CONFIG", path: "~/there", file: "~/there/config.json"),
        NamedFile(tool: "podman", url: "https://a.example", variable: "REGISTRY_AUTH_FILE"),
        NamedFile(
            tool: "podman", url: "https://a.example", variable: "DOCKER_CONFIG", path: "there",
            file: "there/config.json"),
        NamedFile(tool: "cargo", variable: "CARGO_HOME", path: "there", file: "there/config.toml"),
        NamedFile(tool: "go", variable: "GOENV"),
        NamedFile(tool: "pip", variable: "PIP_CONFIG_FILE", before: "[global]\nquiet = 1\n"),
        NamedFile(tool: "uv", variable: "UV_CONFIG_FILE"),
        NamedFile(tool: "terraform", variable: "TF_CLI_CONFIG_FILE"),
        NamedFile(tool: "terraform", variable: "TERRAFORM_CONFIG"),
        NamedFile(tool: "aws", url: role, variable: "AWS_CONFIG_FILE"),
        NamedFile(tool: "aws", url: role, variable: "AWS_CONFIG_FILE", path: "~/there/file"),
        NamedFile(tool: "pnpm", url: registry, variable: "NPM_CONFIG_USERCONFIG"),
        NamedFile(tool: "pnpm", url: registry, variable: "npm_config_userconfig", path: "~/there/file"),
        NamedFile(tool: "kubectl", variable: "KUBECONFIG", path: ":there/file:none", before: kubeconfig),
    ]

    @Test(arguments: namedFiles)
    func `a path in a tool's variable is taken as the tool takes it, and undone from anywhere`(_ given: NamedFile)
        async throws
    {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/\(given.file)"
            if let before = given.before { try home.write(before, to: file) }
            let expands = ["aws", "pnpm"].contains(given.tool) && given.path.hasPrefix("~")
            let ended = try await home.lanyard(["configure"] + given.arguments, [given.variable: given.path])
            #expect(ended.status == 0, "\(ended)")
            let note = "\(given.variable) has a relative path, by which \(given.tool) finds this file only in"
            #expect(ended.errors.contains(note) == !expands, "\(ended)")
            let written = try home.text(file)
            #expect(written.contains("lanyard") || written.contains("keyring-provider"), "\(written)")
            // Without the variable, the tool doesn't ask lanyard.
            let doctor = try await home.lanyard(["doctor"])
            let isUnread = doctor.output.contains("\(given.tool) does not read ~/\(given.file) here")
            #expect(isUnread, "\(doctor)")
            let elsewhere = try await run(
                "\(home.folder)/bin/lanyard", ["unconfigure", given.tool, "--yes"], environment: home.environment,
                folder: "/")
            #expect(elsewhere.status == 0, "\(elsewhere)")
            #expect((try? home.text(file)) == given.before)
        }
    }

    /// Settings that come before lanyard's.
    struct First: Sendable, CustomTestStringConvertible {
        let tool: String
        var url: String?
        /// Files in the home folder, which is the working folder, too.
        var files: [String: String] = [:]
        var variables: [String: String] = [:]
        let message: String
        /// Whether doctor warns; what somebody chose for one place is no fault.
        var isFault = true
        /// The tool's line in the list.
        var use: String?

        var testDescription: String { "\(tool): \(message)" }
    }

    private static let rule = """
        [[rule]]
        url = "https://a.example/feed"
        authority = "https://login.microsoftonline.com/contoso.com"
        client-id = "11111111-2222-3333-4444-555555555555"
        scopes = ["x"]

        """

    private static let netrc = ".netrc has a password for a.example, which comes first; remove it"
    private static let clear = #"{"auths": {"a.example": {"auth": "eDp5"}}}"#

    private static let first =
        firstOfRegistries + firstOfLanguages + [
            First(
                tool: "terraform", variables: ["TF_TOKEN_app__1_terraform_io": "x"],
                message:
                    "TF_TOKEN_app__1_terraform_io in the environment has the token for app-1.terraform.io, which comes first; unset it: unset TF_TOKEN_app__1_terraform_io",
                use: "uses lanyard, but not for app-1.terraform.io"),
            First(
                tool: "terraform",
                files: [".terraform.d/work.tfrc": "credentials \"a.example\" {\n  token = \"x\"\n}\n"],
                message: "the token for a.example in ~/.terraform.d/work.tfrc comes first; remove it there",
                use: "uses lanyard, but not for a.example"),
            First(
                tool: "terraform",
                files: [".terraform.d/work.tfrc.json": #"{"credentials": {"a.example": {"token": "x"}}}"#],
                message: "the token for a.example in ~/.terraform.d/work.tfrc.json comes first",
                use: "uses lanyard, but not for a.example"),
            First(
                tool: "kubectl", files: [".kube/kuberc": "kind: Preference\ncredentialPluginPolicy: DenyAll\n"],
                message: "kubectl runs no lanyard, because of credentialPluginPolicy in ~/.kube/kuberc"),
            First(
                tool: "kubectl",
                files: ["rc": "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- command: other\n"],
                variables: ["KUBERC": "rc"], message: "add to its credentialPluginAllowlist: - command: lanyard"),
            First(
                tool: "aws", url: role, variables: ["AWS_ACCESS_KEY_ID": "x"],
                message: "AWS_ACCESS_KEY_ID in the environment comes first; unset it: unset AWS_ACCESS_KEY_ID"),
            First(
                tool: "aws", url: role, variables: ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x"],
                message: "AWS_WEB_IDENTITY_TOKEN_FILE in the environment comes first"),
            First(
                tool: "aws", url: role,
                files: [".aws/credentials": "[default]\ncredential_process = /opt/other/tool\n"],
                message: "~/.aws/credentials has credential_process for the profile default, which comes first"),
            First(
                tool: "aws", url: role, files: ["keys": "[default]\naws_access_key_id = a\n"],
                variables: ["AWS_SHARED_CREDENTIALS_FILE": "~/keys"],
                message: "~/keys has keys for the profile default, which come first"),
            First(
                tool: "aws", url: role, files: [".aws/credentials": "[default]\nrole_arn = a\n"],
                message: "~/.aws/credentials has role_arn for the profile default, which comes first"),
        ]

    private static let firstOfRegistries = [
        First(
            tool: "docker", variables: ["DOCKER_AUTH_CONFIG": clear],
            message:
                "DOCKER_AUTH_CONFIG in the environment has the password for a.example, which comes first; unset it: unset DOCKER_AUTH_CONFIG",
            use: "uses lanyard, but not for a.example"),
        First(
            tool: "docker", files: [".config/helm/registry/config.json": clear],
            message:
                "helm uses what ~/.config/helm/registry/config.json has for a.example first; to remove it: helm registry logout a.example",
            use: "uses lanyard, but not for helm at a.example"),
        First(
            tool: "docker", files: [".docker/config.json": #"{"credHelpers": {"gcr.io": "gcloud"}}"#],
            message: "gcloud is still asked for gcr.io (`credHelpers` in ~/.docker/config.json)", isFault: false,
            use: "uses lanyard, but not for gcr.io"),
        First(
            tool: "podman", url: "https://a.example", files: ["run/containers/auth.json": clear],
            variables: ["XDG_RUNTIME_DIR": "HOME/run"],
            message: "has a login for a.example, which comes first; to remove it: podman logout a.example"),
        First(
            tool: "podman", url: "https://a.example",
            files: [".config/containers/registries.conf.d/z.conf": "credential-helpers = [\"other\"]\n"],
            message:
                "credential-helpers is [\"other\"] in ~/.config/containers/registries.conf.d/z.conf, which podman asks first"
        ),
    ]

    private static let firstOfLanguages = [
        First(
            tool: "go", variables: ["GOAUTH": "netrc"],
            message: "GOAUTH in the environment wins; unset it: unset GOAUTH", use: "doesn't use lanyard"),
        First(tool: "go", files: [".netrc": "machine a.example login x password y\n"], message: netrc),
        First(
            tool: "uv", files: ["rc": "# x\nmachine\n a.example\n\tlogin x password y\n"], variables: ["NETRC": "rc"],
            message: "rc has a password for a.example, which comes first; remove it"),
        First(tool: "pip", files: [".netrc": "machine a.example login x password y\n"], message: netrc),
        First(
            tool: "pip", files: ["venv/pip.conf": "[global]\nkeyring-provider = import\n"],
            variables: ["VIRTUAL_ENV": "HOME/venv"],
            message: "keyring-provider is import in [global] of ~/venv/pip.conf", use: "doesn't use lanyard"),
        First(
            tool: "pip", files: [".pip/pip.conf": "[install]\nkeyring-provider = import\n"],
            message: "keyring-provider is import in [install] of ~/.pip/pip.conf", use: "doesn't use lanyard"),
        First(
            tool: "pip", files: [".config/pip/pip.conf": "[download]\nkeyring-provider = import\n"],
            message: "keyring-provider is import in [download] of ~/.config/pip/pip.conf, which pip download uses",
            use: "uses lanyard, but not for pip download"),
        First(
            tool: "uv", files: ["uv.toml": "keyring-provider = \"disabled\"\n"],
            message: "keyring-provider is disabled in ~/uv.toml", use: "doesn't use lanyard"),
        First(
            tool: "uv", files: ["pyproject.toml": "[tool.uv]\nkeyring-provider = \"disabled\"\n"],
            message: "keyring-provider is disabled in [tool.uv] of ~/pyproject.toml", use: "doesn't use lanyard"),
        First(
            tool: "uv", files: ["pyproject.toml": "[tool.uv.pip]\nkeyring-provider = \"disabled\"\n"],
            message: "keyring-provider is disabled in [tool.uv.pip] of ~/pyproject.toml, which uv pip uses",
            use: "uses lanyard, but not for uv pip"),
        First(
            tool: "uv", variables: ["UV_NO_CONFIG": "1"],
            message: "UV_NO_CONFIG has uv read no settings; unset it: unset UV_NO_CONFIG", use: "doesn't use lanyard"),
        First(
            tool: "uv",
            files: [
                ".local/share/uv/credentials/credentials.toml": "[[credential]]\nservice = \"https://b.example/\"\n"
            ],
            message: "to remove it: uv auth logout https://b.example/",
            use: "uses lanyard, but not for https://b.example/"),
        First(
            tool: "cargo", files: [".cargo/own": "x"],
            variables: ["CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS": "cargo:libsecret"],
            message:
                "cargo:libsecret is in CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS, so that cargo asks it before lanyard",
            use: "uses lanyard, but not for what cargo:libsecret has"),
        First(
            tool: "cargo",
            files: ["ch/x": "", ".cargo/config.toml": "[registry]\nglobal-credential-providers = [\"a b\"]\n"],
            variables: ["CARGO_HOME": "HOME/ch"],
            message: "a is in ~/.cargo/config.toml, so that cargo asks it before lanyard",
            use: "uses lanyard, but not for what a has"),
        First(
            tool: "cargo",
            files: [
                ".cargo/config.toml": "[registries.corp]\nindex = \"sparse+https://a\"\ncredential-provider = \"x\"\n"
            ],
            message: "~/.cargo/config.toml has another provider for corp", isFault: false,
            use: "uses lanyard, but not for corp"),
        First(
            tool: "bazel", files: [".bazelrc": "build --credential_helper=other\n"],
            message: "other is in ~/.bazelrc for bazel build, which comes first; remove it there",
            use: "uses lanyard, but not for bazel build"),
        First(
            tool: "bazel", files: ["MODULE.bazel": "", "rc": "common \\\n --credential_helper other\n"],
            variables: ["BAZELRC": "none,rc"], message: "other is in ~/rc, which comes first; remove it there",
            use: "doesn't use lanyard"),
        First(
            tool: "bazel", files: [".bazelrc": "common --credential_helper=*.a.example=other\n"],
            message: "other is still asked for *.a.example, which ~/.bazelrc says", isFault: false,
            use: "uses lanyard, but not for *.a.example"),
        First(
            tool: "bazel", url: "https://a.example",
            files: [".bazelrc": "common:ci --credential_helper=other\nbuild --credential_helper=a.example=other\n"],
            message: "other is in ~/.bazelrc for bazel build, which comes first"),
        First(
            tool: "pnpm", url: registry, files: [".npmrc": "//npm.contoso.com/a/b/:_authToken=x\n"],
            message: "~/.npmrc has _authToken for //npm.contoso.com/a/b/, which comes first; remove it"),
        First(
            tool: "pnpm", url: registry, files: [".config/pnpm/auth.ini": "//npm.contoso.com/a/:tokenHelper=/x\n"],
            message: "~/.config/pnpm/auth.ini has tokenHelper for //npm.contoso.com/a/, which comes first"),
        First(
            tool: "nuget", variables: ["NuGetPackageSourceCredentials_corp": "x"],
            message: "NuGetPackageSourceCredentials_corp in the environment has the password for corp"),
        First(
            tool: "nuget",
            files: [
                "NuGet.Config":
                    "<configuration><packageSourceCredentials>\n<my_x0020_feed>\n<add key=\"Username\" value=\"x\" /></my_x0020_feed></packageSourceCredentials></configuration>"
            ],
            message: "~/NuGet.Config has the password for the source my feed, which comes first", isFault: false),
    ]

    @Test(arguments: first)
    func `what comes before lanyard is named when the tool is configured, by doctor and in the list`(_ given: First)
        async throws
    {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            try home.write(Self.rule, to: "\(base)/.config/lanyard/config.toml")
            try home.write(Self.kubeconfig, to: "\(base)/.kube/config")
            for (file, text) in given.files { try home.write(text, to: "\(base)/\(file)") }
            for name in [given.tool, "nuget-plugin-lanyard"] { try home.program(name, "exit 0") }
            var variables = given.variables.mapValues { $0.replacing("HOME", with: base) }
            variables["PATH"] = "\(base)/.local/bin:\(home.environment["PATH"] ?? "")"
            let arguments = [given.tool] + [given.url].compactMap(\.self) + ["--yes"]
            let ended = try await home.lanyard(["configure"] + arguments, variables)
            #expect(ended.status == 0 && ended.errors.contains(given.message), "\(ended)")
            let doctor = try await home.lanyard(["doctor"], variables)
            let warns = doctor.output.contains(given.message.split(separator: "; ")[0].split(separator: ": ")[0])
            #expect(warns == given.isFault, "\(doctor)")
            if let use = given.use {
                #expect(try await home.use(of: given.tool, variables) == use)
            }
        }
    }

    @Test func `terraform's other files are read, and a second helper in them is refused`() async throws {
        try await Home.withTools { home in
            let file = "\(home.folder)/home/.terraform.d/work.tfrc"
            for other in ["credentials_helper \"other\" {}\n", "credentials_helper other {\n}\n"] {
                try home.write(other, to: file)
                let refused = try await home.lanyard(["configure", "terraform", "--yes"])
                #expect(refused.status == 1, "\(refused)")
                #expect(
                    refused.errors.contains("~/.terraform.d/work.tfrc names a credentials helper already: other"),
                    "\(refused)")
            }
            try home.write(#"{"credentials_helper": {"other": {}}}"#, to: "\(file).json")
            try FileManager.default.removeItem(atPath: file)
            #expect(try await home.lanyard(["configure", "terraform", "--yes"]).status == 1)
            // If a variable names the only file, the others aren't read.
            let named = ["TF_CLI_CONFIG_FILE": "\(home.folder)/home/rc"]
            #expect(try await home.lanyard(["configure", "terraform", "--yes"], named).status == 0)
            try await home.lanyard(["unconfigure", "terraform", "--yes"])
            try FileManager.default.removeItem(atPath: "\(file).json")
            try home.write("credentials_helper \"lanyard\" {}\n", to: file)
            let done = try await home.lanyard(["configure", "terraform", "--yes"])
            #expect(done.status == 0 && !done.errors.contains(".terraformrc"), "\(done)")
            try FileManager.default.removeItem(atPath: file)
            try await home.lanyard(["configure", "terraform", "--yes"])
            try home.write("credentials_helper \"other\" {}\n", to: file)
            let doctor = try await home.lanyard(["doctor"])
            #expect(doctor.output.contains("~/.terraform.d/work.tfrc names a credentials helper, too"), "\(doctor)")
        }
    }

    @Test func `a tool that reads no settings is told`() async throws {
        try await Home.withTools { home in
            for (tool, variables, message) in [
                ("go", ["GOENV": "off"], "Go reads no settings here: GOENV is off"),
                ("go", ["XDG_CONFIG_HOME": "there"], "XDG_CONFIG_HOME is no absolute path"),
                ("pip", ["PIP_CONFIG_FILE": "/dev/null"], "pip reads no settings here: PIP_CONFIG_FILE is /dev/null"),
            ] {
                try await home.lanyard(["configure", tool, "--yes"])
                let refused = try await home.lanyard(["configure", tool, "--yes"], variables)
                #expect(refused.status == 1 && refused.errors.contains(message), "\(refused)")
                guard tool == "pip" || variables["GOENV"] != nil else { continue }
                let path = ["PATH": "\(home.folder)/home/.local/bin:\(home.environment["PATH"] ?? "")"]
                let doctor = try await home.lanyard(["doctor"], variables.merging(path) { $1 })
                #expect(doctor.output.contains(/reads no settings.*unset (GOENV|PIP_CONFIG_FILE)/), "\(doctor)")
            }
        }
    }
}

/// The tools themselves, with what `configure` wrote, and with what comes before it.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools says why"))
struct RealToolPlaceTests {
    /// Runs a tool in the home folder.
    private static func output(
        _ home: Home, _ program: String, _ arguments: [String], _ variables: [String: String] = [:]
    ) async throws -> String {
        let ended = try await run(
            program, arguments, environment: home.environment.merging(variables) { $1 }, folder: "\(home.folder)/home")
        return (ended.output + ended.errors).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `Go reads the file that its variable names, and its variable first`() async throws {
        try await Home.withTools { home in
            func auth(_ variables: [String: String] = [:]) async throws -> String {
                try await Self.output(home, Clients.program("go"), ["env", "GOAUTH"], variables)
            }
            try await home.lanyard(["configure", "go", "--yes"], ["GOENV": "there"])
            #expect(try await auth() == "netrc")
            #expect(try await auth(["GOENV": "there"]) == "netrc; lanyard goauth")
            #expect(try await auth(["GOENV": "there", "GOAUTH": "off"]) == "off")
            try await home.lanyard(["configure", "go", "--yes"])
            #expect(try await auth() == "netrc; lanyard goauth")
            #expect(try await auth(["GOENV": "off"]) == "netrc")
        }
    }

    @Test func `pip takes its files and variables in this order`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            let script = """
                import sys
                from pip._internal.commands import create_command
                print(create_command(sys.argv[1]).parse_args(["x"])[0].keyring_provider)
                """
            func provider(_ command: String = "install", _ variables: [String: String] = [:]) async throws -> String {
                try await Self.output(home, Clients.program("python"), ["-c", script, command], variables)
            }
            try home.write("[global]\n", to: "\(base)/there")
            try await home.lanyard(["configure", "pip", "--yes"], ["PIP_CONFIG_FILE": "there"])
            #expect(try await provider("install", ["PIP_CONFIG_FILE": "there"]) == "subprocess")
            #expect(try await provider() == "auto")
            try home.write("[install]\nkeyring-provider = import\n", to: "\(base)/.pip/pip.conf")
            try await home.lanyard(["configure", "pip", "--yes"])
            #expect(try await provider() == "import")
            #expect(try await provider("download") == "subprocess")
            #expect(try await provider("download", ["PIP_KEYRING_PROVIDER": "disabled"]) == "disabled")
            #expect(try await provider("download", ["PIP_CONFIG_FILE": "/dev/null"]) == "auto")
        }
    }

    @Test func `pip sends what netrc has, and asks its keyring only once that is refused`() async throws {
        try await Home.withTools { home in
            let script = """
                from pip._internal.network.auth import MultiDomainBasicAuth
                print(MultiDomainBasicAuth(keyring_provider="subprocess")._get_new_credentials("https://a.example/simple"))
                """
            try home.write("machine a.example login x password y\n", to: "\(home.folder)/home/.netrc")
            #expect(try await Self.output(home, Clients.program("python"), ["-c", script]) == "('x', 'y')")
        }
    }

    @Test func `uv takes its files and variables in this order`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            func provider(_ variables: [String: String] = [:]) async throws -> [String] {
                let text = try await Self.output(
                    home, Clients.program("uv"), ["--show-settings", "pip", "list"], variables)
                return text.split(separator: "\n").filter { $0.contains("keyring_provider: ") }.compactMap {
                    $0.split(separator: " ").last?.trimmingCharacters(in: [","])
                }
            }
            try await home.lanyard(["configure", "uv", "--yes"], ["UV_CONFIG_FILE": "there"])
            #expect(try await provider(["UV_CONFIG_FILE": "there"]) == ["Subprocess"])
            try await home.lanyard(["configure", "uv", "--yes"])
            #expect(try await provider() == ["Subprocess"])
            #expect(try await provider(["UV_NO_CONFIG": "1"]) == ["Disabled"])
            #expect(try await provider(["UV_KEYRING_PROVIDER": "disabled"]) == ["Disabled"])
            try home.write("[tool.uv]\nkeyring-provider = \"disabled\"\n", to: "\(base)/pyproject.toml")
            #expect(try await provider() == ["Disabled"])
            try home.write("[pip]\nkeyring-provider = \"subprocess\"\n", to: "\(base)/uv.toml")
            #expect(try await provider() == ["Subprocess"])
        }
    }

    @Test func `the AWS CLI's library takes its variables and files in this order`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            let script = """
                import awscli.botocore.session, awscli.botocore.credentials as c
                session = awscli.botocore.session.Session()
                print(session.get_scoped_config().get("credential_process", "").split(" ")[0])
                for provider in c.create_credential_resolver(session).providers:
                    try:
                        found = provider.load()
                    except Exception as problem:
                        found = problem
                    if found:
                        print(provider.METHOD)
                        break
                """
            func method(_ variables: [String: String] = [:]) async throws -> String {
                try await Self.output(home, Clients.program("python"), ["-c", script], variables)
            }
            let role = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
            for path in ["there", "~/there"] {
                try await home.lanyard(["configure", "aws", role, "--yes"], ["AWS_CONFIG_FILE": path])
                #expect(try await method(["AWS_CONFIG_FILE": path]) == "lanyard\ncustom-process")
                try await home.lanyard(["unconfigure", "aws", "--yes"])
            }
            try await home.lanyard(["configure", "aws", role, "--yes"])
            #expect(try await method() == "lanyard\ncustom-process")
            let own = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"]
            #expect(try await method(own) == "lanyard\nenv")
            let token = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/x"]
            #expect(try await method(token) == "lanyard\nassume-role-with-web-identity")
            for (text, expected) in [
                ("aws_access_key_id = a\naws_secret_access_key = b", "lanyard\nshared-credentials-file"),
                ("credential_process = /opt/other", "/opt/other\ncustom-process"),
                ("role_arn = a\nsource_profile = other", "lanyard\nassume-role"),
                ("sso_account_id = a\nsso_role_name = b", "lanyard\nsso"),
            ] {
                try home.write("[default]\n\(text)\n", to: "\(base)/.aws/credentials")
                #expect(try await method() == expected)
            }
        }
    }

    @Test func `kubectl takes the first of its files, and runs what its own settings allow`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            let kubectl = Clients.program("kubectl")
            func command(_ variables: [String: String]) async throws -> String {
                let path = "jsonpath={.users[0].user.exec.command}"
                return try await Self.output(home, kubectl, ["config", "view", "-o", path], variables)
            }
            func isRefused() async throws -> Bool {
                let pods = try await Self.output(home, kubectl, ["get", "pods"], ["KUBECONFIG": "there"])
                return pods.contains("not allowed: policy") || pods.contains("not permitted by the credential plugin")
            }
            try home.write(ToolPlaceTests.kubeconfig, to: "\(base)/there")
            try await home.lanyard(["configure", "kubectl", "--yes"], ["KUBECONFIG": ":there:none"])
            #expect(try await command(["KUBECONFIG": ":there:none"]) == "lanyard")
            #expect(try await !isRefused())
            for words in [["DenyAll"], ["Allowlist", "--allowlist-entry", "command=cat"]] {
                try? FileManager.default.removeItem(atPath: "\(base)/.kube/kuberc")
                let set = ["kuberc", "set", "--section", "credentialplugin", "--policy"]
                _ = try await Self.output(home, kubectl, set + words)
                #expect(try await isRefused())
                let told = try await home.lanyard(["configure", "kubectl", "--yes"], ["KUBECONFIG": "there"])
                #expect(told.errors.contains("kubectl runs no lanyard"), "\(told)")
                guard words == ["DenyAll"] else { continue }
                // The printed command works.
                let fix = try #require(told.errors.firstMatch(of: /to allow lanyard alone: (kubectl .*)/)?.1)
                let bin = ["PATH": "\(Clients.folder ?? "")/bin:\(home.environment["PATH"] ?? "")"]
                _ = try await Self.output(home, "/bin/sh", ["-c", String(fix)], bin)
                #expect(try await !isRefused())
            }
        }
    }

    @Test func `skopeo takes its files in this order`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            for name in ["lanyard", "other"] {
                try? FileManager.default.removeItem(atPath: "\(home.folder)/bin/docker-credential-\(name)")
                try home.program(
                    "docker-credential-\(name)", #"echo '{"ServerURL": "x", "Username": "\#(name)", "Secret": "s"}'"#)
            }
            func user(_ variables: [String: String] = [:]) async throws -> String {
                let arguments = ["login", "--get-login", "a.example"]
                return try await Self.output(home, Clients.program("skopeo"), arguments, variables)
            }
            // skopeo warns of a folder that isn't there.
            try FileManager.default.createDirectory(atPath: "\(base)/run", withIntermediateDirectories: true)
            let run = ["XDG_RUNTIME_DIR": "\(base)/run"]
            let configure = ["configure", "podman", "https://a.example", "--yes"]
            for variables in [["REGISTRY_AUTH_FILE": "there"], ["DOCKER_CONFIG": "folder"]] {
                try await home.lanyard(configure, variables)
                #expect(try await user(run.merging(variables) { $1 }) == "lanyard")
            }
            try await home.lanyard(configure)
            #expect(try await user(run) == "lanyard")
            let login = #"{"auths": {"a.example": {"auth": "c2Vzc2lvbjp4"}}}"#
            try home.write(login, to: "\(base)/run/containers/auth.json")
            #expect(try await user(run) == "session")
            let helpers = "credential-helpers = [\"other\"]\n"
            try home.write(helpers, to: "\(base)/.config/containers/registries.conf.d/z.conf")
            #expect(try await user(run) == "other")
        }
    }
}

/// Programs that script/get newer-tools gets, with what `configure` wrote, and with what comes before it.
@Suite(.enabled(if: Clients.newerFolder != nil, "script/test --with newer-tools runs these"))
struct NewerToolPlaceTests {
    @Test(arguments: ["there", "~/there"])
    func `docker reads the folder that its variable names`(path: String) async throws {
        try await Home.withTools { home in
            let log = "\(home.folder)/asked"
            try FileManager.default.removeItem(atPath: "\(home.folder)/bin/docker-credential-lanyard")
            try home.program("docker-credential-lanyard", "echo \"$1\" >>'\(log)'")
            try await home.lanyard(["configure", "docker", "https://a.example", "--yes"], ["DOCKER_CONFIG": path])
            let variables = home.environment.merging(["DOCKER_CONFIG": path]) { $1 }
            let ended = try await run(
                Clients.newer("docker"), ["logout", "a.example"], environment: variables, folder: "\(home.folder)/home")
            #expect(try home.text(log).contains("erase"), "\(ended)")
        }
    }

    @Test func `cargo asks the variable's providers, then a project's, then lanyard`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            let own = ["CARGO_HOME": "there", "RUSTC": Clients.newer("rustc"), "CARGO_LOG": "cargo=debug"]
            try await home.lanyard(["configure", "cargo", "--yes"], ["CARGO_HOME": "there"])
            try home.write(
                try home.text("\(base)/there/config.toml")
                    + "[registries.r]\nindex = \"sparse+https://127.0.0.1:1/\"\n",
                to: "\(base)/there/config.toml")
            func first(_ variables: [String: String] = [:]) async throws -> String? {
                let ended = try await run(
                    Clients.newer("cargo"), ["logout", "--registry", "r"],
                    environment: home.environment.merging(own) { $1 }.merging(variables) { $1 }, folder: base)
                return ended.errors.firstMatch(of: /attempting credential provider: \["([^"]*)"/).map { String($0.1) }
            }
            #expect(try await first() == "cargo-credential-lanyard")
            try home.write(
                "[registry]\nglobal-credential-providers = [\"project\"]\n", to: "\(base)/.cargo/config.toml")
            #expect(try await first() == "project")
            let variable = ["CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS": "cargo:token variable"]
            #expect(try await first(variable) == "variable")
        }
    }
}

private let terraform = ["/usr/local/bin/terraform", "/usr/bin/terraform"].first(
    where: FileManager.default.isExecutableFile)

/// terraform, where it is installed.
@Suite(.enabled(if: terraform != nil, "terraform is not installed"))
struct TerraformPlaceTests {
    @Test func `terraform takes its variables and files in this order`() async throws {
        try await Home.withTools { home in
            let base = "\(home.folder)/home"
            let log = "\(home.folder)/asked"
            func output(_ arguments: [String], _ variables: [String: String] = [:]) async throws -> String {
                let own = ["CHECKPOINT_DISABLE": "1"].merging(variables) { $1 }
                let ended = try await run(
                    terraform ?? "", arguments, environment: home.environment.merging(own) { $1 }, folder: base)
                return ended.output + ended.errors
            }
            let helped = #""lanyard" credentials helper"#
            let logout = ["logout", "a.example.com"]
            for variable in ["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"] {
                try await home.lanyard(["configure", "terraform", "--yes"], [variable: "there"])
                #expect(try await !output(logout).contains(helped))
                #expect(try await output(logout, [variable: "there"]).contains(helped))
                try await home.lanyard(["unconfigure", "terraform", "--yes"])
            }
            try await home.lanyard(["configure", "terraform", "--yes"])
            #expect(try await output(logout).contains(helped))
            // A token's variable comes first: the helper isn't asked.
            let link = "\(base)/.terraform.d/plugins/terraform-credentials-lanyard"
            try FileManager.default.removeItem(atPath: link)
            try home.write("#!/bin/sh\necho \"$@\" >>'\(log)'\necho '{}'\n", to: link)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: link)
            try home.write("module \"m\" {\n  source = \"127.0.0.1/a/b/c\"\n}\n", to: "\(base)/main.tf")
            _ = try await output(["init"], ["TF_TOKEN_127_0_0_1": "x"])
            #expect((try? home.text(log)) == nil)
            _ = try await output(["init"])
            #expect((try? home.text(log)) == "get 127.0.0.1\n")
            try home.write("credentials \"a.example.com\" {\n  token = \"x\"\n}\n", to: "\(base)/.terraform.d/w.tfrc")
            #expect(try await output(logout).contains("manually configured"))
            try home.write("credentials_helper \"other\" {}\n", to: "\(base)/.terraform.d/w.tfrc")
            #expect(try await output(["version"]).contains("No more than one credentials_helper block"))
        }
    }
}
