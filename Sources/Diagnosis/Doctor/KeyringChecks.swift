import Addresses
import AnswerCache
import CommandKit
import Files
import Keyring
import Model
import Rules
import SealedKeyring
import SecretService
import Secrets
import Terminal

extension Examination {
    /// Checks the keyring: its bus, its provider, its state and lanyard's items in it.
    ///
    /// Nothing prompts, and nothing is unlocked but a keyring without a password.
    func keyringFindings() async -> [Finding] {
        // First, because this starts the provider that the bus knows.
        let problem = store.problem()
        if needsNoKeyring, let unneeded = unneeded(problem) { return [unneeded] }
        switch problem?.reason {
        case .noSessionBus: return [noBus]
        case .noProvider: return [.pass("keyring.bus", "reached"), failed("keyring.provider", .noProvider)]
        case .timedOut where problem?.otherBus != nil:
            return [.pass("keyring.bus", "reached")]
                + (problem.map { [.fail("keyring.provider", CommandError($0))] } ?? [])
        case .badBackend, .noLibrary: return problem.map { [.fail("keyring", CommandError($0))] } ?? []
        case .locked, .noDefaultCollection, .timedOut, .busy, .denied, .damaging, .notCreated, .sealedElsewhere,
            .forbidden,
            .broken, nil:
            break
        }
        let state = [standing(problem)] + (problem == nil ? contents : [])
        guard let service = context.secretService else {
            return (context.sealedKeyring.map(sealed) ?? [.pass("keyring.provider", "\(context.keyring.name)")]) + state
        }
        let running = try? service.provider()
        let provider = await name(of: running)
        let bus: Finding =
            provider == nil && problem?.reason == .timedOut
            ? failed("keyring.bus", .timedOut) : .pass("keyring.bus", "reached")
        let rivalry = running?.rivalry(in: context)
        let found: Finding =
            rivalry.map { .warn("keyring.provider", "\(provider ?? "there is one"); \($0.message)", $0.hint) }
            ?? .pass("keyring.provider", "\(provider ?? "there is one")")
        return [bus, found] + state
    }

    /// Offers at a terminal to create the sealed keyring, if a keyring is needed and there is none.
    func offerKeyring() async throws(CommandError) {
        guard presence.hasTerminal, !needsNoKeyring, context.sealedKeyring?.exists != true,
            store.problem()?.isAbsent == true, try await SealedKeyringSetup(context, configuration).offer()
        else { return }
        context.console.note(Hint("the keyring is there; to check everything again", run: "lanyard doctor"))
    }

    /// The protectors of the sealed keyring, and its files that can't be opened.
    private func sealed(_ keyring: SealedKeyring) -> [Finding] {
        let name = "keyring.provider"
        guard let found = try? keyring.state() else { return [.pass(name, "\(keyring.name)")] }
        let protectors = found.protectors.map(\.rawValue).joined(separator: ", ")
        let unopened = found.unopened.map { file in
            Finding.warn(
                "keyring.files",
                "\(context.short(keyring.path ?? ""))/items/\(file.name) \(file.reason); it is kept",
                Hint("see", run: "lanyard keyring status"))
        }
        return [.pass(name, "\(keyring.name), protected by \(protectors)")] + unopened
    }

    /// Returns a finding for a keyring that neither exists nor is needed; nil if there is one.
    private func unneeded(_ problem: KeyringError?) -> Finding? {
        let reason = configuration.agent == nil ? "identities need none" : "an agent is asked"
        return switch problem?.reason {
        case .noSessionBus, .noProvider, .noDefaultCollection, .notCreated:
            .pass("keyring", "there is none, and \(reason)")
        case .noLibrary: .pass("keyring", "there is no libsecret for one, and \(reason)")
        default: nil
        }
    }

