import Addresses
import Model
import Rules
import Secrets
import SettingsFile
import Terminal

/// The AWS CLI and SDKs: lanyard is the program from which a profile gets its keys.
struct AWSSettings: ToolSettings {
    static let example = "https://portal.sso.us-east-1.amazonaws.com/123456789012/Dev"
    private static let exampleHints = [
        Hint("write it like", write: example),
        Hint("or like", write: "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"),
    ]

    let place: ToolTarget

    /// Returns the pattern of a role.
    @Sendable static func place(of pattern: URLPattern) throws(CommandError) -> URLPattern {
        guard pattern.text.hasBytes("/arn:aws") && pattern.text.hasBytes(":role/") || pattern.namesRoleAtIdentityCenter
        else {
            throw CommandError("the URL names no role", hints: exampleHints, status: .usage)
        }
        // Some SDKs have a shell run the line that has the URL. IAM's characters mean nothing to it.
        guard pattern.text.utf8.allSatisfy({ $0.isAlphanumeric || "+=,.@_/:-".utf8.contains($0) }) else {
            throw CommandError(
                "the role's ARN has characters that IAM doesn't allow", hints: exampleHints, status: .usage)
        }
        return try (URLPattern(pattern.text.withoutTrailingSlashes) ?? pattern).withoutWildcard(for: "aws")
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
        let section = try section(of: profile)
        let change = ToolChange(.ini, [section, "credential_process"], in: file, to: command)
        guard let own = profiles.first(where: { $0.name == profile }), own.url == place.url else { return [change] }
        // Undone in the reverse order, so that they are in the profile's own order again.
        return [change]
            + own.keys.reversed().map { ToolChange(setting: ToolSetting(.ini, [section, $0], in: file), value: nil) }
    }

    private var profiles: [AWSProfile] { AWSProfile.all(in: place.content(of: file)) }

    var authorities: [String] { profiles.map(\.startURL) }

    func offers() -> [ToolOffer] {
        let offers = profiles.map {
            ToolOffer(profile: $0.name, summary: "\($0.role) in \($0.account), \($0.startURL)", url: $0.url)
        }
        // Those that have lanyard's line already, if one is named or no other is left.
        guard offers.isEmpty || namedProfile != nil else { return offers }
        return offers + found.map { ToolOffer(profile: $0.profile, summary: $0.url, url: $0.url) }
    }

    /// Returns the rules for the sign-in of the profile whose role this is, and for its account's registries.
    func rules() throws(CommandError) -> [NeededRule] {
        guard let profile = profiles.first(where: { $0.url == place.url }) else { return [] }
        func authority(_ url: String) throws(CommandError) -> String? {
            guard let pattern = URLPattern(url) else { return nil }
            return try place.context.resolve(pattern.request)?.authority
        }
        var rules: [NeededRule] = []
        let other = try authority(profile.url)
        if other != profile.startURL {
            let url = profile.portal + (other == nil ? "" : "/\(profile.account)")
            rules.append(try needed(profile, "the profile \(profile.name.displayable(limit: 100))", url))
        }
        let registries = profile.registries
        let isInUse = ["docker", "podman"].contains { place.context.program($0) != nil }
        if isInUse, try authority(registries.replacing(bytes: "*", with: profile.region)) == nil {
            let subject = "docker, for the registries of \(profile.account),"
            rules.append(try needed(profile, subject, registries, withRole: true))
        }
        return rules
    }

    private func needed(
        _ profile: AWSProfile, _ subject: String, _ url: String, withRole: Bool = false
    ) throws(CommandError) -> NeededRule {
        let role = withRole ? ["--exchange-parameter", "role=\(profile.account)/\(profile.role)"] : []
        var rule = NeededRule(
            subject: subject, arguments: [url, "--authority", profile.startURL] + profile.kind + role)
        rule.options = profile.options(besides: try place.context.configuration().pluginOptions["aws"] ?? [:])
        return rule
    }

    /// Returns the rule for a registry or repository of an account that a profile signs in for, the usual profile first.
    func rule(for pattern: URLPattern) throws(CommandError) -> NeededRule? {
        let host = pattern.host.name
        let own = profiles.filter { $0.mayOpen(host) }
        guard let profile = own.first(where: { $0.name == self.profile }) ?? own.first,
            try place.context.resolve(pattern.request) == nil
        else { return nil }
        return try needed(profile, host, pattern.text, withRole: true)
    }

