import CredentialEngine
import JSON
import Model
import Rules
import Secrets
import Terminal

@testable import Tools

extension FuzzTarget {
    /// A tool's input to lanyard: the tool's name and its arguments, each terminated by NUL; after an empty one, its
    /// stdin.
    ///
    /// Whatever the input is, the tool gets an answer in its own protocol, and no secret that isn't meant for it.
    static let tool = FuzzTarget("tool") { input in
        guard let call = ToolCall(input) else { return }
        for event in ToolCall.events {
            let said = try call.said(event, reads: [call.input])
            let half = call.input.count / 2
            let again = try call.said(event, reads: [Array(call.input[..<half]), Array(call.input[half...])])
            try require(said == again, "two reads are another request than one")
            try call.requireProtocol(said)
            try call.requireSecrecy(said)
        }
    }
}

/// A tool that runs lanyard.
private struct ToolCall {
    /// Everything that a tool receives.
    struct Said: Equatable {
        var output: [UInt8] = []
        var complaints: [Turn.Complaint] = []
        var notes: [String] = []
        var questions: [Question] = []
        var status: Int32 = 0

        var lines: [[UInt8]] { output.parts(0x0A).dropLast() }
    }

    let name: String
    let arguments: [String]
    let input: [UInt8]

    init?(_ bytes: [UInt8]) {
        var words: [String] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0), end > rest.startIndex {
            guard let word = Array(rest[..<end]).text else { return nil }
            words.append(word)
            rest = rest[(end + 1)...]
        }
        guard let name = words.first else { return nil }
        (self.name, arguments, input) = (name, Array(words.dropFirst()), Array(rest.dropFirst()))
        guard tool != nil else { return nil }
    }

    private var tool: (any ToolProtocol)? {
        switch name {
        case "docker": DockerProtocol(arguments, version: "1")
        case "cargo": CargoProtocol(arguments)
        case "go": GoProtocol(arguments)
        case "bazel": BazelProtocol(arguments)
        case "keyring": KeyringProtocol(arguments, isTyped: false)
        case "kubectl":
            KubectlProtocol(
                arguments, environment: [KubectlProtocol.variable: String(decoding: input, as: UTF8.self)])
        case "terraform": TerraformProtocol(arguments)
        case "pnpm": PnpmProtocol(arguments)
        case "nuget": NuGetProtocol(arguments)
        case "aws": AWSProtocol(arguments)
        case "gcloud": GoogleProtocol(arguments, [:])
        case "az": AzureCLIProtocol(arguments, environment: [:], version: "1")
        case "azd": AzureDeveloperCLIProtocol(arguments)
        default: nil
        }
    }

    /// The engine's results: a secret of each kind, one that no header can contain, nothing, and a refusal.
    static let events: [ToolEvent] = {
        var keys = Credential(.accessToken, Secret(""), username: "u", expiresOn: .max)
        for name in ["AccessKeyId", "SecretAccessKey"] { keys.fields[name] = Secret(engineSecret) }
        return [
            .credential(Credential(.accessToken, Secret(engineSecret), username: "u", expiresOn: 5)),
            .credential(Credential(.password, Secret(engineSecret), username: "u")),
            .credential(Credential(.authorization(scheme: "X"), Secret(engineSecret), username: nil)),
            .credential(Credential(.authorization(scheme: ""), Secret("a\r\n\n" + engineSecret), username: nil)),
            .credential(keys), .nothing,
            .refused(Refusal(cause: .other, message: "no", remedies: ["yes"], status: 2)),
        ]
    }()

    private static let engineSecret = "engine-s3cret"
    /// The placeholder in inputs for a secret from the tool.
    private static let typedSecret = "typed-s3cret"

    func said(_ event: ToolEvent, reads: [[UInt8]]) throws -> Said {
        guard var tool else { return Said() }
        var (said, reads, turn) = (Said(), reads.filter { !$0.isEmpty }[...], tool.begin())
        for _ in 0..<(input.count + 10) {
            said.output += turn.output
            if let complaint = turn.complaint { said.complaints.append(complaint) }
            if let note = turn.note { said.notes.append(note.text) }
            switch turn.next {
            case .read: turn = tool.receive(.input(reads.popFirst() ?? []))
            case .ask(let question):
                said.questions.append(question)
                turn = tool.answer(question, event)
            case .end(let status):
                said.status = status
                return said
            }
        }
        throw Finding(description: "it doesn't end")
    }

    /// Requires that no complaint contains a secret, and that a secret to be stored goes nowhere else.
    func requireSecrecy(_ said: Said) throws {
        let words = (said.complaints.map { "\($0)" } + said.notes).joined(separator: "\n")
        try require(!words.contains(Self.engineSecret), "a secret on stderr: \(words)")
        let stores =
            ["docker", "terraform", "keyring"].contains(name) && arguments.contains { ["store", "set"].contains($0) }
        let text = String(decoding: input, as: UTF8.self)
        let start = name == "docker" ? #""Secret":""# : name == "keyring" ? "" : #""token":""#
        guard stores || name == "cargo", text.contains(start + Self.typedSecret),
            text.ranges(of: Self.typedSecret).count == 1, !arguments.contains(where: { $0.contains(Self.typedSecret) })
        else { return }
        try require(!words.contains(Self.typedSecret), "what is to be stored is on stderr: \(words)")
        try require(
            !String(decoding: said.output, as: UTF8.self).contains(Self.typedSecret), "what is to be stored is told")
    }
}

