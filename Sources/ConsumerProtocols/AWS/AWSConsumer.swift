import Addresses
import CredentialEngine
import JSON
import Rules
import Secrets

/// The protocol of the AWS CLI and SDKs: `credential_process = lanyard aws URL`, where the URL's path is the role's
/// ARN.
///
/// They run it without a terminal, read its whole output, and run it again when less than fifteen minutes are left.
public struct AWSConsumer: Consumer {
    /// The SDKs accept keys only.
    public static var takesPasswords: Bool { false }

    private static let usage = "usage: lanyard aws https://sts.amazonaws.com/arn:aws:iam::ACCOUNT:role/NAME"

    /// The name of the exchange, in lanyard's plugins, that returns AWS keys.
    public static let exchange = "aws-sts"

    private let arguments: [String]

    /// Creates a consumer for the arguments in `credential_process`: one URL.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Asks the engine at once; the request has no input.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return .fail(Self.usage, status: 64) }
        do throws(RequestError) {
            var request = try CredentialRequest(wholeURL: arguments[0])
            request.takesFields = true
            return Turn(.ask(.get(request)))
        } catch {
            return .fail("the URL can't be one: \(arguments[0].displayableURL)", status: 64)
        }
    }

    /// Answers with the engine's credential.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
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
