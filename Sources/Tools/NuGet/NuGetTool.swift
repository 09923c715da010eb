import Addresses
import Files
import JSON
import Model
import Secrets
import Terminal

extension Tool {
    static let nuget = Tool(
        "nuget", relatives: ["dotnet"], .link("nuget-plugin-lanyard"), { NuGetProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "NuGet and dotnet use lanyard as a credential provider",
            discussion: """
                NuGet 6.13 and later (.NET SDK 9.0.200) run each `nuget-plugin-…` on PATH. If lanyard's isn't there, this makes \
                `~/.local/bin/nuget-plugin-lanyard` a link to it.
                """,
            programs: ["dotnet", "nuget"],
            oldest: { $0.hasSuffix("/dotnet") ? ToolVersion(9, 0, 200) : ToolVersion(6, 13) },
            newer: { _ in "install a newer one: https://dotnet.microsoft.com/download" }, settings: NuGetSettings.init))
}

/// NuGet and dotnet: they find a plugin on `PATH` by its name.
struct NuGetSettings: ToolSettings {
    let place: ToolTarget

    private let program = "nuget-plugin-lanyard"
    /// If one of these is set, NuGet doesn't search `PATH`.
    private let variables = ["NUGET_PLUGIN_PATHS", "NUGET_NETCORE_PLUGIN_PATHS"]

    func changes() throws(CommandError) -> [ToolChange] {
        let file = place.context.program(program) ?? "\(place.home)/.local/bin/\(program)"
        return [try place.link(file, to: program)]
    }

    /// NuGet asks a plugin only for what no variable and no file has a password for.
    func overrides() throws(CommandError) -> [ToolOverride] {
        var overrides = variables.compactMap { variable in
            place.context.variable(variable).map { value in
                ToolOverride(
                    "NuGet looks for plugins only where \(variable) says", unset: variable,
                    asksLanyard: value.hasBytes(program))
            }
        }
        if place.context.program(program) == nil {
            let folder = #"export PATH="$HOME/.local/bin:$PATH""#
            overrides.append(
                ToolOverride(hint: Hint("\(program) is not on PATH; put its folder there", write: folder)))
        }
        let other = "\(place.home)/.nuget/plugins/netcore/CredentialProvider.Microsoft"
        if place.context.isFile(other) {
            let hint: Hint = "\(place.context.short(other)) may be asked first; remove it for lanyard's feeds"
            overrides.append(ToolOverride(part: "feeds that Microsoft's provider knows", hint: hint))
        }
        let start = "NuGetPackageSourceCredentials_"
        for variable in place.context.environment.keys.sorted() where variable.hasPrefix(start) {
            let source = String(variable.dropFirst(start.utf8.count)).displayable(limit: 100)
            let what: Message = "\(start)\(source) in the environment has the password for \(source), which comes first"
            overrides.append(ToolOverride(what, unset: variable, part: source))
        }
        for file in settingsFiles {
            for source in sources(in: place.content(of: file)) {
                let source = source.displayable(limit: 100)
                let what: Message =
                    "\(place.context.short(file)) has the password for the source \(source), which comes first"
                overrides.append(ToolOverride(part: source, isChoice: true, hint: Hint(what)))
            }
        }
        return overrides
    }

    /// Returns NuGet's files, the nearest first.
    private var settingsFiles: [String] {
        let names = ["nuget.config", "NuGet.config", "NuGet.Config"]
        let own = "\(place.home)/.nuget"
        let more = ((try? Folder("\(own)/config"))?.names(atMost: 1000) ?? []).filter {
            $0.lowercased().hasSuffix(".config")
        }
        return place.projectFolders.flatMap { folder in names.map { "\(folder)/\($0)" } }
            + ["\(own)/NuGet/NuGet.Config"] + more.sorted().map { "\(own)/config/\($0)" }
    }

    /// Returns the sources for which a file's text has passwords: the elements in `packageSourceCredentials`.
    private func sources(in text: String) -> [String] {
        let names = text.pieces(between: "<").map { Substring($0.utf8.prefix { !" \t\r\n>".utf8.contains($0) }) }
        let inside = names.drop { !$0.isSame(as: "packageSourceCredentials") }.dropFirst()
            .prefix { !$0.isSame(as: "/packageSourceCredentials") }
        return inside.filter { name in
            name.utf8.first.map { !"/!".utf8.contains($0) } == true && !name.isSame(as: "add")
        }.map { $0.replacing(bytes: "_x0020_", with: " ") }
    }
}

/// The plugin protocol 2.0.0 of NuGet and dotnet, which run a plugin for as long as they need it.
///
/// Both sides send requests, beginning with a handshake. NuGet waits five seconds for an answer, so it only gets what
/// is stored. A retry means that the server refused the last credential, which lanyard first reports to the engine. One
/// request is answered after the other; those that wait get signs of progress, from each of which NuGet waits anew.
public struct NuGetProtocol: ToolProtocol {
    /// NuGet waits for five seconds.
    public static var timeLimit: Int? { 4 }

