import Addresses
import JSON
import Model
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
                    For credential_process in ~/.aws/config. The URL names IAM Identity Center's portal, the account and the role, or the \
                    Security Token Service and the role's ARN. A rule says which sign-in lanyard uses for it.
                    """,
                argument:
                    "The URL: https://portal.sso.REGION.amazonaws.com/ACCOUNT/ROLE, or https://sts.amazonaws.com/ and the role's ARN.",
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
                Sets `credential_process` in `~/.aws/config`, for the profile that --profile or AWS_PROFILE names or else the default one. The \
                URL is that of the role; see lanyard-aws(1). Without one, it takes the role of a profile that signs in at IAM Identity Center, \
                and offers the rule for it.
                """,
            url: .offered, profile: AWSSettings.profile(ofSection:), exampleOfURL: " \\\n  \(AWSSettings.example)",
            schemes: ["https"],
            place: AWSSettings.place(of:), paths: ["AWS_CONFIG_FILE"], expandsHome: true, shown: AWSSettings.shown,
            settings: AWSSettings.init))
}

/// The protocol of the AWS CLI and SDKs: `credential_process = lanyard aws URL`, where the URL's path is the role's
/// ARN.
///
/// They run it without a terminal, read its whole output, and run it again when less than fifteen minutes are left.
public struct AWSProtocol: ToolProtocol {
    /// The SDKs accept keys only.
    public static var takesPasswords: Bool { false }

    private static let usage: Message =
        "usage: lanyard aws https://portal.sso.REGION.amazonaws.com/ACCOUNT/ROLE, or https://sts.amazonaws.com/arn:aws:iam::ACCOUNT:role/NAME"

    /// The name of the exchange, in lanyard's plugins, that returns AWS keys for a token of any issuer.
    public static let exchange = "aws-sts"

    /// Whether an exchange of lanyard's plugins returns AWS keys.
    public static func givesKeys(_ exchange: String?) -> Bool { [Self.exchange, "aws-sso"].contains(exchange) }

    /// Returns the variables in which the AWS CLI and SDKs find keys, which end then, without those that some of them go by
    /// first; nil for a credential that has none.
    public static func variables(of fields: [String: Secret], until end: Int?) -> [String: String?]? {
        guard let id = fields["AccessKeyId"], let secret = fields["SecretAccessKey"] else { return nil }
        var variables: [String: String?] = [
            "AWS_ACCESS_KEY_ID": id.reveal(), "AWS_SECRET_ACCESS_KEY": secret.reveal(),
            "AWS_SESSION_TOKEN": fields["SessionToken"]?.reveal(), "AWS_CREDENTIAL_EXPIRATION": end.map(Moment.utc),
        ]
        for name in ["SECURITY_TOKEN", "PROFILE", "DEFAULT_PROFILE", "WEB_IDENTITY_TOKEN_FILE"] {
            variables.updateValue(nil, forKey: "AWS_\(name)")
        }
        return variables
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