extension ToolProtocol {
    /// Returns the turn after this result of the engine, if the question can have it.
    fileprivate mutating func answer(_ question: Question, _ event: ToolEvent) -> Turn {
        switch (question, event) {
        case (.list, .refused), (.get, _), (_, .refused): receive(event)
        case (.list, _): receive(list: ["registry.example": "u"])
        case (.store, _), (.erase, _): receive(.nothing)
        }
    }
}

// MARK: What each tool can read

extension ToolCall {
    func requireProtocol(_ said: Said) throws {
        try require(said.output.isEmpty || said.output.last == 0x0A, "a line without an end")
        for case .other(let message, let remedy) in said.complaints {
            try require(Self.isPlain(Array("\(message)\(remedy ?? "")".utf8)), "a complaint of several lines")
        }
        switch name {
        case "docker": try requireDocker(said)
        case "cargo": try requireCargo(said)
        case "nuget": try requireNuGet(said)
        case "gcloud":
            let answer = try Self.object(said)
            try require(said.status == 0 && said.complaints.isEmpty && answer["success"] != nil, "not Google's")
        case "keyring" where said.status != 0: try require(said.output.isEmpty, "a failure with an answer")
        case _ where said.status != 0:
            try require(
                said.output.isEmpty && said.complaints.count == 1, "a failure with an answer, or without a word")
        default: try requireAnswer(said)
        }
    }

    /// Checks the answer to a tool that learns of failures through a status.
    private func requireAnswer(_ said: Said) throws {
        try require(said.complaints.isEmpty, "a complaint about a success")
        switch name {
        case "go": try requireGo(said)
        case "bazel": try require(try Self.object(said)["headers"]?.members != nil, "no headers")
        case "kubectl":
            // A variable is text, whatever its bytes were.
            let asked = JSONValue(bytes: String(decoding: input, as: UTF8.self).utf8, atMost: input.count * 3)?[
                "apiVersion"]
            let answer = try Self.object(said)
            try require(answer["apiVersion"] == asked && answer["status"]?["token"]?.string != nil, "no credential")
        case "terraform" where arguments.first == "get":
            try require(try Self.object(said).members?.keys.allSatisfy { $0 == "token" } == true, "not terraform's")
        case "terraform": try require(said.output.isEmpty, "an answer to who asks nothing")
        case "aws": try require(try Self.object(said)["Version"] == 1, "no version")
        case "pnpm": try require(said.lines.count == 1 && Self.isPlain(said.lines[0]), "not one line")
        case "az" where arguments.contains { $0.contains("json") }: _ = try Self.object(said)
        case "azd": try require(try Self.object(said)["token"]?.string != nil, "no token")
        case "keyring" where arguments.contains { $0.hasPrefix("-") }: break
        case "keyring" where arguments.first == "get":
            try require(said.lines.count == 1 && Self.isPlain(said.lines[0]), "not one line")
        default: break
        }
    }

    private func requireDocker(_ said: Said) throws {
        // docker itself shows only what a helper says on stderr.
        let isRefused = said.status == 1 && said.complaints == [.refusal]
        try require(said.complaints.isEmpty || isRefused, "more than a refusal on stderr")
        guard said.status == 0 else {
            return try require(said.lines.count == 1 && Self.isPlain(said.lines[0]), "an error that isn't one line")
        }
        switch arguments.first {
        case "get":
            let members = try Self.object(said).members ?? [:]
            try require(Set(members.keys) == ["ServerURL", "Username", "Secret"], "not docker's")
            try require(members.values.allSatisfy { $0.string != nil }, "not docker's")
        case "list": _ = try Self.object(said)
        case "version": break
        default: try require(said.output.isEmpty, "an answer to who asks nothing")
        }
    }

    private func requireCargo(_ said: Said) throws {
        guard arguments == ["--cargo-plugin"] else { return try require(said.status == 1, "a user is served") }
        let messages = said.lines.map { JSONValue(bytes: $0) }
        try require(messages.first == ["v": [1]] && said.complaints.isEmpty, "not cargo's")
        for message in messages.dropFirst() {
            try require(
                message?["Ok"]?["kind"]?.string != nil || message?["Err"]?["kind"]?.string != nil, "not cargo's")
        }
    }

    private func requireNuGet(_ said: Said) throws {
        for line in said.lines { try require(NuGetMessage(line) != nil, "not NuGet's") }
        try require(said.complaints.isEmpty == (said.status == 0), "a failure without a word")
    }

    /// Requires URLs on the requested host, a blank line, one header and a blank line; or no output.
    private func requireGo(_ said: Said) throws {
        guard !said.output.isEmpty else { return }
        let lines = said.lines
        guard let end = lines.firstIndex(of: []), end > 0, lines.count == end + 3, lines.last == [] else {
            throw Finding(description: "not Go's")
        }
        let asked = OtherURL(Array(arguments[0].utf8), asBrowsers: false)
        for line in lines[..<end] {
            let url = OtherURL(line, asBrowsers: false)
            try require(url?.scheme == Array("https".utf8) && Self.isPlain(line), "no URL for Go")
            try require(url?.host == asked?.host && url?.port == asked?.port, "another host")
        }
        try require(lines[end + 1].starts(with: "Authorization: ".utf8) && Self.isPlain(lines[end + 1]), "no header")
    }

    private static func object(_ said: Said) throws -> JSONValue {
        guard let value = JSONValue(bytes: said.output), value.members != nil else {
            throw Finding(description: "not one JSON object")
        }
        return value
    }

    private static func isPlain(_ line: [UInt8]) -> Bool { line.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
