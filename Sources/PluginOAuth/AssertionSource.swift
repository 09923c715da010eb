import Addresses
import Files
import HTTP
import JSON
package import OAuth
package import PluginWire
package import Secrets
import Subprocess
import SystemPackage

/// The source of a federated assertion (RFC 7523), which an authority accepts from issuers that the application trusts.
///
/// The assertion is read or fetched for each request and never stored.
package struct AssertionSource: Sendable {
    private enum Source: Sendable {
        case text(Secret)
        case file(String)
        case command(String)
        case github(url: String, token: Secret)
        case azurePipelines(url: String, token: Secret)
    }

    /// The names that rules and `[[identity]]` tables may have for a source, before its colon.
    private enum Name: String {
        case file, command, variable, gitlab, kubernetes
        case terraform = "hcp-terraform"
        case github = "github-actions"
        case azurePipelines = "azure-pipelines"
    }

    private let source: Source
    private var audience: String

    /// The size limit of a file or a command's output, in bytes.
    private static let longest = 1 << 16

    /// Creates a source from its name and the request's variables.
    ///
    /// - Parameters:
    ///   - text: The source's name, perhaps with an argument.
    ///   - identity: The identity, with its variables.
    ///   - audience: The audience that the authority expects in the assertion.
    /// - Throws: `unsupported` for an unknown name, `unavailable` if lanyard doesn't run in a job of this source, or
    ///   `invalid-request` if the job's configuration lacks something.
    package init(_ text: String, of identity: PluginIdentity, audience: String) throws(PluginError) {
        let (name, argument) = try Self.parts(of: text)
        self.audience = audience
        switch name {
        case .file: source = .file(argument)
        case .command: source = .command(argument)
        case .variable: source = .text(try identity.required(argument, "set it where lanyard runs"))
        case .gitlab:
            source = .text(
                try identity.required(
                    "AZURE_ID_TOKEN",
                    "name it in the job's id_tokens, with the audience \(audience); "
                        + "for another name, write assertion = \"variable:NAME\""))
        case .kubernetes:
            source = .file(
                argument.isEmpty ? identity.variable("AZURE_FEDERATED_TOKEN_FILE") ?? Self.kubernetesFile : argument)
        case .terraform:
            source = .text(
                try identity.required(
                    "TFC_WORKLOAD_IDENTITY_TOKEN",
                    "set TFC_WORKLOAD_IDENTITY_AUDIENCE in the workspace to \(audience)"))
        case .github:
            let advice = "give the job the permission: permissions: id-token: write"
            if !argument.isEmpty { self.audience = argument }
            source = .github(
                url: try identity.requiredURL("ACTIONS_ID_TOKEN_REQUEST_URL", advice),
                token: try identity.required("ACTIONS_ID_TOKEN_REQUEST_TOKEN", advice))
        case .azurePipelines: source = try Self.azurePipelines(identity, connection: argument)
        }
    }

    /// Refuses a name that no source has, which needs no request to the authority.
    ///
    /// - Throws: `unsupported` for an unknown name.
    package static func requireKnown(_ text: String) throws(PluginError) { _ = try parts(of: text) }

    private static func parts(of text: String) throws(PluginError) -> (name: Name, argument: String) {
        let (name, argument) = text.cut(at: ":").map { (String($0.0), String($0.1)) } ?? (text, "")
        guard let known = Name(rawValue: name) else {
            throw PluginError(
                .unsupported, "there is no source of assertions called \(name.displayable(limit: 64))",
                hint: "there are github-actions, gitlab, azure-pipelines, kubernetes, hcp-terraform, variable:NAME, "
                    + "file:PATH and command:PATH")
        }
        return (known, argument)
    }

    private static let kubernetesFile = "/var/run/secrets/azure/tokens/azure-identity-token"

    private static func azurePipelines(
        _ identity: PluginIdentity, connection: String
    ) throws(PluginError) -> Source {
        let url = try identity.requiredURL("SYSTEM_OIDCREQUESTURI", "it is there in jobs of Azure Pipelines only")
            .withoutTrailingSlashes
        let id =
            try connection.isEmpty
            ? identity.required(
                "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID", "or write assertion = \"azure-pipelines:CONNECTION-ID\"",
                as: .invalidRequest
            ).reveal()
            : connection
        let token = try identity.required(
            "SYSTEM_ACCESSTOKEN", "map it in the step's env: SYSTEM_ACCESSTOKEN: $(System.AccessToken)",
            as: .invalidRequest)
        return .azurePipelines(
            url: FormEncoding.append([("api-version", "7.1"), ("serviceConnectionId", id)], to: url),
            token: token)
    }

    /// Reads or fetches the assertion.
    ///
    /// - Throws: the reason why there is none; never the answer's text.
    package func assertion(over transport: Transport) async throws(PluginError) -> Secret {
        let text: String
        switch source {
        case .text(let secret): text = secret.reveal()
        case .file(let path): text = try Self.read(path)
        case .command(let path): text = try await AssertionCommand(path: path).output(atMost: Self.longest)
        case .github(let url, let token):
            text = try await fetch("value") { () throws(OAuthError) in
                try await transport.get(url.asking(for: audience), headers: Self.bearer(token))
            }
        case .azurePipelines(let url, let token):
            text = try await fetch("oidcToken") { () throws(OAuthError) in
                let headers = Self.bearer(token) + [("x-tfs-fedauthredirect", "Suppress")]
                return try await transport.post(url, json: "", headers: headers, .harmless)
            }
        }
        guard let token = String(text.trimmed(of: " \t\r\n")).plain(limit: Self.longest) else {
            throw PluginError(
                .invalidRequest, "\(what) gave no token", hint: "it should be a JSON web token on one line")
        }
        return Secret(token)
    }

    /// The description of the source in messages.
    private var what: String {
        switch source {
        case .text: "the variable"
        case .file(let path): "the file \(path.displayable(limit: 300))"
        case .command(let path): "the command \(path.displayable(limit: 300))"
        case .github: "GitHub Actions"
        case .azurePipelines: "Azure Pipelines"
        }
    }

    /// What the job needs before the service gives it a token.
    private var permission: String {
        if case .github = source { return "give the job the permission: permissions: id-token: write" }
        return "check the service connection's ID, and that the job may use it"
    }

    private static func bearer(_ token: Secret) -> [(String, String)] {
        [("authorization", "Bearer \(token.reveal())")]
    }

    /// Requests an assertion from a service.
    ///
    /// Answers are never shown: a successful one is a secret, and others may contain one.
    private func fetch(
        _ member: String, _ ask: () async throws(OAuthError) -> HTTPAnswer
    ) async throws(PluginError) -> String {
        let answer: HTTPAnswer
        do throws(OAuthError) { answer = try await ask() } catch { throw error.plain }
        guard answer.status == 200 else {
            throw PluginError(
                .invalidRequest, "\(what) gave no token (HTTP \(answer.status))",
                hint: permission)
        }
        guard let token = answer.json?[member]?.string, !token.isEmpty else {
            throw PluginError(.internal, "\(what) answered without a token", hint: permission)
        }
        return token
    }

    private static func read(_ path: String) throws(PluginError) -> String {
        do throws(FileError) {
            return String(decoding: try OpenFile(path).contents(atMost: longest), as: UTF8.self)
        } catch {
            throw PluginError(
                .unavailable, "the token file \(path.displayable(limit: 300)) can't be read: \(error.reason)",
                hint: "check the path, and that the pod or job mounts the token")
        }
    }
}

