import Claims
import Keyring
import Model
import PluginHost
import PluginWire
import Secrets
import SystemPackage
import Terminal
import TestSupport
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis
@testable import Rules
@testable import TokenAcquisition

/// Every kind of hint, as shown on a terminal and as a shell parses it when copied.
@Suite struct PrintedHintsTests {
    /// Returns the hints of all errors, with the same text for every name that an outsider may choose.
    private static func hints(naming name: String) -> [Hint] {
        let place = Place(name)
        return place.failures.flatMap(\.hints) + [
            Hint("to use it", run: .using(account: place.name)), Hint("a tunnel", run: place.tunnel),
        ]
    }

    /// The commands in hints that name `plain`.
    private static let plain = hints(naming: "plain").compactMap(\.copied)
    /// The commands in hints for each hostile name.
    private static let hostile = HostileText.all.filter { !$0.isEmpty }.map { name in
        (name: name, commands: hints(naming: name).compactMap(\.copied))
    }

    @Test(arguments: [40, 80, 132])
    func `a terminal shows what is to be copied on one line of its own`(columns: Int) {
        for hint in Self.hints(naming: "somebody with a long name@a-long-name.contoso.example") {
            let lines = hint.wrapped(columns: columns, indent: 9, from: 15).split(separator: "\n")
            if let copied = hint.copied { #expect(lines.last?.hasSuffix(copied) == true, "\(lines)") }
            for line in lines.dropFirst().dropLast(hint.copied == nil ? 0 : 1) {
                #expect(line.count <= columns || line.split(separator: " ").count == 1, "\(lines)")
            }
            // A command in the text itself would be broken across lines.
            #expect(!hint.text.contains(": lanyard ") && !hint.text.contains(": sudo "), "\(hint.text)")
        }
    }

    @Test(arguments: ["bash", "sh", "zsh", "fish"])
    func `a shell runs a copied command and nothing of what is named in it`(shell: String) async throws {
        try await ScratchDirectory.with { scratch in
            for (name, hostile) in Self.hostile {
                try #require(Self.plain.count == hostile.count)
                let commands = zip(Self.plain, hostile).filter { $0.0 != $0.1 }
                #expect(commands.count > 20)
                let script = commands.map(\.1).joined(separator: "\n") + "\n"
                // The substitutes for the programs print their arguments; no other programs are found.
                let programs = ["lanyard", "sudo", "ls", "ssh", "git"].map { name in
                    shell == "fish"
                        ? "function \(name); printf '<%s>' $argv; echo; end"
                        : "\(name)() { printf '<%s>' \"$@\"; echo; }"
                }.joined(separator: "\n")
                let ended = try await run(
                    "/bin/sh", ["-c", #"cd "$0" && exec "$@""#, scratch.path, shell, "/dev/stdin"],
                    input: "\(programs)\n\(script)", environment: scratch.environment)
                let lines = ended.output.utf8.split(separator: UInt8(ascii: "\n")).map { Array($0) }
                for (line, command) in zip(lines, commands) {
                    let expected = Self.output(of: command.0, naming: name.displayable())
                    #expect(line == expected, "\(command.1): \(String(decoding: line, as: UTF8.self))")
                }
                #expect(lines.count == commands.count, "\(name): \(ended)")
                #expect(ended.errors.isEmpty && !scratch.has("pwned"), "\(name): \(ended)")
            }
        }
    }

    /// Returns the output of a command that names something other than `plain`.
    private static func output(of command: String, naming name: String) -> [UInt8] {
        let words = (ShellWords.split(command) ?? []).dropFirst()
        // A name that looks like an option is in the same word as its option, or after `--`.
        let isOption = name.utf8.first == UInt8(ascii: "-")
        var text = words.map { "<\($0)>" }.joined()
        if isOption {
            for option in Self.options { text = text.replacing("<\(option)><plain", with: "<\(option)=plain") }
            for end in ["<plain>", "<plain@host>"] where text.hasSuffix(end) {
                text = text.dropLast(end.count) + "<-->" + end
            }
        }
        return Array(text.replacing("plain", with: name).utf8)
    }

    private static let options = [
        "--authority", "--client-id", "--scope", "--domain-hint", "--reset-policy", "--query-parameter", "--account",
    ]

    @Test func `a name that looks like an option is none`() {
        let place = Place("--forget")
        #expect(ShellCommand.using(account: place.name).text == "lanyard use -- --forget")
        let hint = CommandError(
            .noSuchAccount("--forget", known: []), request: place.request, url: "https://h", in: .ofProcess()
        ).hints.first
        #expect(hint?.copied?.hasSuffix(" --account=--forget") == true)
    }
}

/// A world in which everything has the same name.
private struct Place {
    let name: String
    let account: AccountRecord
    let request: TokenRequest

    init(_ name: String) {
        self.name = name
        account = AccountRecord(homeAccountID: name, environment: name, realm: name, username: name)
        var request = TokenRequest(name, isConfigured: true, clientID: name, scopes: [name, name])
        request.named = [.authority, .clientID, .scopes]
        request.account = name
        request.signIn.domainHint = name
        request.signIn.resetPolicy = name
        request.signIn.queryParameters = [name: name]
        self.request = request
    }

    var failures: [CommandError] {
        KeyringError.Reason.allCases.map { CommandError(KeyringError($0, detail: name)) } + resolution + acquisition
            + known
    }

    var tunnel: ShellCommand {
        CommandContext(
            environment: ["SSH_CONNECTION": "1.1.1.1 1 host 23", "USER": name], console: .current,
            input: .standardInput, executable: "/x", keyring: InMemoryKeyring(), clock: { 0 }
        ).tunnel(port: 1)
    }

    private var parameterErrors: [ParameterError] {
        SignInParameter.allCases.compactMap { parameter in
            var parameters = SignInParameters()
            do throws(ParameterError) { try parameters.apply([parameter: [name]]) } catch { return error }
            return nil
        }
    }

    private var resolution: [CommandError] {
        let claims: [ParameterError] = [
            .tooLong, .notAnObject, .unknownTarget(name), .malformedTarget(name), .malformedClaim(name),
            .malformedShortForm(name),
        ]
        let errors: [ResolutionError] =
            [
                .incomplete, .notMapped(host: name, scope: name), .noClientID(authority: name), .badScope,
                .hasSource(name, host: name), .noScopes(authority: name, kind: name),
                .unknownClient(name, names: [], nearest: nil, authority: name), .forbiddenClient(name),
            ] + parameterErrors.map { .badParameter($0) } + claims.map { .badClaims($0) }
            + claims.map { .badChallenge(host: name, $0) }
        return errors.map { CommandError($0, in: .ofProcess()) }
    }

    private var acquisition: [CommandError] {
        let codes: [PluginError.Code] = [.interactionRequired, .throttled, .unavailable, .cancelled, .internal]
        var errors: [AcquisitionError] = [
            .unknownAuthority(name), .ambiguousAccount([account]), .ambiguousAccount([account], isShared: true),
            .noAccountChosen, .noSuchAccount(name, known: [account]), .interactionRequired(nil, account: account),
            .wrongAccount(wanted: name, signedIn: account, known: [account]),
            .scopesDeclined(granted: [name], declined: [name]), .busy(nil, .signIn), .busy(7, .renewal),
            .noUsableFlow(among: [.browser], client: name, host: name),
            .noUsableFlow(among: [], client: nil, host: name), .needsPage(.queryParameters),
        ]
        errors += codes.map { .plugin(PluginError($0, name), name: "plain") }
        return [nil, "https://git.example/\(name)"].flatMap { url in
            errors.map { CommandError($0, request: request, url: url, in: .ofProcess()) } + [
                CommandError(nobodyToSignIn: request, url: url)
            ]
        }
    }

    private var known: [CommandError] {
        var other = account
        other.environment = "other.example"
        var failures = [
            CommandError(unknownAuthority: name, in: PluginRegistry(plugins: [])), CommandError.nobodyIsSignedIn,
        ]
        for accounts in [[], [account, other]] {
            var records = StoredRecords()
            records.accounts = accounts
            do throws(CommandError) {
                _ = try KnownAccounts(AccountOverview(records, registry: PluginRegistry(plugins: []), history: []))
                    .account(typed: name, command: "lanyard use")
            } catch {
                failures.append(error)
            }
        }
        return failures
    }
}

extension Console {
    fileprivate static var current: Console {
        Console(output: .standardOutput, errors: .standardError, environment: [:])
    }
}
