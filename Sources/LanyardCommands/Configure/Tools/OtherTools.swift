import Addresses
import ConsumerProtocols
import Files
import JSON
import Rules
import Secrets
import SettingsFile
import Terminal

/// podman, skopeo and buildah: they read of docker's settings only those for a host.
enum PodmanTool: ConfigurableTool {
    static let name = "podman"
    static let purpose = "podman, skopeo and buildah use lanyard as a credential helper"
    static let discussion = """
        Adds a file to `~/.config/containers/registries.conf.d` that names lanyard before auth.json, or, with a URL, its host to \
        `credHelpers` in `~/.config/containers/auth.json`, or in the file that REGISTRY_AUTH_FILE names.
        """
    static let url = ToolURL.optional
    static let relatives = Array(programs.dropFirst())
    static let programs = DockerConsumer.podmans
    static let helper: String? = "docker-credential-lanyard"

    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern {
        let pattern = try pattern.withoutWildcard(for: name)
        try pattern.requireRegistry(for: name)
        return pattern.isDockerHub ? URLPattern("https://docker.io") ?? pattern : pattern.hostAlone()
    }

    static func urlsFound(_ place: ToolPlace) -> [String] {
        (try? DockerSettings(file(place), place.context))?.urlsOfLanyard ?? []
    }

    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let clear = try DockerSettings(file(place), place.context).clearPasswords(place.pattern?.host.urlText, name)
        let before = namings(place).before
        guard place.pattern == nil, let last = before.last, !last.hasLanyard else { return clear }
        return [
            "credential-helpers is \(last.shown) in \(place.context.short(last.file)); what lanyard writes counts instead"
        ] + clear
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        guard place.pattern == nil, let last = namings(place).after.last, !last.hasLanyard else { return [] }
        let file = place.context.short(last.file)
        return ["credential-helpers is \(last.shown) in \(file), which counts instead; remove it there"]
    }

    static func override(_ place: ToolPlace) -> Bool? {
        let (before, after) = namings(place)
        let isWritten = place.context.isFile(dropIn(place))
        return after.last?.hasLanyard ?? (isWritten ? nil : before.last?.hasLanyard)
    }

    /// Where helpers for every registry are named.
    private struct Naming {
        let file: String
        let value: String

        var hasLanyard: Bool { value.hasBytes("\"lanyard\"") || value.hasBytes("'lanyard'") }
        var shown: String { value.displayable(limit: 100) }
    }

    /// What names helpers before lanyard's file and behind it, in the order in which podman reads: the last one counts.
    private static func namings(_ place: ToolPlace) -> (before: [Naming], after: [Naming]) {
        let (own, everybody) = ("\(place.home)/.config/containers", "/etc/containers")
        // Who has a file of their own has none of everybody's.
        let isOwn = place.context.isFile("\(own)/registries.conf")
        let files =
            isOwn ? ["\(own)/registries.conf"] : ["\(everybody)/registries.conf"] + dropIns(of: everybody)
        let others = dropIns(of: own).filter { $0 != dropIn(place) }
        func read(_ files: [String]) -> [Naming] {
            files.compactMap { file in
                (try? ToolSetting(.toml, "credential-helpers", in: file).current())
                    .map { Naming(file: file, value: $0) }
            }
        }
        return (read(files + others.filter { $0 < dropIn(place) }), read(others.filter { $0 > dropIn(place) }))
    }

    private static func dropIns(of folder: String) -> [String] {
        let path = "\(folder)/registries.conf.d"
        guard let opened = try? Folder(path) else { return [] }
        return opened.names(atMost: 1000).filter { $0.hasSuffix(".conf") }.sorted().map { "\(path)/\($0)" }
    }

    /// The file of lanyard's, which podman looks for in the home, whatever XDG_CONFIG_HOME says.
    private static func dropIn(_ place: ToolPlace) -> String {
        "\(place.home)/.config/containers/registries.conf.d/lanyard.conf"
    }

    /// What podman reads passwords from.
    private static func file(_ place: ToolPlace) -> String {
        place.context.environment.absolutePath("REGISTRY_AUTH_FILE") ?? "\(place.settings)/containers/auth.json"
    }

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        guard let host = place.pattern?.host.urlText else {
            // A login is kept by the first of them, and auth.json keeps it in the clear.
            let helpers = #"["lanyard", "containers-auth.json"]"#
            return [ToolChange(.toml, "credential-helpers", in: dropIn(place), to: helpers)]
        }
        return [ToolChange(.json, "credHelpers", host, in: file(place), to: #""lanyard""#)]
    }
}

