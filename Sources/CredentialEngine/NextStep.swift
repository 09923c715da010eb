public import Keyring
public import Model
public import PluginWire
public import TokenAcquisition

/// What `get` does next for a request: what was decided, given what the user can be asked.
///
/// `get` reaches this step by step; `explain`, `status` and `list` predict it.
public indirect enum NextStep: Sendable {
    /// A stored token is handed out, or what one was exchanged for.
    case answer(AcquiredToken)
    /// A stored token is exchanged for what the host takes.
    case exchange
    /// Redeem refresh tokens; the value says why that may fail, nil if nothing speaks against it.
    case renew(RenewalDoubt?)
    /// Have the plugin acquire a token as the identity.
    case authenticate
    /// The machine's broker is asked for a token, which it gave before if `isSure`; else the other step is next.
    case askBroker(isSure: Bool, otherwise: NextStep)
    /// The user signs in, with this flow first; nil if the flows aren't known. The error is for a user who doesn't.
    case signIn(by: PluginRequest.Flow?, AcquisitionError)
    /// The user says which account is meant. The error is for a user who doesn't.
    case choose(AcquisitionError)
    /// The user unlocks the keyring, or has one made.
    case unlock(KeyringError, Unlocking)
    /// There is no token.
    case fail(AcquisitionError)
}

/// How the user can unlock the keyring.
public enum Unlocking: Sendable {
    /// Its own window asks them.
    case inWindow
    /// lanyard asks them for its password.
    case atTerminal
}

/// What the user can be asked for a request, and how.
public struct AvailablePrompts: Sendable {
    /// Whether somebody can be asked to sign in.
    public var mayAsk: Bool
    /// The ways to sign in that can work here, best first; nil for any.
    public var flows: [PluginRequest.Flow]?
    /// Whether somebody can be asked which account is meant.
    public var mayChoose: Bool
    /// How the keyring can be unlocked; nil if it can't.
    public var unlocking: Unlocking?

    /// Describes what can be asked.
    public init(
        mayAsk: Bool, flows: [PluginRequest.Flow]? = nil, mayChoose: Bool = false, unlocking: Unlocking? = nil
    ) {
        self.mayAsk = mayAsk
        self.flows = flows
        self.mayChoose = mayChoose
        self.unlocking = unlocking
    }

    /// Nothing, because nobody is there.
    public static let none = AvailablePrompts(mayAsk: false)
    /// Everything, in any way.
    public static let all = AvailablePrompts(mayAsk: true, mayChoose: true, unlocking: .inWindow)

    /// How the user can unlock a keyring that failed with this error; nil if they can't.
    public func unlocking(_ error: KeyringError) -> Unlocking? {
        switch unlocking {
        case .inWindow where [.locked, .noDefaultCollection].contains(error.reason): .inWindow
        case .atTerminal where error.opensWithPassword: .atTerminal
        default: nil
        }
    }
}

extension CredentialSources {
    /// Returns the next step for the request that the decision was made for.
    public func next(_ decision: Decision, for wanted: TokenRequest, _ prompts: AvailablePrompts) -> NextStep {
        let next = nextWithoutBroker(decision, wanted, prompts)
        return decision.asksBrokerFirst ? .askBroker(isSure: decision.isBrokered, otherwise: next) : next
    }

    /// Whether the user is asked at the terminal to unlock a keyring that is in the way of a request.
    public func mayAskToUnlock(for request: CredentialRequest) -> Bool {
        !request.isUnattended && prompter.mayAskToUnlock
    }

    private func nextWithoutBroker(
        _ decision: Decision, _ wanted: TokenRequest, _ prompts: AvailablePrompts
    ) -> NextStep {
        switch decision.step {
        case .answer(let token): return .answer(token)
        case .exchange: return .exchange
        case .renew: return .renew(decision.doubt)
        case .authenticate: return .authenticate
        case .askUser:
            return signIn(
                decision, wanted, prompts,
                .interactionRequired(decision.complaint(about: wanted), account: decision.account))
        case .refuse(let error):
            switch error {
            case .noSuchAccount: return signIn(decision, wanted, prompts, error)
            case .ambiguousAccount where prompts.mayChoose: return .choose(error)
            case .store(let problem): return prompts.unlocking(problem).map { .unlock(problem, $0) } ?? .fail(error)
            default: return .fail(error)
            }
        }
    }

    private func signIn(
        _ decision: Decision, _ wanted: TokenRequest, _ prompts: AvailablePrompts, _ error: AcquisitionError
    ) -> NextStep {
        guard prompts.mayAsk else { return .fail(error) }
        guard let flows = prompts.flows else { return .signIn(by: nil, error) }
        do throws(AcquisitionError) {
            guard let flow = try decision.signInFlow(for: wanted, among: flows) else { return .fail(error) }
            // The result of a sign-in must be stored.
            do throws(KeyringError) { try acquirer.requireWritable() } catch { throw .store(error) }
            return .signIn(by: flow, error)
        } catch {
            return .fail(error)
        }
    }
}
