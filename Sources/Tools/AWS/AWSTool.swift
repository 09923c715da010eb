import Addresses
import CredentialEngine
import JSON
import Rules
public import Secrets
import SettingsFile
import Terminal

extension Tool {
    static let aws = Tool(
        "aws",
        .verb(
            ToolVerb(
                name: "aws", abstract: "Print temporary keys for the AWS CLI and SDKs.",
                discussion: """
                    For credential_process in ~/.aws/config. The URL names the Security Token Service and the role; a rule says \
                    which token lanyard uses to assume it.
                    """,
                argument: "The URL: https://sts.amazonaws.com/ or a region's, and the role's ARN.",
                examples: [
                    "Have the AWS CLI and SDKs use a role": """
                    aws configure set credential_process \\
                      "lanyard aws \(AWSSettings.example)"
                    """
                ])),
        { AWSProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "the AWS CLI and SDKs use lanyard for a role",
            discussion: """
                Sets `credential_process` in `~/.aws/config`, for the profile that AWS_PROFILE names or else the default one. The URL is that of \
                the Security Token Service with the role's ARN for its path; see lanyard-aws(1).
                """,
            url: .required, exampleOfURL: " \\\n  \(AWSSettings.example)", schemes: ["https"],
            place: AWSSettings.place(of:), paths: ["AWS_CONFIG_FILE"], expandsHome: true, shown: AWSSettings.shown,
            settings: AWSSettings.init))
}

/// The AWS CLI and SDKs: lanyard is the program from which a profile gets its keys.
struct AWSSettings: ToolSettings {
    static let example = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
    private static let exampleHint = Hint("write it like", write: example)

    let place: ToolTarget

    /// Returns the pattern of a role.
    @Sendable static func place(of pattern: URLPattern) throws(CommandError) -> URLPattern {
        guard pattern.text.hasBytes("/arn:aws") || pattern.namesRoleAtIdentityCenter else {
            throw CommandError("the URL names no role", hints: [exampleHint], status: .usage)
        }
        // Some SDKs have a shell run the line that has the URL. IAM's characters mean nothing to it.
        guard pattern.text.utf8.allSatisfy({ $0.isAlphanumeric || "+=,.@_/:-".utf8.contains($0) }) else {
            throw CommandError(
                "the role's ARN has characters that IAM doesn't allow", hints: [exampleHint], status: .usage)
        }
        return try pattern.withoutWildcard(for: "aws")
    }

    func changes() throws(CommandError) -> [ToolChange] {
        guard place.context.variable("AWS_CONFIG_FILE")?.hasBytes("$") != true else {
            throw CommandError(
                "the path in AWS_CONFIG_FILE has a $, which the AWS CLI replaces and other SDKs don't",
                hints: ["write the path without variables"])
        }
        // Some SDKs have a shell run the line, others split it themselves: both take double quotes around ordinary characters.
        let program = try place.word("lanyard", for: "the AWS CLI") { program in
            program.utf8.contains { "\"$`\\#;!%".utf8.contains($0) } ? nil : "\"\(program)\""
        }
        let command = "\(program) aws \(place.url ?? "")"
        return [
            ToolChange(
                .ini, [try section(of: profile), "credential_process"], in: file, to: command)
        ]
    }

    /// Throws for hosts other than AWS's, unless a rule says that they are token services.
    func requireUse() throws(CommandError) {
        guard let pattern = place.pattern else { return }
        let host = pattern.host.name
        let isOfAWS = ["amazonaws.com", "amazonaws.com.cn", "amazonaws.eu"].contains { host.hasSuffix(".\($0)") }
        guard !isOfAWS, try place.context.resolve(pattern.request)?.exchange == nil else { return }
        throw CommandError(
            "\(host.displayable(limit: 200)) is not AWS's token service, and no rule exchanges a token for its keys",
            hints: [
                Self.exampleHint,
                Hint(
                    "or make a rule first",
                    run: "lanyard rule add https://\(pattern.host.urlText) --exchange aws-sts"),
            ])
    }

    var urlsFound: [String] { found.map(\.url) }

    func name(ofURL url: String) -> String {
        let profiles = found.filter { $0.url == url }.map { $0.profile.displayable(limit: 100) }
        return profiles.isEmpty ? url : "\(url) (\(profiles.joined(separator: ", ")))"
    }

