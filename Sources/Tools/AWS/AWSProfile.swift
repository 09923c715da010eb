import Addresses
import Secrets
import Terminal

/// A profile of the AWS CLI and SDKs that gets its keys from IAM Identity Center, by a session that several profiles share, or,
/// in the older form, by itself.
struct AWSProfile {
    static let exampleOfStartURL = "https://contoso.awsapps.com/start"

    let name: String
    /// The authority: without what browsers need behind a `#`.
    let startURL: String
    /// The region of Identity Center.
    let region: String
    let account: String
    let role: String
    /// The keys in the profile's section that make it sign in, in the order in which they are there.
    let keys: [String]

    /// Returns all such profiles of a configuration file whose values AWS would accept.
    static func all(in text: String) -> [AWSProfile] {
        let sections = LineSettings(text, section: nil).sections
        var sessions: [String: LineSettings] = [:]
        for section in sections {
            guard let name = name(ofSection: section, of: "sso-session") else { continue }
            sessions[name] = LineSettings(text, section: section)
        }
        return sections.compactMap { section in
            guard let name = section == "default" ? section : name(ofSection: section, of: "profile") else {
                return nil
            }
            let own = LineSettings(text, section: section)
            return AWSProfile(name, own, own.value(of: "sso_session").flatMap { sessions[String($0.trimmed())] })
        }
    }

    private init?(_ name: String, _ own: LineSettings, _ session: LineSettings?) {
        func value(_ key: String) -> String? {
            (own.value(of: key) ?? session?.value(of: key)).map { String($0.trimmed()) }
        }
        guard let start = value("sso_start_url"), let region = value("sso_region"), let role = value("sso_role_name"),
            let account = value("sso_account_id"), account.utf8.count == 12, account.utf8.allSatisfy(\.isDigit),
            (1...64).contains(role.utf8.count),
            role.utf8.allSatisfy({ $0.isAlphanumeric || "_+=,.@-".utf8.contains($0) }),
            region.utf8.contains(UInt8(ascii: "-")),
            region.utf8.allSatisfy(\.isLowerCaseNameByte),
            case let url = (start.cut(at: "#").map { String($0.0) } ?? start).withoutTrailingSlashes,
            StrictURL(https: url) != nil
        else { return nil }
        (self.name, startURL, self.region, self.account, self.role) = (name, url, region, account, role)
        let names = ["sso_session", "sso_start_url", "sso_region", "sso_account_id", "sso_role_name"]
        keys = own.keys.filter { names.contains($0.lowercased()) }
    }

    /// Returns the name in a section's header as AWS's programs read it, with or without quotes, after any blanks; nil if the
    /// section is of another kind.
    static func name(ofSection header: String, of kind: String) -> String? {
        guard header.hasPrefix(kind), let words = ShellWords.split(header), words.count == 2 else { return nil }
        return words[0] == kind ? words[1] : nil
    }

    private var suffix: String { AWSDomains(ofRegion: region).usual }

    /// Identity Center's portal.
    var portal: String { "https://portal.sso.\(region).\(suffix)" }
    /// The role's keys.
    var url: String { "\(portal)/\(account)/\(role)" }
    /// The account's registries in all regions.
    var registries: String { "https://\(account).dkr.ecr.*.\(suffix)" }

    /// Whether a host is a registry of the account's, or CodeArtifact's for a domain of the account's.
    func mayOpen(_ host: String) -> Bool {
        let labels = host.pieces(between: ".")
        guard let first = labels.first, first == account || first.hasSuffix("-\(account)"),
            labels.contains(where: { $0.hasPrefix("dkr") || $0 == "codeartifact" }), let last = labels.last
        else { return false }
        // The names for both versions of IP end otherwise: `123456789012.dkr-ecr.eu-central-1.on.aws`.
        return suffix.hasSuffix(last == "aws" ? ".com" : ".\(last)")
    }

    private var host: String { StrictURL(https: startURL)?.hostText ?? "" }

    /// The options of a rule for a start URL at a domain of the organisation's own, which only leads to AWS.
    var kind: [String] {
        let domains = [".awsapps.com", ".awsapps.cn", ".app.aws", ".app.amazonwebservices.com.cn"]
        let isAtAWS = AWSDomains.contain(host) || domains.contains(where: host.hasSuffix)
        return isAtAWS ? [] : ["--kind", "identity-center", "--trust-authority"]
    }

    /// Returns the options that tell the plugin the region, unless the start URL or an option already does.
    func options(besides known: [String: String]) -> KeyValuePairs<String, String> {
        if host.pieces(between: ".").contains(Substring(region)) || known["region"] == region { return [:] }
        guard known["region"] != nil else { return ["plugin.aws.region": region] }
        let own = "\(host)=\(region)"
        let others = (known["regions"] ?? "").pieces(between: " ").map(String.init)
        return others.contains(own) ? [:] : ["plugin.aws.regions": (others + [own]).joined(separator: " ")]
    }
}