    private static let version = "2.0.0"
    /// The ID of the only request that lanyard sends.
    private static let handshakeID = "lanyard-handshake"

    private let arguments: [String]
    private var input = ToolInput()
    /// The request that the engine is working on.
    private var asked: NuGetMessage?
    private var request: CredentialRequest?
    /// Whether the engine is handling a refusal, after which it is asked for a new credential.
    private var isErasing = false
    /// Whether the engine is asked for the token that was refused: NuGet got it from a process that it ended since.
    private var isLookingForRefused = false
    /// Whether a request was answered, while which others may have waited.
    private var hasAnswered = false
    /// The credential that NuGet got for each URL, to recognise it if it is refused.
    private var given: [String: Question.Refused] = [:]
    /// The maximum number of credentials to remember; NuGet has a few sources.
    private static let mostGiven = 1000

    /// Creates a tool for NuGet's arguments: `-Plugin`.
    public init(_ arguments: [String]) { self.arguments = arguments }

    /// Returns the invocation of NuGet, which sends a handshake and then names the source.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let hello = NuGetMessage(
            handshakeID, .response, "Handshake",
            ["ResponseCode": "Success", "ProtocolVersion": .string(version)])
        let request = NuGetMessage(
            "1", .request, "GetAuthenticationCredentials",
            ["Uri": .string(url), "IsRetry": false, "IsNonInteractive": .bool(!atTerminal), "CanShowDialog": false])
        return Invocation(["-Plugin"], input: String(decoding: hello.line + request.line, as: UTF8.self))
    }

    /// Begins the handshake; if the user runs the program, explains what it is for.
    public mutating func begin() -> Turn {
        guard arguments.contains(where: { $0.lowercased() == "-plugin" }) else {
            return .fail(
                "nuget-plugin-lanyard is run by NuGet 6.13 and later, and by dotnet, which find it in PATH", status: 64)
        }
        let hello = NuGetMessage(
            Self.handshakeID, .request, "Handshake",
            ["ProtocolVersion": .string(Self.version), "MinimumProtocolVersion": .string(Self.version)])
        return Turn(output: hello.line, .read)
    }

    /// Serves NuGet's requests one after the other, until NuGet closes its end or says so.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .input([]):
            return Turn(.end(0))
        case .input(let bytes):
            input.append(bytes)
            guard !input.isTooLong else { return Turn(complaint: .unreadable(.inputTooLong), .end(1)) }
            return serve()
        case .nothing where isErasing, .refused where isErasing, .credential where isErasing:
            isErasing = false
            return ask()
        case .credential(let credential) where isLookingForRefused && credential.kind == .accessToken:
            return erase(Question.Refused(credential.secret))
        case .credential(let credential): return answered(credentials(credential))
        case .nothing: return answered(["ResponseCode": "NotFound"])
        case .refused(let refusal):
            return answered(["ResponseCode": "Error", "Message": .string("lanyard: \(refusal.text)")])
        }
    }

    /// Serves the messages that have arrived, up to the first question for the engine.
    private mutating func serve(_ before: [UInt8] = []) -> Turn {
        var output = before
        while let line = input.line() {
            guard !line.allSatisfy({ $0 == 0x0D || $0 == 0x20 }) else { continue }
            guard let message = NuGetMessage(line) else {
                output += NuGetMessage("lanyard-fault", .fault, "None", ["Message": "the message can't be read"]).line
                return Turn(output: output, complaint: .other("NuGet sent a message that can't be read"), .end(1))
            }
            let turn = serve(message)
            output += turn.output
            guard turn.next == .read else { return Turn(output: output, complaint: turn.complaint, turn.next) }
        }
        return Turn(output: output, .read)
    }

    private mutating func serve(_ message: NuGetMessage) -> Turn {
        switch (message.kind, message.method) {
        case (.request, "GetAuthenticationCredentials"): return authenticate(message)
        case (.request, "Close"): return Turn(.end(0))
        case (.request, _): return Turn(output: answer(message).line, .read)
        case (.response, "Handshake") where message.id == Self.handshakeID: return greeted(message)
        // Each request is answered before the next message is read, so there is nothing left to cancel.
        case (.cancel, _): return Turn(output: NuGetMessage(message.id, .cancel, message.method).line, .read)
        case (.fault, _):
            let text = message.payload?["Message"]?.string ?? "it doesn't say why"
            return .fail("NuGet gave up: \(text)")
        case (.response, _), (.progress, _): return Turn(.read)
        }
    }

    private func greeted(_ message: NuGetMessage) -> Turn {
        guard message.payload?["ResponseCode"]?.string == "Success",
            message.payload?["ProtocolVersion"]?.string == Self.version
        else {
            return .fail("this NuGet doesn't speak version \(Self.version) of its plugin protocol")
        }
        return Turn(.read)
    }

    /// Returns the answer to a request that needs no credential.
    private func answer(_ message: NuGetMessage) -> NuGetMessage {
        switch message.method {
        case "Handshake":
            guard handles(message.payload) else { return message.answer(["ResponseCode": "Error"]) }
            return message.answer(["ResponseCode": "Success", "ProtocolVersion": .string(Self.version)])
        case "Initialize", "SetLogLevel", "MonitorNuGetProcessExit", "SetCredentials":
            return message.answer(["ResponseCode": "Success"])
        case "GetOperationClaims":
            // If the message names a source, NuGet asks who downloads packages from it.
            let isAboutSource = [message.payload?["PackageSourceRepository"], message.payload?["ServiceIndex"]]
                .contains { $0 != nil && $0 != .null }
            return message.answer(["Claims": isAboutSource ? [] : ["Authentication"]])
        default:
            return NuGetMessage(
                message.id, .fault, message.method, ["Message": "lanyard serves only requests for credentials"])
        }
    }

    /// Whether the client supports the only version of the protocol that lanyard has.
    private func handles(_ payload: JSONValue?) -> Bool {
        let major = { (name: String) in payload?[name]?.string?.pieces(between: ".").first.flatMap { Int($0) } }
        guard let oldest = major("MinimumProtocolVersion"), let newest = major("ProtocolVersion") else { return false }
        return oldest <= 2 && newest >= 2
    }

    private mutating func authenticate(_ message: NuGetMessage) -> Turn {
        // NuGet would need .NET windows, and it hides what a plugin writes to the terminal, so the user isn't asked.
        guard let request = message.payload?["Uri"]?.string.flatMap({ try? CredentialRequest(wholeURL: $0) }) else {
            let answer = message.answer([
                "ResponseCode": "Error", "Message": "lanyard: the source's address can't be read",
            ])
            return Turn(output: answer.line, .read)
        }
        asked = message
        self.request = request
        let isRetry = message.payload?["IsRetry"] == .bool(true)
        let refused = isRetry ? given.removeValue(forKey: request.url) : nil
        isLookingForRefused = isRetry && refused == nil
        let turn = refused.map { erase($0) } ?? ask()
        return Turn(output: hasAnswered ? progress(of: message) : [], turn.next)
    }

    /// Returns signs of progress for a request and for those that have arrived behind it.
    private func progress(of message: NuGetMessage) -> [UInt8] {
        let waiting = input.all.split(separator: UInt8(ascii: "\n")).compactMap { NuGetMessage(Array($0)) }
        return ([message] + waiting).filter { $0.kind == .request && $0.method == message.method }
            .flatMap { NuGetMessage($0.id, .progress, $0.method, [:]).line }
    }

    private mutating func erase(_ refused: Question.Refused) -> Turn {
        (isErasing, isLookingForRefused) = (true, false)
        return request.map { Turn(.ask(.erase($0, refused))) } ?? Turn(.read)
    }

    private func ask() -> Turn { request.map { Turn(.ask(.get($0))) } ?? Turn(.read) }

    private mutating func credentials(_ credential: Credential) -> JSONValue {
        // NuGet accepts user names and passwords only.
        if case .authorization = credential.kind { return ["ResponseCode": "NotFound"] }
        if let request {
            if given.count >= Self.mostGiven { given = [:] }
            given[request.url] = Question.Refused(credential.secret)
        }
        return [
            "ResponseCode": "Success", "Username": .string(credential.passwordUsername),
            "Password": .string(credential.secret.reveal()), "AuthenticationTypes": ["basic"],
        ]
    }

    private mutating func answered(_ payload: JSONValue) -> Turn {
        guard let asked else { return Turn(.read) }
        // The next message may already be the next question.
        (self.asked, request, hasAnswered) = (nil, nil, true)
        return serve(asked.answer(payload).line)
    }
}