/// Bazel: a line of its startup file.
enum BazelTool: ConfigurableTool {
    static let name = "bazel"
    static let purpose = "Bazel use lanyard as a credential helper"
    static let discussion = """
        Adds a line to `~/.bazelrc`, for every host or for a URL's; `*.contoso.com` is all hosts below contoso.com. It takes Bazel 7 or later.
        """
    static let url = ToolURL.optional
    static let relatives = ["bazelisk"]
    static let schemes = ["https", "http", "grpcs", "grpc"]
    static let programs = ["bazel", "bazelisk"]

    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern {
        let name = pattern.host.name
        guard name.hasPrefix("*."), !name.dropFirst().hasBytes("*") else {
            return try pattern.withoutWildcard(for: "bazel, but for *. at the beginning,").hostAlone(withPort: false)
        }
        return pattern.hostAlone(withPort: false)
    }

    static func override(_ place: ToolPlace) -> Bool? { scopes(place).contains("") ? true : nil }

    static func urlsFound(_ place: ToolPlace) -> [String] {
        scopes(place).filter { !$0.isEmpty }.map { "https://\($0)" }
    }

    /// The hosts that lines of the startup file name lanyard for; the empty one stands for all.
    private static func scopes(_ place: ToolPlace) -> [String] {
        helpers(place).filter { isLanyard($0.program) }.map(\.scope)
    }

    private static func isLanyard(_ program: String) -> Bool {
        program.pieces(between: "/").last == "bazel-credential-lanyard"
    }

    /// The programs that lines of the startup file name, and for which hosts.
    private static func helpers(_ place: ToolPlace) -> [(scope: String, program: String)] {
        let text = (try? SettingsText(reading: "\(place.home)/.bazelrc"))?.text ?? ""
        let words = text.pieces(between: "\n").map { $0.trimmed(of: " \t\r") }.filter { !$0.hasPrefix("#") }
            .flatMap { $0.pieces(between: " ") }
        return words.compactMap { word in
            guard let (option, value) = word.cut(at: "="),
                ["--credential_helper", "--experimental_credential_helper"].contains(String(option))
            else { return nil }
            let (scope, program) = value.cut(at: "=") ?? ("", value)
            return (String(scope), String(program))
        }
    }

    /// Of lines for one scope Bazel takes the last.
    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let scope = place.pattern?.host.name ?? ""
        guard let other = helpers(place).last(where: { $0.scope == scope })?.program, !isLanyard(other)
        else { return [] }
        let what = scope.isEmpty ? "every host" : scope.displayable(limit: 200)
        return ["\(other.displayable(limit: 100)) stands in ~/.bazelrc for \(what); lanyard takes its place"]
    }

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let scope = place.pattern.map { "\($0.host.name)=" } ?? ""
        let line = "common --credential_helper=\(scope)\(place.program("bazel-credential-lanyard"))"
        return [ToolChange(.line, line, in: "\(place.home)/.bazelrc", to: line)]
    }
}

/// terraform and OpenTofu: the one credentials helper that they can have.
enum TerraformTool: ConfigurableTool {
    static let name = "terraform"
    static let purpose = "terraform and OpenTofu use lanyard as a credentials helper"
    static let discussion = """
        Adds a `credentials_helper` to `~/.terraformrc`, and to OpenTofu's own file if it doesn't read that one; and the link in \
        `~/.terraform.d/plugins` that both look for. A `credentials` block for a host still comes first.
        """
    static let url = ToolURL.none
    static let relatives = ["tofu", "opentofu"]
    static let programs = ["terraform", "tofu"]

