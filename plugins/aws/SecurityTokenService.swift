import Addresses
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// AWS's Security Token Service: temporary keys for a role, for a token of an issuer that IAM knows, or for other keys.
struct SecurityTokenService: Sendable {
    /// The service's URL, without a slash at the end.
    let url: String
    let transport: Transport

    /// The error's code if AWS couldn't get the issuer's keys.
    private static let deafIssuer = "IDPCommunicationError"

    private var host: String { StrictURL(https: url)?.hostText ?? "AWS" }

    /// What a role's keys are asked for with, besides the role.
    struct Options {
        /// The name in AWS's logs.
        var sessionName: String
        var externalID: String?
        /// Seconds; nil for an hour.
        var duration: String?
    }

    /// Whether a text is the ARN of a role: `arn:aws:iam::123456789012:role/path/name`.
    static func isRole(_ text: String) -> Bool {
        let parts = text.pieces(between: ":", maxSplits: 5, omittingEmpty: false)
        guard parts.count == 6, parts[0] == "arn", parts[1].utf8.starts(with: "aws".utf8), parts[2] == "iam",
            parts[3].isEmpty, parts[5].utf8.starts(with: "role/".utf8), !parts[5].utf8.elementsEqual("role/".utf8)
        else { return false }
        return String(parts[4]).isAccountNumber && text.utf8.count <= 2048 && text.utf8.allSatisfy(\.isVisibleASCII)
    }

    /// Requests keys for a role with a token: AssumeRoleWithWebIdentity.
    func keys(
        _ role: String, token: Secret, _ options: Options
    ) async throws(PluginError) -> AWSKeys {
        let form = form("AssumeRoleWithWebIdentity", role, options) + [("WebIdentityToken", token.reveal())]
        var answer = try await transport.exchange("\(url)/", form)
        // AWS's SDKs try again, too.
        if STSAnswer(answer)["Code"] == Self.deafIssuer { answer = try await transport.exchange("\(url)/", form) }
        return try keys(answer, byToken: true)
    }

    /// Requests keys for a role with other keys: AssumeRole.
    func keys(
        _ role: String, by keys: AWSKeys, in region: Region, _ options: Options
    ) async throws(PluginError) -> AWSKeys {
        let body = FormEncoding.encode(form("AssumeRole", role, options))
        return try self.keys(
            try await transport.signed("\(url)/", body, FormEncoding.mediaType, by: keys, region, "sts"), byToken: false
        )
    }

    private func form(_ action: String, _ role: String, _ options: Options) -> [FormEncoding.Field] {
        var form: [FormEncoding.Field] = [
            ("Action", action), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", options.sessionName),
        ]
        if let duration = options.duration { form.append(("DurationSeconds", duration)) }
        // Only a trust policy that names another AWS account asks for one.
        if let id = options.externalID, action == "AssumeRole" { form.append(("ExternalId", id)) }
        return form
    }

    private func keys(_ answer: HTTPAnswer, byToken: Bool) throws(PluginError) -> AWSKeys {
        guard answer.status == 200 else { throw refusal(answer, byToken: byToken) }
        let said = STSAnswer(answer)
        let names = ["AccessKeyId", "SecretAccessKey", "SessionToken"]
        guard let keys = AWSKeys(names.map { said[$0] }, until: said["Expiration"].flatMap(Self.time), in: answer)
        else { throw PluginError(.internal, "\(host) gave no keys that can be used") }
        return keys
    }

    /// Parses a time as seconds since 1970, from such a number or an ISO 8601 date.
    static func time(_ text: String) -> Double? {
        if let seconds = Double(text) { return seconds.isFinite ? seconds : nil }
        return (try? Date(text, strategy: .iso8601))?.timeIntervalSince1970
    }