/// A message of NuGet's plugin protocol 2.0: one line of JSON, in either direction.
struct NuGetMessage: Sendable {
    enum Kind: String, Sendable {
        case request = "Request"
        case response = "Response"
        case progress = "Progress"
        case fault = "Fault"
        case cancel = "Cancel"
    }

    /// The ID of the request that the message belongs to.
    let id: String
    let kind: Kind
    /// The method that is called or answered.
    let method: String
    /// The arguments or the result; nil if there are none.
    let payload: JSONValue?

    init(_ id: String, _ kind: Kind, _ method: String, _ payload: JSONValue? = nil) {
        (self.id, self.kind, self.method, self.payload) = (id, kind, method, payload)
    }

    /// Parses a line; nil if it isn't such a message.
    init?(_ line: [UInt8]) {
        guard let object = JSONValue(bytes: line), let id = object["RequestId"]?.string, id.utf8.count <= 256,
            let kind = object["Type"]?.string.flatMap(Kind.init), let method = object["Method"]?.string
        else { return nil }
        self.init(id, kind, method, object["Payload"])
    }

    /// The message as a line of JSON.
    var line: [UInt8] {
        var object: [String: JSONValue] = [
            "RequestId": .string(id), "Type": .string(kind.rawValue), "Method": .string(method),
        ]
        if let payload { object["Payload"] = payload }
        return JSONValue.object(object).encoded() + [0x0A]
    }

    /// Returns a response to this request.
    func answer(_ payload: JSONValue) -> NuGetMessage { NuGetMessage(id, .response, method, payload) }
}