    private static let program = "terraform-credentials-lanyard"
    private static let line = #"credentials_helper "lanyard" {}"#

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        var files: [String] = []
        for file in self.files(place) where try !hasLanyard(in: file, place.context) { files.append(file) }
        let link = try place.link("\(place.home)/.terraform.d/plugins/\(program)", to: program)
        return [link] + files.map { ToolChange(.line, line, in: $0, to: line) }
    }

    /// Tokens in the file that `terraform login` writes come before the helper.
    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let file = "\(place.home)/.terraform.d/credentials.tfrc.json"
        let json = try ToolPlace.text(of: file).flatMap { JSONValue(bytes: Array($0.utf8)) }
        let hosts = (json?["credentials"]?.members ?? [:]).filter { $1["token"] != nil }.keys.sorted()
        return hosts.map { host in
            let what = "the token for \(host.displayable(limit: 200)) in \(place.context.short(file)) comes first"
            return Hint("\(what); to remove it", run: "\(hasOnlyTofu(place) ? "tofu" : "terraform") logout \(host)")
        }
    }

    /// The files that the programs read: OpenTofu reads terraform's if there is none of its own.
    private static func files(_ place: ToolPlace) -> [String] {
        if let named = place.context.environment.absolutePath("TF_CLI_CONFIG_FILE") { return [named] }
        let (terraform, tofu) = ("\(place.home)/.terraformrc", "\(place.home)/.tofurc")
        if place.context.isFile(tofu) { return hasOnlyTofu(place) ? [tofu] : [terraform, tofu] }
        guard hasOnlyTofu(place), !place.context.isFile(terraform) else { return [terraform] }
        return [place.context.environment.absolutePath("XDG_CONFIG_HOME").map { "\($0)/opentofu/tofurc" } ?? tofu]
    }

    private static func hasOnlyTofu(_ place: ToolPlace) -> Bool {
        place.context.program("tofu") != nil && place.context.program("terraform") == nil
    }

    /// Whether a file names lanyard in another form than `configure` writes; refuses one that names another helper: two are an error.
    private static func hasLanyard(in file: String, _ context: CommandContext) throws(Failure) -> Bool {
        let rows = (try ToolPlace.text(of: file) ?? "").pieces(between: "\n").map { $0.trimmed(of: " \t\r") }
        guard let other = rows.first(where: { $0.hasPrefix("credentials_helper") }), other != line else { return false }
        let name = other.dropFirst("credentials_helper".utf8.count).trimmed(of: " \t")
        guard !name.hasPrefix(#""lanyard""#) else { return true }
        throw Failure(
            "\(context.short(file)) names a credentials helper already: \(String(other).displayable(limit: 100))",
            hints: ["terraform takes one only; remove that first"])
    }
}