    /// Returns the URLs for which profiles name lanyard.
    private var found: [(profile: String, url: String)] {
        let text = (try? SettingsText(reading: file))?.text ?? ""
        return LineSettings(text, section: nil).sections.compactMap { section in
            guard let profile = self.profile(ofSection: section),
                let value = LineSettings(text, section: section).value(of: "credential_process")
            else { return nil }
            guard let words = ShellWords.split(String(value.trimmed(of: " \t\r"))), words.count == 3,
                words[0].pieces(between: "/").last == "lanyard", words[1] == "aws"
            else {
                return nil
            }
            return (profile, words[2])
        }
    }

    private var file: String {
        place.path("AWS_CONFIG_FILE", else: ".aws/config", expandsHome: true)
    }

    /// Returns hints if there would be no keys because no rule maps the URL to a token, or nothing exchanges the token.
    func remarks() throws(CommandError) -> [Hint] {
        guard let pattern = place.pattern else { return [] }
        let wanted = try place.context.resolve(pattern.request)
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

    /// Returns the value without the arguments of another program, which may contain secrets.
    @Sendable static func shown(_ value: String) -> [String] {
        let words = ShellWords.split(value) ?? value.pieces(between: " ").map(String.init)
        guard words.count > 1, let program = words.first, program.pieces(between: "/").last != "lanyard" else {
            return [value]
        }
        return ["\(program) …, whose arguments are not shown, because they may hold secrets"]
    }

    /// The order of botocore's credential providers; the two files make one profile, in which the keys' file wins.
    func overrides() throws(CommandError) -> [ToolOverride] {
        func variable(_ name: String) -> ToolOverride? {
            guard place.context.variable(name) != nil else { return nil }
            return ToolOverride("\(name) in the environment comes first", unset: name)
        }
        var overrides = [variable("AWS_ACCESS_KEY_ID")]
        if let other = place.context.variable("AWS_DEFAULT_PROFILE"), other != profile {
            let what = "AWS_DEFAULT_PROFILE names another profile than AWS_PROFILE, and the AWS CLI prefers it"
            overrides.append(ToolOverride(what, unset: "AWS_DEFAULT_PROFILE"))
        }
        let (own, keys) = (
            file, place.path("AWS_SHARED_CREDENTIALS_FILE", else: ".aws/credentials", expandsHome: true)
        )
        let named = found.filter { $0.url == place.url }.map(\.profile)
        let profiles = named.isEmpty ? [profile] : named
        func settings(_ names: [String], in file: String) throws(CommandError) {
            for profile in profiles {
                let section = file == own ? try section(of: profile) : profile
                for name in names where try ToolSetting(.ini, [section, name], in: file).current() != nil {
                    let what = name == "aws_access_key_id" ? "keys" : name
                    let end = what == name ? "which comes first; remove it" : "which come first; remove them"
                    let start = "\(place.context.short(file)) has \(what) for the profile \(profile.displayable())"
                    overrides.append(ToolOverride(hint: "\(start), \(end)"))
                }
            }
        }
        let before = ["role_arn", "web_identity_token_file"]
        let between = ["sso_session", "sso_start_url", "sso_account_id", "login_session"]
        for file in [keys, own] { try settings(before, in: file) }
        overrides.append(variable("AWS_WEB_IDENTITY_TOKEN_FILE"))
        for file in [keys, own] { try settings(between, in: file) }
        try settings(["aws_access_key_id", "credential_process"], in: keys)
        return overrides.compactMap(\.self)
    }

    private var profile: String {
        place.context.variable("AWS_PROFILE") ?? place.context.variable("AWS_DEFAULT_PROFILE") ?? "default"
    }

    /// Returns the name of a profile's section in the file, or else the one that the AWS CLI would use.
    private func section(of profile: String) throws(CommandError) -> String {
        guard !profile.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || #"[]"\"#.utf8.contains($0) }) else {
            throw CommandError(
                "the name of the profile in AWS_PROFILE has characters that lanyard doesn't write",
                hints: ["choose another name for the profile"])
        }
        let text = try ToolTarget.text(of: file) ?? ""
        // Of several sections, the AWS CLI uses the last.
        if let own = LineSettings(text, section: nil).sections.last(where: { self.profile(ofSection: $0) == profile }) {
            return own
        }
        if profile == "default" { return profile }
        return profile.utf8.allSatisfy(ShellWords.isPlain) ? "profile \(profile)" : "profile \"\(profile)\""
    }

