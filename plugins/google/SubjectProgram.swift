import Addresses
import Files
import Glibc
import JSON
import PluginOAuth
import PluginWire
import Secrets

/// A program that gives the token of another issuer (`executable` of a `credential_source`), by Google's protocol of version 1.
struct SubjectProgram: Sendable {
    /// The program.
    let path: String
    private let arguments: [String]
    private let variables: [String: String]
    private let output: String?
    private let patience: Duration
    private let isIDToken: Bool

    private static let permission = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"
    private static let longest = 1 << 16

    /// Reads what a file says of the program.
    ///
    /// - Throws: `invalid-request` if the user doesn't allow programs, or the program is lanyard, which would ask itself.
    init(_ members: JSONValue, _ file: CredentialsReader, audience: String, type: String) throws(PluginError) {
        guard file.surroundings.variable(Self.permission) == "1" else {
            throw PluginError(
                .invalidRequest, "\(file.place) names a program to run, which you don't allow",
                hint: "if you trust it, set \(Self.permission)=1, as for Google's own programs")
        }
        let words = (members["command"]?.string ?? "").pieces(between: " ").map(String.init)
        guard let path = words.first, path.utf8.first == UInt8(ascii: "/"),
            words.allSatisfy({ !$0.hasControlCharacter })
        else { throw PluginError(.invalidRequest, "the program in \(file.place) has no path from the root") }
        let names = words.map { FileTrust.realPath($0) ?? $0 }.map { $0.pieces(between: "/").last ?? "" }
        guard !names.contains("lanyard") else {
            throw PluginError(
                .invalidRequest, "\(file.place) has lanyard give the token, and lanyard doesn't ask itself",
                hint: "give the rule the identity or account whose token `lanyard gcloud` would print")
        }
        self.path = path
        arguments = Array(words.dropFirst())
        output = members["output_file"]?.string
        let milliseconds = members["timeout_millis"]?.wholeNumber ?? 30_000
        // A minute of silence ends the operation.
        patience = .milliseconds(min(max(milliseconds, 5000), 45_000))
        isIDToken = !type.hasSuffix(":saml2")
        var variables = [
            "\(Self.prefix)AUDIENCE": audience, "\(Self.prefix)TOKEN_TYPE": type, "\(Self.prefix)INTERACTIVE": "0",
            "\(Self.prefix)REVOKE": "0", Self.permission: "1",
        ]
        variables["\(Self.prefix)OUTPUT_FILE"] = output
        if let url = try file.impersonationURL(),
            let account = StrictURL(https: url)?.segments.last?.cut(at: ":").map({ String($0.0) })?.percentDecoded
        {
            variables["\(Self.prefix)IMPERSONATED_EMAIL"] = account
        }
        self.variables = variables
    }

    private static let prefix = "GOOGLE_EXTERNAL_ACCOUNT_"

    /// Returns the token of the program's last answer, if that lives, or else of a new one.
    func token() async throws(PluginError) -> String {
        if let output, FileStatus(of: output) != nil, let bytes = try? OpenFile(output).contents(atMost: Self.longest),
            let answer = JSONValue(bytes: bytes), answer["success"] == .bool(true),
            let end = answer["expiration_time"]?.time, end > time(nil) + 30, let token = token(in: answer)
        {
            return token
        }
        let text = try await AssertionCommand(
            path: path, arguments: arguments, variables: variables, patience: patience
        ).output(atMost: Self.longest)
        guard let answer = JSONValue(bytes: text.utf8), answer["version"]?.wholeNumber == 1 else {
            throw PluginError(
                .invalidRequest, "the program \(path.displayable(limit: 300)) printed no answer of version 1",
                hint: "run it by hand to see what it prints")
        }
        guard answer["success"] == .bool(true) else {
            let words = answer["message"]?.string ?? answer["code"]?.string ?? "it doesn't say why"
            throw PluginError(
                .invalidRequest,
                "the program \(path.displayable(limit: 300)) gave no token: \(words.displayable(limit: 300))")
        }
        guard let token = token(in: answer) else {
            throw PluginError(
                .invalidRequest,
                "the program \(path.displayable(limit: 300)) gave a token of another type than asked for")
        }
        return token
    }

    private func token(in answer: JSONValue) -> String? {
        guard answer["token_type"]?.string == variables["\(Self.prefix)TOKEN_TYPE"] else { return nil }
        return answer[isIDToken ? "id_token" : "saml_response"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }
}
