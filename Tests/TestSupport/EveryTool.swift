import Foundation

/// A tool that lanyard serves, as it runs lanyard and as it reads the answer.
package struct EveryTool: Sendable, CustomStringConvertible {
    /// What a tool passes.
    package struct Call: Sendable {
        /// The arguments.
        package var arguments: [String] = []
        /// All of stdin.
        package var input = ""
        /// Variables of the environment.
        package var variables: [String: String] = [:]
    }

    /// Where a tool finds the secret in the answer.
    package enum Place: Sendable {
        /// Behind this, in the last line that begins with it.
        case line(String)
        /// In the last line, or all of the output, if that is JSON.
        case json([String])
    }

    /// What it is called here.
    package let description: String
    /// The link that it runs; `lanyard` for a command of lanyard's.
    package var program = "lanyard"
    package let place: Place
    /// Whether somebody may be asked for it, at a terminal.
    package var isAttended = false
    /// Whether it sends no path.
    package var sendsHost = false
    /// Whether it takes passwords that git stored.
    package var takesPasswords = true
    /// What it passes for a URL.
    package let call: @Sendable (_ url: String) -> Call
    /// Whether it is told that there is nothing, in its protocol's words.
    package let isNothing: @Sendable (Ended) -> Bool
    /// Whether it is told of a failure, in its protocol's words.
    package let isFailure: @Sendable (Ended) -> Bool

    /// The URL of what it asks for, on a host of a world's rules.
    package func url(_ path: String, at host: String = "https://tools.example") -> String {
        sendsHost ? host : "\(host)/\(path)"
    }

    /// The secret in an answer, if that is all that it has: one document, or lines that the tool knows.
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

    /// A member of the last line's object.
    private static func member(_ path: String..., of ended: Ended) -> String? {
        path.reduce(json(ended.lines.last ?? "")) { ($0 as? [String: Any])?[$1] } as? String
    }

    private static func isSilent(_ ended: Ended, _ status: Int32) -> Bool {
        ended.status == status && ended.output.isEmpty && ended.errors.isEmpty
    }

    /// An error on stderr, and nothing on stdout.
    private static func isComplaint(_ ended: Ended) -> Bool {
        ended.status != 0 && ended.output.isEmpty && ended.errors.hasPrefix("lanyard: error: ")
    }
}

extension EveryTool {
    /// All of them.
    package static let all = [
        git, docker, cargo, go, bazel, keyring, kubectl, terraform, pnpm, aws, gcloud, nuget, azureCLI,
    ]

    private static let git = EveryTool(
        description: "git", program: "git-credential-lanyard", place: .line("password="), isAttended: true,
        call: { Call(arguments: ["get"], input: "url=\($0)\n") }, isNothing: { isSilent($0, 0) },
        // It abstains if the keyring can't be used, so that git asks its other helpers.
        isFailure: { $0.output.isEmpty && $0.errors.hasPrefix("lanyard: error: ") })

    private static let docker = EveryTool(
        description: "docker", program: "docker-credential-lanyard", place: .json(["Secret"]),
        call: { Call(arguments: ["get"], input: $0) },
        isNothing: { $0.status == 1 && $0.output == "credentials not found in native keychain\n" && $0.errors.isEmpty },
        isFailure: {
            $0.status == 1 && $0.lines.count == 1 && !$0.output.hasPrefix("credentials not") && $0.errors.isEmpty
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

    /// What client-go asks.
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

    /// It asks for no place, and so for the configured authority.
    private static let azureCLI = EveryTool(
        description: "az", place: .json(["accessToken"]), takesPasswords: false,
        call: { _ in
            Call(arguments: ["az", "account", "get-access-token", "-o", "json", "--resource", "api://sandbox-git"])
        },
        isNothing: { _ in false }, isFailure: isComplaint)
}

extension World {
    /// Runs the body in a world where a rule maps the place that each tool asks for.
    ///
    /// Two rules map `tools.example` and what is below its `team`, to tokens for two resources.
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

    /// What a tool asks for first, and is to get.
    package func place(of tool: EveryTool) -> String {
        tool.description == "aws"
            ? "\(sandbox.exchanges)/arn:aws:iam::123456789012:role/developer" : tool.url("app")
    }

    /// Asks lanyard as a tool does.
    package func ask(_ tool: EveryTool, _ url: String? = nil, _ extra: [String: String] = [:]) async throws -> Ended {
        let call = tool.call(url ?? place(of: tool))
        return try await runInside(
            "\(folder)/bin/\(tool.program)", call.arguments, input: call.input,
            environment: environment.merging(call.variables) { $1 }.merging(extra) { $1 })
    }
}
