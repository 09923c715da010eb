import Foundation

/// A tool that lanyard serves: how it runs lanyard, and how it reads the answer.
package struct EveryTool: Sendable, CustomStringConvertible {
    /// The tool's input.
    package struct Call: Sendable {
        /// The arguments.
        package var arguments: [String] = []
        /// All of stdin.
        package var input = ""
        /// Environment variables.
        package var variables: [String: String] = [:]
    }

    /// Where the tool finds the secret in the answer, a token or a password; a tool that has them in two places needs a case
    /// of its own, which `secret(in:)` reads.
    package enum Place: Sendable {
        /// After this prefix, in the last line that has it.
        case line(String)
        /// At this path of the JSON in the last line, or in the whole output.
        case json([String])
    }

    /// The tool's name in the tests.
    package let description: String
    /// The name of the link that it runs; `lanyard` for one of lanyard's commands.
    package var program = "lanyard"
    package let place: Place
    /// Whether the tool lets lanyard ask the user, at a terminal.
    package var isAttended = false
    /// Whether it sends only the host, without a path.
    package var sendsHost = false
    /// Whether it names no place, and so asks for the configured authority.
    package var asksByName = false
    /// Whether it accepts passwords that git stored.
    package var takesPasswords = true
    /// Returns the tool's input for a URL.
    package let call: @Sendable (_ url: String) -> Call
    /// Whether the answer says, in the tool's protocol, that there is no credential.
    package let isNothing: @Sendable (Ended) -> Bool
    /// Whether the answer reports a failure in the tool's protocol.
    package let isFailure: @Sendable (Ended) -> Bool

    /// Returns the URL that the tool asks for, on a host of the world's rules.
    package func url(_ path: String, at host: String = "https://tools.example") -> String {
        sendsHost ? host : "\(host)/\(path)"
    }

    /// Returns the secret in an answer that contains nothing unexpected: one document, or lines that the tool knows.
    package func secret(in ended: Ended) -> String? {
        guard ended.status == 0, ended.errors.isEmpty, let last = ended.lines.last else { return nil }
        let found: String?
        switch place {
        case .line(let start):
            found = ended.lines.last { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
        case .json(let path):
            let whole = Self.json(ended.output) ?? Self.json(last)
            found = path.reduce(whole) { ($0 as? [String: Any])?[$1] }.flatMap {
                ($0 as? [String])?.first ?? $0 as? String
            }
        }
        guard let found else { return nil }
        if found.hasPrefix("Basic "), let plain = Data(base64Encoded: String(found.dropFirst(6))) {
            return String(decoding: plain, as: UTF8.self).split(separator: ":", maxSplits: 1).last.map(String.init)
        }
        return found.hasPrefix("Bearer ") ? String(found.dropFirst(7)) : found
    }

    private static func json(_ text: String) -> Any? { try? JSONSerialization.jsonObject(with: Data(text.utf8)) }

    /// Returns a member of the JSON object in the last line.
    private static func member(_ path: String..., of ended: Ended) -> String? {
        path.reduce(json(ended.lines.last ?? "")) { ($0 as? [String: Any])?[$1] } as? String
    }

    private static func isSilent(_ ended: Ended, _ status: Int32) -> Bool {
        ended.status == status && ended.output.isEmpty && ended.errors.isEmpty
    }

    /// Whether the answer is an error on stderr without output on stdout.
    private static func isComplaint(_ ended: Ended) -> Bool {
        ended.status != 0 && ended.output.isEmpty && ended.errors.hasPrefix("lanyard: error: ")
    }
}

extension EveryTool {
    /// All tools.
    package static let all = [
        git, docker, cargo, go, bazel, keyring, kubectl, terraform, pnpm, aws, gcloud, nuget, azureCLI,
        azd,
    ]

    private static let git = EveryTool(
        description: "git", program: "git-credential-lanyard", place: .line("password="), isAttended: true,
        call: { Call(arguments: ["get"], input: "url=\($0)\n") }, isNothing: { isSilent($0, 0) },
        // git's helper exits normally if the keyring can't be used, so that git asks its other helpers.
        isFailure: { $0.hasNoCredential && $0.errors.hasPrefix("lanyard: error: ") })

    private static let docker = EveryTool(
        description: "docker", program: "docker-credential-lanyard", place: .json(["Secret"]),
        call: { Call(arguments: ["get"], input: $0) },
        isNothing: { $0.status == 1 && $0.output == "credentials not found in native keychain\n" && $0.errors.isEmpty },
        isFailure: {
            $0.status == 1 && $0.lines.count == 1 && !$0.output.hasPrefix("credentials not")
                && $0.errors.hasPrefix("lanyard: error: ")
        })

    private static let cargo = EveryTool(
        description: "cargo", program: "cargo-credential-lanyard", place: .json(["Ok", "token"]), isAttended: true,
        call: {
            let registry = #""registry":{"index-url":"sparse+\#($0)","name":"corp"}"#
            return Call(
                arguments: ["--cargo-plugin"], input: #"{"v":1,"kind":"get","operation":"read",\#(registry)}"# + "\n")
        },
        isNothing: {
            $0.status == 0 && member("Err", "kind", of: $0) == "not-found" && $0.lines.count == 2 && $0.errors.isEmpty
        },
        isFailure: {
            $0.status == 0 && member("Err", "kind", of: $0) == "other" && $0.lines.count == 2 && $0.errors.isEmpty
        })

    private static let go = EveryTool(
        description: "go", place: .line("Authorization: "),
        call: { Call(arguments: ["goauth", $0], input: "HTTP/1.1 401 Unauthorized\n\n") },
        isNothing: { isSilent($0, 0) }, isFailure: isComplaint)

    private static let bazel = EveryTool(
        description: "bazel", program: "bazel-credential-lanyard", place: .json(["headers", "Authorization"]),
        call: { Call(arguments: ["get"], input: #"{"uri":"\#($0)"}"#) },
        isNothing: { $0.status == 0 && $0.output == #"{"headers":{}}"# + "\n" && $0.errors.isEmpty },
        isFailure: isComplaint)

    private static let keyring = EveryTool(
        description: "keyring", program: "keyring", place: .line(""),
        call: { Call(arguments: ["get", $0, "--mode", "creds"]) }, isNothing: { isSilent($0, 1) },
        isFailure: isComplaint)

    private static let kubectl = EveryTool(
        description: "kubectl", place: .json(["status", "token"]), takesPasswords: false,
        call: { Call(arguments: ["kubectl"], variables: ["KUBERNETES_EXEC_INFO": kubernetes(cluster: $0)]) },
        isNothing: { isComplaint($0) && $0.errors.contains("no rule maps") }, isFailure: isComplaint)

    /// Returns client-go's request.
    package static func kubernetes(cluster: String, isInteractive: Bool = false) -> String {
        #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","#
            + #""spec":{"interactive":\#(isInteractive),"cluster":{"server":"\#(cluster)"}}}"#
    }

    private static let terraform = EveryTool(
        description: "terraform", program: "terraform-credentials-lanyard", place: .json(["token"]),
        sendsHost: true, takesPasswords: false,
        call: { Call(arguments: ["get", $0.replacing("https://", with: "")]) },
        isNothing: { $0.status == 0 && $0.output == "{}\n" && $0.errors.isEmpty }, isFailure: isComplaint)

    private static let pnpm = EveryTool(
        description: "pnpm", place: .line(""), call: { Call(arguments: ["pnpm", $0]) },
        isNothing: { isComplaint($0) && $0.errors.contains("there is no credential for") }, isFailure: isComplaint)

    private static let aws = EveryTool(
        description: "aws", place: .json(["SecretAccessKey"]), takesPasswords: false,
        call: { Call(arguments: ["aws", $0]) },
        isNothing: { isComplaint($0) && $0.errors.contains("no rule maps") }, isFailure: isComplaint)

    private static let gcloud = EveryTool(
        description: "gcloud", place: .json(["id_token"]), takesPasswords: false,
        call: { Call(arguments: ["gcloud", $0]) },
        isNothing: { $0.status == 0 && member("code", of: $0) == "NOT_FOUND" && $0.errors.isEmpty },
        isFailure: {
            ["UNAUTHENTICATED", "UNAVAILABLE"].contains(member("code", of: $0)) && $0.status == 0 && $0.errors.isEmpty
        })

    private static let nuget = EveryTool(
        description: "nuget", program: "nuget-plugin-lanyard", place: .json(["Payload", "Password"]),
        call: {
            let payload = #"{"Uri":"\#($0)","IsRetry":false,"IsNonInteractive":false,"CanShowDialog":true}"#
            let method = #""Method":"GetAuthenticationCredentials""#
            return Call(
                arguments: ["-Plugin"],
                input: #"{"RequestId":"1","Type":"Request",\#(method),"Payload":\#(payload)}"# + "\n")
        },
        isNothing: {
            $0.status == 0 && member("Payload", "ResponseCode", of: $0) == "NotFound" && $0.errors.isEmpty
        },
        isFailure: { $0.status == 0 && member("Payload", "ResponseCode", of: $0) == "Error" && $0.errors.isEmpty })

    private static let azureCLI = EveryTool(
        description: "az", place: .json(["accessToken"]), asksByName: true, takesPasswords: false,
        call: { _ in
            Call(arguments: ["az", "account", "get-access-token", "-o", "json", "--resource", "api://sandbox-git"])
        },
        isNothing: { _ in false }, isFailure: isComplaint)

    private static let azd = EveryTool(
        description: "azd", place: .json(["token"]), asksByName: true, takesPasswords: false,
        call: { _ in
            Call(arguments: ["azd", "auth", "token", "--output", "json", "--scope", "api://sandbox-git/.default"])
        },
        isNothing: { _ in false }, isFailure: isComplaint)
}

extension World {
    /// Runs the body in a world with rules for the place that each tool asks for.
    ///
    /// Two rules map `tools.example` and the paths below its `team` to tokens for two resources.
    package static func withEveryTool(
        signedIn: Bool = true, _ body: @Sendable (World) async throws -> Void
    ) async throws {
        try await World.with { world in
            for tool in EveryTool.all
            where !FileManager.default.fileExists(atPath: "\(world.folder)/bin/\(tool.program)") {
                try world.link(tool.program)
            }
            try world.configure(
                before: """
                    authority = "\(world.sandbox.authority)/contoso.example"
                    client-id = "\(world.sandbox.clientID)"
                    """)
            try world.configure(rule: "https://tools.example", at: "contoso.example")
            try world.configure(
                rule: "https://tools.example/team", at: "contoso.example",
                scope: "https://graph.microsoft.com/User.Read")
            try world.configure(rule: world.sandbox.exchanges, at: "contoso.example", #"exchange = "aws-sts""#)
            if signedIn {
                let login = try await world.lanyard(
                    ["login", "https://tools.example"], world.browser(as: "alice@contoso.example"))
                guard login.status == 0 else { throw WorldError.signIn("\(login)") }
            }
            try await body(world)
        }
    }

    /// Returns the place that a tool asks for first, which must succeed.
    package func place(of tool: EveryTool) -> String {
        tool.description == "aws"
            ? "\(sandbox.exchanges)/arn:aws:iam::123456789012:role/developer" : tool.url("app")
    }

    /// Runs lanyard as a tool does.
    package func ask(_ tool: EveryTool, _ url: String? = nil, _ extra: [String: String] = [:]) async throws -> Ended {
        let call = tool.call(url ?? place(of: tool))
        return try await runInside(
            "\(folder)/bin/\(tool.program)", call.arguments, input: call.input,
            environment: environment.merging(call.variables) { $1 }.merging(extra) { $1 })
    }
}