    private func refusal(_ answer: HTTPAnswer, byToken: Bool) -> PluginError {
        let refusal = STSAnswer(answer)
        let code = refusal["Code"] ?? "HTTP \(answer.status)"
        let said = refusal["Message"] ?? code
        let words = said.displayable(limit: 300)
        var error =
            switch code {
            case "ExpiredTokenException", "ExpiredToken", "InvalidIdentityToken", "InvalidIdentityTokenException",
                "IDPRejectedClaim":
                PluginError(
                    .interactionRequired, "\(host) refuses the token: \(words)",
                    hint: byToken
                        ? "IAM needs an identity provider with the token's issuer and audience; see lanyard token --decode"
                        : nil)
            case "AccessDenied":
                PluginError(
                    .invalidRequest, "\(host) refuses the role: \(words)",
                    hint: byToken
                        ? "the role's trust policy must let the identity provider assume it with web identity"
                        : "the role's trust policy must name the role before it, and its own policy must allow sts:AssumeRole"
                )
            case "SignatureDoesNotMatch": PluginError(unsigned: said, at: host)
            // Keys that were made a moment ago aren't known everywhere.
            case "InvalidClientTokenId":
                PluginError(.interactionRequired, "\(host) refuses the keys: \(words)")
            case _ where answer.isThrottling: PluginError(throttling: words, at: host)
            case "RegionDisabledException":
                PluginError(
                    .invalidRequest, "\(host) refuses: \(words)",
                    hint: "have an administrator turn the region's token service on, or use another region's")
            case "ValidationError" where words.hasBytes("DurationSeconds"):
                PluginError(
                    .invalidRequest, "\(host) refuses: \(words)",
                    hint: "a role that another role assumes has an hour at most: in the rule, write duration = \"3600\""
                )
            case Self.deafIssuer:
                PluginError(
                    .unavailable, "\(host) can't ask the token's issuer: \(words)",
                    hint: "try again in a minute; AWS must reach the issuer")
            default: PluginError(.invalidRequest, "\(host) refuses: \(words)")
            }
        error.error = refusal["Code"]?.plain(limit: 100)
        return error
    }
}

extension PluginError {
    /// Creates the error for a refused signature, which means a wrong secret key or a wrong clock.
    ///
    /// Of AWS's words, only the first line is shown: what was signed follows, the session's token included.
    init(unsigned words: String, at host: String) {
        let shown = (words.pieces(between: "\n").first.map(String.init) ?? "").displayable(limit: 300)
        self.init(
            .invalidRequest, "\(host) refuses the signature: \(shown)",
            hint: "check the secret key if it was typed somewhere, and this computer's clock")
    }
}

/// STS's answer, which is JSON if STS honours the request for it, or else XML: the members of the innermost object that
/// has any of the names that are looked for.
private struct STSAnswer {
    private let text: String
    private let members: JSONValue?

    init(_ answer: HTTPAnswer) {
        text = answer.text ?? ""
        let document = answer.json
        let results = ["AssumeRoleWithWebIdentity", "AssumeRole"].map { document?["\($0)Response"]?["\($0)Result"] }
        members = results.lazy.compactMap { $0?["Credentials"] }.first ?? document?["Error"]
    }

    /// Returns a member's text; only the time may be a number.
    subscript(name: String) -> String? {
        guard let members else { return element(name) }
        return name == "Expiration" ? members[name]?.text : members[name]?.string
    }

    /// Returns the text of the first element with this name, if it contains nothing else; these texts need no
    /// unescaping.
    private func element(_ name: String) -> String? {
        guard let (_, rest) = text.cut(atText: "<\(name)>"), let (value, _) = rest.cut(atText: "</\(name)>")
        else { return nil }
        return value.utf8.contains(UInt8(ascii: "<")) ? nil : String(value.trimmed())
    }
}

extension Secret {
    /// The longest session name that AWS accepts.
    private static var longestSessionName: Int { 64 }

    /// The session name in AWS's logs of a token: the user name, reduced to the characters that AWS accepts.
    var sessionName: String {
        let claims = unverifiedClaims
        let names = ["preferred_username", "upn", "unique_name", "email", "sub"]
        let usable = names.compactMap { claims?[$0]?.string }.map { name in
            String(decoding: name.utf8.filter(\.isOfSessionName).prefix(Self.longestSessionName), as: UTF8.self)
        }
        return usable.first { $0.utf8.count > 1 } ?? "lanyard"
    }
}

extension UInt8 {
    /// Whether names of sessions and roles may have it.
    var isOfSessionName: Bool { isAlphanumeric || "_+=,.@-".utf8.contains(self) }
}