    func urls(undoing entries: [RecordedChange]) -> [String] {
        let urls = entries.compactMap(\.place)
        // `configure` offered rules for the registries of these accounts, too.
        return urls
            + urls.compactMap { $0.cut(atText: "://portal.sso.")?.1 }.compactMap { rest in
                let parts = rest.pieces(between: "/")
                guard parts.count == 3, let (region, _) = parts[0].cut(at: ".") else { return nil }
                return "https://\(parts[1]).dkr.ecr.*.\(AWSDomains(ofRegion: String(region)).usual)"
            }
    }

    /// Throws for hosts other than AWS's, unless a rule says that they are token services.
    func requireUse() throws(CommandError) {
        guard let pattern = place.pattern else { return }
        let host = pattern.host.name
        guard !AWSDomains.contain(host), try place.context.resolve(pattern.request)?.exchange == nil else { return }
        throw CommandError(
            "\(host) is not AWS's token service, and no rule exchanges a token for its keys",
            hints: Self.exampleHints + [
                Hint(
                    "or make a rule first",
                    run: "lanyard rule add https://\(pattern.host.urlText) --exchange aws-sts")
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
            guard let profile = Self.profile(ofSection: section),
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
        guard let pattern = place.pattern, try rules().isEmpty else { return [] }
        let wanted = try place.context.resolve(pattern.request)
        guard wanted?.exchange == nil else { return [] }
        let url = "https://\(pattern.host.urlText)"
        let signIn: ShellCommand =
            pattern.namesRoleAtIdentityCenter
            ? "--authority \(AWSProfile.exampleOfStartURL)"
            : "--authority URL --client-id ID --scope SCOPE --exchange aws-sts"
        guard wanted == nil else {
            return [
                Hint(
                    "the rule for \(url) exchanges no token for keys; add to it",
                    write: "exchange = \"aws-sts\"")
            ]
        }
        return [
            Hint(
                "no rule maps \(url) to a token, so there are no keys yet; to make one",
                run: "lanyard rule add \(url) \(signIn)")
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
        if place.profile == nil, let other = place.context.variable("AWS_DEFAULT_PROFILE"), other != profile {
            let what: Message = "AWS_DEFAULT_PROFILE names another profile than AWS_PROFILE, and the AWS CLI prefers it"
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

    var namedProfile: String? {
        place.profile ?? place.context.variable("AWS_PROFILE") ?? place.context.variable("AWS_DEFAULT_PROFILE")
    }

    private var profile: String { namedProfile ?? "default" }

    /// Returns the name of a profile's section in the file, or else the one that the AWS CLI would use.
    private func section(of profile: String) throws(CommandError) -> String {
        guard !profile.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || #"[]"\"#.utf8.contains($0) }) else {
            throw CommandError(
                "the profile's name has characters that lanyard doesn't write",
                hints: ["choose another name for the profile"])
        }
        let text = try ToolTarget.text(of: file) ?? ""
        // Of several sections, the AWS CLI uses the last.
        if let own = LineSettings(text, section: nil).sections.last(where: { Self.profile(ofSection: $0) == profile }) {
            return own
        }
        if profile == "default" { return profile }
        return profile.utf8.allSatisfy(ShellWords.isPlain) ? "profile \(profile)" : "profile \"\(profile)\""
    }

    /// Returns the profile of a section as the AWS CLI reads it, with or without quotes, after any blanks; nil if it is
    /// for none.
    @Sendable static func profile(ofSection name: String) -> String? {
        name == "default" ? name : AWSProfile.name(ofSection: name, of: "profile")
    }
}

extension URLPattern {
    /// Whether the path is `ACCOUNT/ROLE`, as at IAM Identity Center's portal.
    fileprivate var namesRoleAtIdentityCenter: Bool {
        let parts = request.path?.pieces(between: "/", omittingEmpty: false) ?? []
        return parts.count == 2 && parts[0].utf8.count == 12 && parts[0].utf8.allSatisfy(\.isDigit) && !parts[1].isEmpty
    }
}