    /// Returns the profile of a section as the AWS CLI reads it, with or without quotes, after any blanks; nil if it is
    /// for none.
    private func profile(ofSection name: String) -> String? {
        guard name != "default" else { return name }
        guard name.hasPrefix("profile"), let words = ShellWords.split(name), words.count == 2 else { return nil }
        return words[0] == "profile" ? words[1] : nil
    }
}

extension URLPattern {
    /// Whether the path is `ACCOUNT/ROLE`, as at IAM Identity Center's portal.
    fileprivate var namesRoleAtIdentityCenter: Bool {
        let parts = request.path?.pieces(between: "/", omittingEmpty: false) ?? []
        return parts.count == 2 && parts[0].utf8.count == 12 && parts[0].utf8.allSatisfy(\.isDigit) && !parts[1].isEmpty
    }
}

/// The protocol of the AWS CLI and SDKs: `credential_process = lanyard aws URL`, where the URL's path is the role's
/// ARN.
///
/// They run it without a terminal, read its whole output, and run it again when less than fifteen minutes are left.
public struct AWSProtocol: ToolProtocol {
    /// The SDKs accept keys only.
    public static var takesPasswords: Bool { false }

    private static let usage = "usage: lanyard aws https://sts.amazonaws.com/arn:aws:iam::ACCOUNT:role/NAME"

    /// The name of the exchange, in lanyard's plugins, that returns AWS keys for a token of any issuer.
    public static let exchange = "aws-sts"

    /// Whether an exchange of lanyard's plugins returns AWS keys.
    public static func givesKeys(_ exchange: String?) -> Bool { [Self.exchange, "aws-sso"].contains(exchange) }

    /// Returns the variables in which the AWS CLI and SDKs find keys; nil for a credential that has none.
    public static func variables(of fields: [String: Secret]) -> [String: String]? {
        let names = [
            "AccessKeyId": "AWS_ACCESS_KEY_ID", "SecretAccessKey": "AWS_SECRET_ACCESS_KEY",
            "SessionToken": "AWS_SESSION_TOKEN",
        ]
        guard fields["AccessKeyId"] != nil, fields["SecretAccessKey"] != nil else { return nil }
        let pairs = names.compactMap { name, variable in fields[name].map { (variable, $0.reveal()) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private let arguments: [String]

    /// Creates a tool for the arguments in `credential_process`: one URL.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Asks the engine at once; the request has no input.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return .fail(Self.usage, status: 64) }
        do throws(ProtocolError) {
            var request = try CredentialRequest(wholeURL: arguments[0])
            request.takesFields = true
            return Turn(.ask(.get(request)))
        } catch {
            return .fail("the URL can't be one: \(arguments[0].displayableURL)", status: 64)
        }
    }

    /// Answers with the engine's credential.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .credential(let credential): answer(credential)
        case .refused(let refusal): Turn(complaint: .refusal, .end(refusal.status))
        case .nothing, .input:
            .fail("no rule maps \(arguments[0].displayableURL)", remedy: "lanyard rule add; see lanyard-aws(1)")
        }
    }

    private func answer(_ credential: Credential) -> Turn {
        let fields = credential.fields
        guard let identifier = fields["AccessKeyId"], let key = fields["SecretAccessKey"] else {
            return .fail(
                "\(arguments[0].displayableURL) doesn't give AWS keys",
                remedy: "in its rule, write: exchange = \"\(Self.exchange)\"; see lanyard-aws(1)")
        }
        var answer: [String: JSONValue] = [
            "Version": 1, "AccessKeyId": .string(identifier.reveal()), "SecretAccessKey": .string(key.reveal()),
        ]
        answer["SessionToken"] = fields["SessionToken"].map { .string($0.reveal()) }
        answer["Expiration"] = credential.expiry.map(JSONValue.string)
        return .answer(.object(answer))
    }
}