extension String {
    /// Returns the URL with this audience in its query, replacing an existing one.
    package func asking(for audience: String) -> String {
        guard let (place, query) = cut(at: "?") else { return FormEncoding.append([("audience", audience)], to: self) }
        let others = query.pieces(between: "&").filter { !$0.utf8.starts(with: "audience=".utf8) }
        let url = others.isEmpty ? String(place) : "\(place)?\(others.joined(separator: "&"))"
        return FormEncoding.append([("audience", audience)], to: url)
    }
}

extension PluginIdentity {
    /// Returns a required variable; if it is missing, the source isn't available here, unless `code` says otherwise.
    fileprivate func required(
        _ name: String, _ advice: String, as code: PluginError.Code = .unavailable
    ) throws(PluginError) -> Secret {
        guard let value = variable(name) else {
            throw PluginError(code, "the variable \(name.displayable(limit: 128)) is not set", hint: advice)
        }
        return Secret(value)
    }

    /// Returns a required https URL: the job's token is sent there, and the answer is an assertion.
    fileprivate func requiredURL(_ name: String, _ advice: String) throws(PluginError) -> String {
        let text = try required(name, advice).reveal()
        guard let url = StrictURL(https: text), !url.hasFragment else {
            throw PluginError(.invalidRequest, "the variable \(name) is no https URL", hint: advice)
        }
        return text
    }
}

/// A user's program that prints an assertion.
package struct AssertionCommand: Sendable {
    let path: String
    let arguments: [String]
    /// Variables besides the plugin's own.
    let variables: [String: String]
    /// The time limit.
    let patience: Duration

    /// Creates a command.
    package init(
        path: String, arguments: [String] = [], variables: [String: String] = [:], patience: Duration = .seconds(8)
    ) {
        (self.path, self.arguments, self.variables, self.patience) = (path, arguments, variables, patience)
    }

    /// Runs the program and returns its output; its error output is dropped because it may contain secrets.
    package func output(atMost limit: Int) async throws(PluginError) -> String {
        var trust = FileTrust()
        if case .writable(let culprit) = trust.check(path) {
            throw PluginError(
                .invalidRequest,
                "the command \(shown) isn't run: another user could have written \(culprit.displayable(limit: 300))",
                hint: "make it yours or root's, and let no one else write to it")
        }
        do {
            guard let text = try await printed(limit) else { throw failure }
            return text
        } catch let error as PluginError {
            throw error
        } catch is CancellationError {
            throw PluginError(
                .unavailable, "the command \(shown) gave no token within \(patience.components.seconds) seconds",
                hint: "run it by hand to see why")
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            throw PluginError(
                .invalidRequest, "the command \(shown) prints more than a token", hint: "run it by hand to see it")
        } catch {
            throw PluginError(
                .invalidRequest, "the command \(shown) can't be run", hint: "check its path, and that it is executable")
        }
    }

    private var shown: String { path.displayable(limit: 300) }

    private var failure: PluginError {
        PluginError(.invalidRequest, "the command \(shown) failed", hint: "run it by hand to see why")
    }

    /// Returns the output; nil if the program fails.
    private func printed(_ limit: Int) async throws -> String? {
        try await withDeadline(patience) {
            let result = try await Subprocess.run(
                .path(FilePath(path)), arguments: Arguments(arguments),
                environment: .inherit.updating(
                    Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })),
                platformOptions: Self.options, input: .none, output: .string(limit: limit),
                error: .discarded)
            return result.terminationStatus.isSuccess ? result.standardOutput : nil
        }
    }

    /// A new session: signals reach the program's children, too, and it has no terminal to prompt on.
    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(300))
        ]
        return options
    }
}

extension PluginIdentity {
    /// Returns the value of a variable of the request; nil if it is missing or empty.
    package func variable(_ name: String) -> String? {
        variables.first { $0.name.isSame(as: name) }.map { $0.value.reveal() }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
