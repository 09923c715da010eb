import Addresses
import JSON
import Model
import Secrets
import Terminal

extension Tool {
    static let gcloud = Tool(
        "gcloud",
        .verb(
            ToolVerb(
                name: "gcloud", abstract: "Print a token for gcloud and Google's SDKs.",
                discussion: """
                    For executable-sourced credentials of identity federation: the command in a credential configuration. A rule says \
                    which token the URL gets.
                    """,
                argument: "The URL that a rule is for, such as https://sts.googleapis.com.",
                examples: [
                    "Have gcloud sign in with a token from lanyard": """
                    gcloud iam workforce-pools create-cred-config \\
                      locations/global/workforcePools/contoso/providers/entra \\
                      --executable-command \\
                        "/usr/bin/lanyard gcloud https://sts.googleapis.com" \\
                      --subject-token-type urn:ietf:params:oauth:token-type:jwt \\
                      --workforce-pool-user-project PROJECT --output-file credentials.json
                    """
                ])),
        { GoogleProtocol($0.arguments, $0.environment) },
        recipe: Hint("gcloud is set up by hand; see", run: "man lanyard-gcloud"))
}

/// The protocol of gcloud and Google's SDKs: executable-sourced credentials of workload identity federation, version 1.
///
/// They read the whole output, including errors, but only if the exit status is 0. The environment says whether the
/// user may be asked.
public struct GoogleProtocol: ToolProtocol {
    /// The SDKs accept tokens only.
    public static var takesPasswords: Bool { false }

    private let arguments: [String]
    private let environment: [String: String]

    /// Creates a tool for the arguments in the credential configuration's `command`: one URL.
    public init(_ arguments: [String], _ environment: [String: String]) {
        self.arguments = arguments
        self.environment = environment
    }

    /// Asks the engine at once; the request has no input.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return fail("INVALID_REQUEST", "usage: lanyard gcloud URL") }
        guard [Self.idToken, Self.webToken].contains(type) else {
            return fail(
                "INVALID_REQUEST",
                """
                lanyard has no token of the type \(type.displayable(limit: 100)): in the credential configuration, set \
                subject_token_type to \(Self.webToken) or \(Self.idToken)
                """)
        }
        do throws(ProtocolError) {
            var request = try CredentialRequest(wholeURL: arguments[0])
            if type == Self.idToken { request.explicit.token = .id }
            request.isUnattended = environment["GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE"] != "1"
            return Turn(.ask(.get(request)))
        } catch {
            return fail("INVALID_REQUEST", "the URL can't be one: \(arguments[0].displayableURL)")
        }
    }

    /// Answers with the engine's token.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .credential(let credential): answer(credential)
        case .refused(let refusal): fail(Self.code(refusal.cause), refusal.text)
        case .nothing, .input:
            fail("NOT_FOUND", "no rule maps \(arguments[0].displayableURL)")
        }
    }

    /// Returns Google's error code, which says whether signing in again would help.
    private static func code(_ cause: Refusal.Cause) -> String {
        switch cause {
        case .keyring, .authority: "UNAVAILABLE"
        case .user, .other: "UNAUTHENTICATED"
        }
    }

    private func answer(_ credential: Credential) -> Turn {
        guard case .accessToken = credential.kind else {
            return fail("NOT_FOUND", "what is stored for \(arguments[0].displayableURL) is no token")
        }
        let parts = credential.secret.reveal().pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && Base64URL.isEncoded(String($0)) }) else {
            return fail(
                "INVALID_TOKEN",
                """
                the token for \(arguments[0].displayableURL) isn't a JWT, which Google needs: if the issuer gives ID tokens, \
                set subject_token_type to \(Self.idToken)
                """)
        }
        var answer: [String: JSONValue] = [
            "version": 1, "success": true, "token_type": .string(type),
            "id_token": .string(credential.secret.reveal()),
        ]
        answer["expiration_time"] = credential.end.map { .integer(Int64($0)) }
        return .answer(.object(answer))
    }

    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"
    private static let webToken = "urn:ietf:params:oauth:token-type:jwt"

    /// The type of token that Google expects: an ID token, or a JWT, which the rule chooses.
    ///
    /// The libraries carry a JWT of either type in the member `id_token`.
    private var type: String {
        environment["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.webToken
    }

    private func fail(_ code: String, _ message: String) -> Turn {
        .answer(["version": 1, "success": false, "code": .string(code), "message": .string(message)])
    }
}