    private var noBus: Finding {
        guard let address = context.variable("DBUS_SESSION_BUS_ADDRESS") else {
            return failed("keyring.bus", .noSessionBus)
        }
        return .fail(
            "keyring.bus", "DBUS_SESSION_BUS_ADDRESS does not lead to a bus: \(address)",
            .findingBus)
    }

    private func standing(_ problem: KeyringError?) -> Finding {
        let name = "keyring.state"
        let canAsk = presence.keyringAsks(store, in: context)
        guard let problem = problem ?? store.problemOfItems() else {
            guard let file = context.secretService?.plainFile(store.configuration) else {
                return .pass(name, "unlocked")
            }
            return .warn(
                name,
                "the keyring has no password: its file \(context.short(file)) shows what is in it, and gnome-keyring damages "
                    + "passwords with backslashes or several lines there, which lanyard therefore refuses",
                Hint("give it a password", run: "seahorse"))
        }
        switch problem.reason {
        case .locked where problem.lock != nil && (canAsk || problem.lock != .items):
            let failure = CommandError(problem)
            return Finding(check: name, level: .warn, message: failure.message, remedies: failure.hints)
        case .locked where canAsk: return .warn(name, "locked; you are asked to unlock it when it is needed")
        case .noDefaultCollection where canAsk:
            return .warn(name, "there is no default keyring; you are asked to create it when it is needed")
        default: return .fail(name, CommandError(problem))
        }
    }

    private var contents: [Finding] {
        do throws(KeyringError) {
            let records = try store.records(matching: .all)
            return [accounts(in: records), endless(in: records)].compactMap(\.self)
                + (try clientSecretFindings())
        } catch {
            return [.fail("accounts", CommandError(error))]
        }
    }

    private func accounts(in records: StoredRecords) -> Finding {
        let count = Set(records.accounts.map { $0.homeAccountID.lowercased() }).count
        let text: Message =
            count == 0 ? "nobody is signed in" : count == 1 ? "one is signed in" : "\(count) are signed in"
        guard !records.unreadable.isEmpty else { return .pass("accounts", text) }
        return .warn(
            "accounts", "\(text); \(records.unreadable.count) items of the keyring can't be read",
            records.hasDamaged
                ? Hint("remove what is damaged", run: "lanyard cache clear --damaged")
                : Hint("see", run: "lanyard cache list"))
    }

    /// The hosts whose tokens last until somebody revokes them.
    private func endless(in records: StoredRecords) -> Finding? {
        let hosts = Set(records.accessTokens.filter { $0.expiresOn == nil }.map(\.environment)).sorted()
        guard !hosts.isEmpty else { return nil }
        return .pass(
            "tokens",
            "those of \(hosts.joined(separator: ", ")) are valid until they are revoked"
        )
    }

    private func failed(_ check: String, _ reason: KeyringError.Reason) -> Finding {
        .fail(check, CommandError(KeyringError(reason)))
    }

    /// The programs whose `--version` prints a line and does nothing else.
    private static let knownProviders = [
        "gnome-keyring-daemon", "keepassxc", "kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon",
    ]

    /// Returns the name of a provider, for users; nil if there is none.
    private func name(of found: KeyringProvider?) async -> String? {
        guard let found else { return nil }
        guard let name = found.programName else { return "process \(found.processID)" }
        guard let path = found.program else { return name.displayable(limit: 100) }
        let said = Self.knownProviders.contains(name) ? await Program.output(path, ["--version"]) : nil
        let version = said?.pieces(between: "\n").first?.pieces(between: " ").last.map { " \($0)" } ?? ""
        return "\(name)\(version)".displayable(limit: 100)
    }

    /// Checks what lanyard keeps in memory between requests.
    var memoryFindings: [Finding] { [runtimeDirectory, kernelKeyring] }

