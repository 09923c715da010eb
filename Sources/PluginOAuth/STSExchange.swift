import Addresses
import FoundationEssentials
import HTTP
import JSON
package import OAuth
package import PluginWire
import Secrets

/// Exchanges a token for temporary keys of Amazon Web Services: STS's AssumeRoleWithWebIdentity.
///
/// The audience is STS's host, and the path is the role's ARN. IAM must know the token's issuer and audience, and the
/// role must trust them.
package struct STSExchange: Sendable {
    /// The exchange's name in manifests.
    package static let name = "aws-sts"

    /// Seconds before their expiry from which the keys are renewed: the SDKs' own margin and a few minutes more.
    private static let earliness = 1200
    /// The longest session name that AWS accepts.
    private static let longestSessionName = 64

    private let host: String
    private let role: String
    private let token: Secret
    private let transport: Transport

    /// Creates an exchange from an `exchange` request.
    ///
    /// - Throws: `invalid-request` if the request names no role.
    package init(_ request: PluginRequest, over transport: Transport) throws(PluginError) {
        guard let host = request.audience, let token = request.accessToken else {
            throw PluginError(.invalidRequest, "the request contains no token to exchange")
        }
        guard let role = request.audiencePath, Self.isRole(role) else {
            throw PluginError(
                .invalidRequest, "the URL's path is not a role",
                hint: "write it as https://\(host)/arn:aws:iam::ACCOUNT:role/NAME")
        }
        (self.host, self.role, self.token, self.transport) = (host, role, token, transport)
    }

    /// Whether a text is the ARN of a role: `arn:aws:iam::123456789012:role/path/name`.
    package static func isRole(_ text: String) -> Bool {
        let parts = text.pieces(between: ":", maxSplits: 5, omittingEmpty: false)
        guard parts.count == 6, parts[0] == "arn", parts[1].utf8.starts(with: "aws".utf8), parts[2] == "iam",
            parts[3].isEmpty, parts[5].utf8.starts(with: "role/".utf8), !parts[5].utf8.elementsEqual("role/".utf8)
        else { return false }
        return parts[4].utf8.count == 12 && parts[4].utf8.allSatisfy { (0x30...0x39).contains($0) }
            && text.utf8.count <= 2048 && text.utf8.allSatisfy(\.isVisibleASCII)
    }

    /// Requests keys for the role from STS.
    package func credential() async throws(PluginError) -> PluginCredential {
        let form: [FormEncoding.Field] = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", sessionName), ("WebIdentityToken", token.reveal()),
        ]
        let answer = try await transport.exchange("https://\(host)/", form)
        guard answer.status == 200 else { throw refusal(answer) }
        return try keys(answer)
    }

    private func keys(_ answer: HTTPAnswer) throws(PluginError) -> PluginCredential {
        let said = STSAnswer(answer)
        let names = ["AccessKeyId", "SecretAccessKey", "SessionToken"]
        let fields = names.compactMap { name in said[name].map { PluginField(name, Secret($0)) } }
        guard fields.count == names.count, fields.allSatisfy({ WireForm.secret.accepts($0.value.reveal()) }),
            let end = said["Expiration"].flatMap(Self.time)
        else { throw PluginError(.internal, "\(host) gave no keys that can be used") }
        let lifetime = answer.lifetime(until: end)
        var credential = PluginCredential(fields: fields, expiresIn: lifetime)
        credential.refreshIn = max(lifetime - Self.earliness, lifetime / 2)
        return credential
    }

    /// Parses a time as seconds since 1970, from such a number or an ISO 8601 date.
    private static func time(_ text: String) -> Double? {
        if let seconds = Double(text) { return seconds.isFinite ? seconds : nil }
        return (try? Date(text, strategy: .iso8601))?.timeIntervalSince1970
    }

    /// The session name in AWS's logs: the user name, reduced to the characters that AWS accepts.
    private var sessionName: String {
        let claims = token.unverifiedClaims(Claims.self)
        let names = [claims?.preferred_username, claims?.upn, claims?.unique_name, claims?.email, claims?.sub]
        let usable = names.compactMap(\.self).map { name in
            String(decoding: name.utf8.filter(Self.isOfSessionName).prefix(Self.longestSessionName), as: UTF8.self)
        }
        return usable.first { $0.utf8.count > 1 } ?? "lanyard"
    }

    private static func isOfSessionName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "_+=,.@-".utf8.contains(byte)
        }
    }

    private func refusal(_ answer: HTTPAnswer) -> PluginError {
        let refusal = STSAnswer(answer)
        let code = refusal["Code"] ?? "HTTP \(answer.status)"
        let words = (refusal["Message"] ?? code).displayable(limit: 300)
        var error =
            switch code {
            case "ExpiredTokenException", "ExpiredToken", "InvalidIdentityToken", "InvalidIdentityTokenException",
                "IDPRejectedClaim":
                PluginError(
                    .interactionRequired, "\(host) refuses the token: \(words)",
                    hint:
                        "IAM needs an identity provider with the token's issuer and audience; see lanyard token --decode"
                )
            case "AccessDenied":
                PluginError(
                    .invalidRequest, "\(host) refuses the role: \(words)",
                    hint: "the role's trust policy must let the identity provider assume it with web identity")
            case "IDPCommunicationError": PluginError(.unavailable, "\(host) can't ask the token's issuer: \(words)")
            default: PluginError(.invalidRequest, "\(host) refuses: \(words)")
            }
        error.error = refusal["Code"]?.plain(limit: 100)
        return error
    }

    private struct Claims: Decodable {
        var preferred_username: String?
        var upn: String?
        var unique_name: String?
        var email: String?
        var sub: String?
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
        let result = document?["AssumeRoleWithWebIdentityResponse"]?["AssumeRoleWithWebIdentityResult"]
        members = result?["Credentials"] ?? document?["Error"]
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
