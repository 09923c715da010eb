import Addresses
import CredentialEngine
import Rules
import Secrets

/// The protocol of pnpm's `tokenHelper`, a program without arguments that prints the value of an `Authorization`
/// header; lanyard takes the URL as an argument.
public struct PnpmConsumer: Consumer {
    private let arguments: [String]
    private var request = CredentialRequest()

    /// Creates a consumer for a token helper; the argument is the registry's URL.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Asks the engine at once; pnpm writes nothing.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return .fail("lanyard pnpm takes the registry's URL", status: 64) }
        guard let request = try? CredentialRequest(wholeURL: arguments[0], takesAuthorizations: true) else {
            return .fail("\(arguments[0].displayableURL) is not a URL", status: 64)
        }
        self.request = request
        return Turn(.ask(.get(request)))
    }

    /// Answers with the header, or fails; pnpm reports empty output as a different error.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
        switch event {
        case .credential(let credential): answer(credential.authorizationHeader)
        case .nothing, .input:
            .fail("there is no credential for \(request.url)", remedy: remedy)
        case .refused: Turn(complaint: .refusal, .end(1))
        }
    }

    /// The remedy if there is no credential; no rule can map an http URL.
    private var remedy: String {
        guard request.scheme == "http", request.host?.name != "localhost" else {
            return "make a rule: lanyard rule add \(request.url)"
        }
        return "tokens are not sent over http; use the registry's https URL"
    }

    private func answer(_ header: String) -> Turn {
        guard !header.hasControlCharacter else { return Turn(complaint: .unwritable(request), .end(1)) }
        return .answer(header)
    }
}