    private var runtimeDirectory: Finding {
        let name = "runtime"
        let remedy = Hint.findingRuntimeFolder()
        guard let path = context.variable("XDG_RUNTIME_DIR") else {
            return .warn(name, "XDG_RUNTIME_DIR is not set, so no answer is remembered", remedy)
        }
        guard let status = FileStatus(of: path), status.isFolder else {
            return .warn(name, "XDG_RUNTIME_DIR names no folder: \(path)", remedy)
        }
        guard status.isOwn else {
            return .warn(name, "\(path) belongs to another user, so no answer is remembered", remedy)
        }
        guard !status.grants(0o022) else {
            return .warn(
                name, "others may write to \(path)", Hint(run: "chmod 700\(last: path)"))
        }
        return .pass(name, "\(path)")
    }

    private var kernelKeyring: Finding {
        let name = "memory"
        guard configuration.answerCache else {
            return .pass(name, "answers are not remembered: turned off")
        }
        guard runtimeDirectory.level == .pass else {
            return .warn(name, "without a runtime directory, every get asks the keyring", .findingRuntimeFolder())
        }
        guard context.answers.key() != nil else {
            return .warn(
                name, "no kernel keyring can be used here, so every get asks the keyring",
                context.isInContainer
                    ? "this is optional; it needs a seccomp profile that allows keyctl and add_key"
                    : "nothing needs to be done; git only waits a little longer")
        }
        return .pass(name, "answers are remembered, sealed with a key in the kernel")
    }

    /// Checks how a user can be asked to sign in from here.
    var userFindings: [Finding] {
        if isForIdentities {
            return [.pass("sign-in", "nobody is asked here: applications and machines sign in without a user")]
        }
        if presence == .nobody, let name = context.silencingVariable {
            let text: Message = "lanyard never prompts here, because of \(name)"
            let user = Hint(run: "env -u \(name) lanyard login URL")
            guard name == "CI" else { return [.warn("sign-in", text, user)] }
            let application = Hint("as an application", run: "lanyard configure git --identity environment")
            return [.warn("sign-in", text, application, user)]
        }
        return [place].compactMap(\.self) + [browser, terminal]
    }

    private var place: Finding? {
        if presence.isRemote { return .pass("place", "over SSH: sign in with a code, or a browser elsewhere") }
        if context.isInWSL { return .pass("place", "WSL: Windows' browser is used") }
        return context.isInContainer ? .pass("place", "in a container: sign in with a code, or set BROWSER") : nil
    }

    private var browser: Finding {
        let name = "browser"
        guard presence.hasBrowser else {
            return .pass(name, "none can open here; you get a code to enter on any device")
        }
        let named = configuration.browser ?? context.variable("BROWSER")
        let browser = Browser(context, configured: configuration.browser)
        if let mistake = browser.mistake { return .fail(name, mistake) }
        if let fault = browser.fault {
            return .fail(
                name, "none opens: \(fault)", "make it yours or root's, and let no one else write to it")
        }
        let commands = browser.commands.compactMap(\.first)
        guard let command = commands.first(where: { context.program($0) != nil }) else {
            let tried = commands.joined(separator: ", ")
            return .warn(
                name, "none opens: \(tried) \(commands.count == 1 ? "is" : "are") not installed",
                named == nil
                    ? Package.xdgUtils.hint()
                    : "set BROWSER or browser to a command that exists")
        }
        return .pass(name, "opens with \(command)")
    }

    private var terminal: Finding {
        if presence.hasTerminal { return .pass("terminal", "there is one") }
        if presence.hasBrowser { return .pass("terminal", "there is none; the browser opens without one") }
        return .warn(
            "terminal", "there is none, so git cannot ask you to sign in from here",
            Hint("sign in beforehand; codes are shown on standard error", run: "lanyard login URL"))
    }
}

extension CommandContext {
    /// Whether this looks like a container.
    var isInContainer: Bool {
        isFile("/.dockerenv") || isFile("/run/.containerenv") || variable("REMOTE_CONTAINERS") != nil
            || variable("CODESPACES") != nil
    }
}
