import Addresses
import Rules
import Secrets
import SettingsFile
import Terminal
import ToolTexts

/// The AWS CLI and SDKs: lanyard is the program from which a profile gets its keys.
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
        // Some SDKs have a shell run the line, others split it themselves: both take double quotes around ordinary characters.
        let program = try place.word("lanyard", for: "the AWS CLI") { program in
            program.utf8.contains { "\"$`\\#;!%".utf8.contains($0) } ? nil : "\"\(program)\""
        }
        let command = "\(program) aws \(place.url ?? "")"
        return [ToolChange(.ini, [try section(place), "credential_process"], in: file(place), to: command)]
    }

    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern {
        let example = Hint("write it like", write: exampleOfURL.trimmed(of: " \\\n").description)
        guard pattern.text.hasBytes("/arn:aws") else {
            throw Failure("the URL names no role", hints: [example], status: .usage)
        }
        // Some SDKs have a shell run the line that has the URL. IAM's characters mean nothing to it.
        guard pattern.text.utf8.allSatisfy({ $0.isAlphanumeric || "+=,.@_/:-".utf8.contains($0) }) else {
            throw Failure("the role's ARN has characters that IAM doesn't allow", hints: [example], status: .usage)
        }
        return try pattern.withoutWildcard(for: name)
    }

    /// Throws for hosts other than AWS's, unless a rule says that they are token services.
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

    /// Returns the URLs for which profiles name lanyard.
    private static func found(_ place: ToolPlace) -> [(profile: String, url: String)] {
        let text = (try? SettingsText(reading: file(place)))?.text ?? ""
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

    private static func file(_ place: ToolPlace) -> String { place.path("AWS_CONFIG_FILE", else: ".aws/config") }

    /// Returns hints if there would be no keys because no rule maps the URL to a token, or nothing exchanges the token.
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

    /// Returns the value without the arguments of another program, which may contain secrets.
    static func shown(_ value: String, of setting: ToolSetting) -> [String] {
        let words = ShellWords.split(value) ?? value.pieces(between: " ").map(String.init)
        guard words.count > 1, let program = words.first, program.pieces(between: "/").last != "lanyard" else {
            return [value]
        }
        return ["\(program) …, whose arguments are not shown, because they may hold secrets"]
    }

    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let file = place.path("AWS_SHARED_CREDENTIALS_FILE", else: ".aws/credentials")
        let profile = profile(place)
        let keys = ToolSetting(.ini, [profile, "aws_access_key_id"], in: file)
        let end = "for the profile \(profile.displayable())"
        var notes: [Hint] = []
        if try keys.current() != nil { notes.append("\(place.context.short(file)) has keys \(end), which come first") }
        let (own, section) = (self.file(place), try section(place))
        for key in ["role_arn", "web_identity_token_file", "sso_session", "sso_start_url"]
        where try ToolSetting(.ini, [section, key], in: own).current() != nil {
            notes.append("\(place.context.short(own)) has \(key) \(end), which comes first; remove it")
        }
        return notes
    }

    private static func profile(_ place: ToolPlace) -> String { place.context.variable("AWS_PROFILE") ?? "default" }

    /// Returns the name of the profile's section in the file, or else the one that the AWS CLI would use.
    private static func section(_ place: ToolPlace) throws(Failure) -> String {
        let profile = profile(place)
        guard !profile.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || #"[]"\"#.utf8.contains($0) }) else {
            throw Failure(
                "the name of the profile in AWS_PROFILE has characters that lanyard doesn't write",
                hints: ["choose another name for the profile"])
        }
        let text = try ToolPlace.text(of: file(place)) ?? ""
        // Of several sections, the AWS CLI uses the last.
        if let own = LineSettings(text, section: nil).sections.last(where: { self.profile(ofSection: $0) == profile }) {
            return own
        }
        if profile == "default" { return profile }
        return profile.utf8.allSatisfy(ShellWords.isPlain) ? "profile \(profile)" : "profile \"\(profile)\""
    }

    /// Returns the profile of a section as the AWS CLI reads it, with or without quotes, after any blanks; nil if it is
    /// for none.
    private static func profile(ofSection name: String) -> String? {
        guard name != "default" else { return name }
        guard name.hasPrefix("profile"), let words = ShellWords.split(name), words.count == 2 else { return nil }
        return words[0] == "profile" ? words[1] : nil
    }
}
