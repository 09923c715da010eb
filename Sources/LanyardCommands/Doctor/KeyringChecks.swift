import Addresses
import Rules
import Secrets
import Terminal
import TokenStore

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
            return [.pass("keyring.bus", "reached")] + (problem.map { [.fail("keyring.provider", Failure($0))] } ?? [])
        case .badBackend, .noLibrary: return problem.map { [.fail("keyring", Failure($0))] } ?? []
        case .locked, .noDefaultCollection, .timedOut, .busy, .denied, .damaging, .broken, nil: break
        }
        let running = try? context.keyring.provider()
        let provider = await name(of: running)
        let bus: Finding =
            provider == nil && problem?.reason == .timedOut
            ? failed("keyring.bus", .timedOut) : .pass("keyring.bus", "reached")
        let rivalry = running?.rivalry(in: context)
        let found: Finding =
            rivalry.map { .warn("keyring.provider", "\(provider ?? "there is one"); \($0.message)", $0.hint) }
            ?? .pass("keyring.provider", provider ?? "there is one")
        return [bus, found, standing(problem)]
            + (problem == nil ? contents : [])
    }

    /// Returns a finding for a keyring that neither exists nor is needed; nil if there is one.
    private func unneeded(_ problem: StoreError?) -> Finding? {
        let reason = configuration.agent == nil ? "identities need none" : "an agent is asked"
        return switch problem?.reason {
        case .noSessionBus, .noProvider, .noDefaultCollection: .pass("keyring", "there is none, and \(reason)")
        case .noLibrary: .pass("keyring", "there is no libsecret for one, and \(reason)")
        default: nil
        }
    }

    private var noBus: Finding {
        guard let address = context.variable("DBUS_SESSION_BUS_ADDRESS") else {
            return failed("keyring.bus", .noSessionBus)
        }
        return .fail(
            "keyring.bus", "DBUS_SESSION_BUS_ADDRESS does not lead to a bus: \(address.displayable(limit: 200))",
            .findingBus)
    }

    private func standing(_ problem: StoreError?) -> Finding {
        let name = "keyring.state"
        let canAsk = presence.hasDisplay
        guard let problem = problem ?? store.problemOfItems() else {
            guard let file = store.plainFile() else { return .pass(name, "unlocked") }
            return .warn(
                name,
                "the keyring has no password: its file \(context.short(file)) shows what is in it, and gnome-keyring damages "
                    + "passwords with backslashes or several lines there, which lanyard therefore refuses",
                Hint("give it a password", run: "seahorse"))
        }
        switch problem.reason {
        case .locked where problem.lock != nil && (canAsk || problem.lock != .items):
            let failure = Failure(problem)
            return Finding(check: name, level: .warn, text: failure.message, remedies: failure.hints)
        case .locked where canAsk: return .warn(name, "locked; you are asked to unlock it when it is needed")
        case .noDefaultCollection where canAsk:
            return .warn(name, "there is no default keyring; you are asked to create it when it is needed")
        default: return .fail(name, Failure(problem))
        }
    }

    private var contents: [Finding] {
        do throws(StoreError) {
            return [accounts(in: try store.records(matching: .all))]
                + (try clientSecretFindings())
        } catch {
            return [.fail("accounts", Failure(error))]
        }
    }

    private func accounts(in records: StoredRecords) -> Finding {
        let count = Set(records.accounts.map { $0.homeAccountID.lowercased() }).count
        let text = count == 0 ? "nobody is signed in" : count == 1 ? "one is signed in" : "\(count) are signed in"
        guard !records.unreadable.isEmpty else { return .pass("accounts", text) }
        return .warn(
            "accounts", "\(text); \(records.unreadable.count) items of the keyring can't be read",
            records.hasDamaged
                ? Hint("remove what is damaged", run: "lanyard cache clear --damaged")
                : Hint("see", run: "lanyard cache list"))
    }

    private func failed(_ check: String, _ reason: StoreError.Reason) -> Finding {
        .fail(check, Failure(StoreError(reason)))
    }

    /// The programs whose `--version` prints a line and does nothing else.
    private static let knownProviders = [
        "gnome-keyring-daemon", "keepassxc", "kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon",
    ]

    /// Returns the name of a provider, for people; nil if there is none.
    private func name(of found: KeyringProvider?) async -> String? {
        guard let found else { return nil }
        guard let name = found.programName else { return "process \(found.processID)" }
        guard let path = found.program else { return name.displayable(limit: 100) }
        let said = Self.knownProviders.contains(name) ? await Program.output(path, ["--version"]) : nil
        let version = said?.pieces(between: "\n").first?.pieces(between: " ").last.map { " \($0)" } ?? ""
        return "\(name)\(version)".displayable(limit: 100)
    }
}