/// The AWS CLI and SDKs: the program that a profile's keys come from.
enum AWSTool: ConfigurableTool {
    static let name = "aws"
    static let purpose = "the AWS CLI and SDKs use lanyard for a role"
    static let discussion = """
        Sets `credential_process` in `~/.aws/config`, for the profile that AWS_PROFILE names or else the default one. The URL is that of \
        the Security Token Service with the role's ARN for its path; see lanyard-aws(1).
        """
    static let url = ToolURL.required
    static let schemes = ["https"]
    static let exampleOfURL = " \\\n  https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let command = "\(place.program("lanyard")) aws \(place.url ?? "")"
        return [ToolChange(.ini, try section(place), "credential_process", in: file(place), to: command)]
    }

    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern {
        guard pattern.text.hasBytes("/arn:aws") else {
            throw Failure(
                "the URL names no role",
                hints: [Hint("write it like", write: exampleOfURL.trimmed(of: " \\\n").description)], status: .usage)
        }
        return try pattern.withoutWildcard(for: name)
    }

    /// Other hosts need a rule to say that they are token services.
    static func requireUse(_ place: ToolPlace) throws(Failure) {
        guard let pattern = place.pattern else { return }
        let host = pattern.host.name
        let isOfAWS = ["amazonaws.com", "amazonaws.com.cn", "amazonaws.eu"].contains { host.hasSuffix(".\($0)") }
        guard !isOfAWS, try Session(place.context).resolve(pattern.request)?.exchange == nil else { return }
        throw Failure(
            "\(host.displayable(limit: 200)) is not AWS's token service, and no rule exchanges a token for its keys",
            hints: [
                Hint("write it like", write: exampleOfURL.trimmed(of: " \\\n").description),
                Hint(
                    "or make a rule first",
                    run: "lanyard rule add https://\(pattern.host.urlText) --exchange aws-sts"),
            ])
    }

    static func urlsFound(_ place: ToolPlace) -> [String] { found(place).map(\.url) }

    static func name(ofURL url: String, _ place: ToolPlace) -> String {
        let profiles = found(place).filter { $0.url == url }.map { $0.profile.displayable(limit: 100) }
        return profiles.isEmpty ? url : "\(url) (\(profiles.joined(separator: ", ")))"
    }

    /// The URLs that profiles name lanyard for.
    private static func found(_ place: ToolPlace) -> [(profile: String, url: String)] {
        let text = (try? SettingsText(reading: file(place)))?.text ?? ""
        return LineSettings(text, section: nil).sections.compactMap { section in
            guard let profile = self.profile(ofSection: section),
                let value = LineSettings(text, section: section).value(of: "credential_process")
            else { return nil }
            let words = value.trimmed(of: " \t\r").pieces(between: " ")
            guard words.count == 3, words[0].pieces(between: "/").last == "lanyard", words[1] == "aws" else {
                return nil
            }
            return (profile, String(words[2]))
        }
    }

    private static func file(_ place: ToolPlace) -> String { place.path("AWS_CONFIG_FILE", else: ".aws/config") }

    /// Without a rule's token and what it is exchanged for there are no keys.
    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        guard let pattern = place.pattern else { return [] }
        let wanted = try Session(place.context).resolve(pattern.request)
        guard wanted?.exchange == nil else { return [] }
        let url = "https://\(pattern.host.urlText)"
        guard wanted == nil else {
            return [
                Hint(
                    "the rule for \(url.displayable()) exchanges no token for keys; add to it",
                    write: "exchange = \"aws-sts\"")
            ]
        }
        return [
            Hint(
                "no rule maps \(url.displayable()) to a token, so there are no keys yet; to make one",
                run: "lanyard rule add \(url) --authority URL --client-id ID --scope SCOPE --exchange aws-sts")
        ]
    }

    /// A program's arguments may hold secrets.
    static func shown(_ value: String, of setting: ToolSetting) -> [String] {
        guard let (program, _) = String(value.trimmed(of: " \t")).cut(at: " "),
            program.pieces(between: "/").last != "lanyard"
        else { return [value] }
        return ["\(program) …, whose arguments are not shown, because they may hold secrets"]
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let file = place.path("AWS_SHARED_CREDENTIALS_FILE", else: ".aws/credentials")
        let profile = profile(place)
        let keys = ToolSetting(.ini, profile, "aws_access_key_id", in: file)
        let end = "for the profile \(profile.displayable())"
        var notes: [Hint] = []
        if try keys.current() != nil { notes.append("\(place.context.short(file)) has keys \(end), which come first") }
        let (own, section) = (self.file(place), try section(place))
        for key in ["role_arn", "web_identity_token_file", "sso_session", "sso_start_url"]
        where try ToolSetting(.ini, section, key, in: own).current() != nil {
            notes.append("\(place.context.short(own)) has \(key) \(end), which comes first; remove it")
        }
        return notes
    }

    private static func profile(_ place: ToolPlace) -> String { place.context.variable("AWS_PROFILE") ?? "default" }

    /// The profile's section as the file names it, or else as the AWS CLI would.
    private static func section(_ place: ToolPlace) throws(Failure) -> String {
        let profile = profile(place)
        guard !profile.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || #"[]"\"#.utf8.contains($0) }) else {
            throw Failure(
                "the name of the profile in AWS_PROFILE has characters that lanyard doesn't write",
                hints: ["take another name for the profile"])
        }
        let text = try ToolPlace.text(of: file(place)) ?? ""
        // Of several sections the AWS CLI takes the last.
        if let own = LineSettings(text, section: nil).sections.last(where: { self.profile(ofSection: $0) == profile }) {
            return own
        }
        if profile == "default" { return profile }
        return profile.utf8.allSatisfy(ShellWords.isPlain) ? "profile \(profile)" : "profile \"\(profile)\""
    }

    /// The profile that a section is for, as the AWS CLI takes it: in quotes or not, behind any blanks; nil if it is for none.
    private static func profile(ofSection name: String) -> String? {
        guard name != "default" else { return name }
        guard name.hasPrefix("profile"), let words = ShellWords.split(name), words.count == 2 else { return nil }
        return words[0] == "profile" ? words[1] : nil
    }
}
