import Addresses
import PluginHost
import PluginWire
import Secrets

/// Sign-ins, at the first authority of the manifest, which nobody answers.
extension ConformanceKit {
    /// A sign-in; nil if the manifest has no authority.
    private func signIn(_ further: String = "", flows: [String]? = nil) -> String? {
        let own = plugin.authorities.first
        guard let pattern = own ?? plugin.brokered.first?.authority else { return nil }
        let flows = flows ?? (own == nil ? [PluginRequest.Flow.broker] : plugin.flows).map(\.rawValue)
        return "operation=authorize\nauthority=\(pattern.sample)\nclient_id=lanyard-plugin-check\nscope[]=x\n"
            + flows.map { "flow[]=\($0)\n" }.joined() + "proxy=http://127.0.0.1:1\n\(further)\n"
    }

    /// What is wrong with a sign-in in which every question is answered like this.
    func insists(against status: String) async -> String? {
        guard let request = signIn() else { return nil }
        return await outcome(of: request, replying: status) { outcome in
            guard let answer = outcome.answer, let last = outcome.questions.last else { return nil }
            if answer["event"] == "result" {
                return "it gave a result although `\(last)` was replied to with \(status)"
            }
            guard status == "cancelled", let code = answer["code"], code != status else { return nil }
            return "its error is `\(code.displayable(limit: 64))` after `\(last)` was replied to with cancelled"
        }
    }

    /// What is wrong with a sign-in by a flow that nothing has.
    var usesOtherFlow: String? {
        get async {
            guard let request = signIn(flows: [strangeName]) else { return nil }
            return await outcome(of: request, replying: "cancelled") { outcome in
                // A plugin that only asks at the terminal has no flow.
                let isFlowless = plugin.flows.isEmpty
                if let event = outcome.questions.first(where: { !isFlowless || $0 != "prompt" }) {
                    return "it went on with `\(event)`, although no flow that it has was asked for"
                }
                return !isFlowless && outcome.answer?["event"] == "result" ? "it gave a result" : nil
            }
        }
    }

    /// A trial for each word of the manifest's `supports`.
    var supported: [(String, @Sendable () async -> String?)] {
        plugin.supports.sorted { $0.rawValue < $1.rawValue }.compactMap { word in
            word.trial.map { trial in ("supports \(word.rawValue)", { await self.fault(in: trial) }) }
        }
    }

    /// What is wrong with the answer to a request for what the manifest supports: it is `unsupported`, or the page isn't what
    /// was asked for.
    private func fault(in trial: SupportTrial) async -> String? {
        guard let request = request(of: trial) else {
            return "no request asks for it, since the manifest has no [[authority]]"
        }
        return await outcome(of: request, replying: "cancelled") { outcome in
            if outcome.answer?["code"] == PluginError.Code.unsupported.rawValue {
                // What a broker supports shows only where there is one.
                return plugin.brokered.isEmpty ? "its manifest names it, but its error is `unsupported`" : nil
            }
            guard case .signIn(_, let wanted, let unwanted) = trial,
                let url = outcome.blocks.first(where: { $0["event"] == "open-url" })?["url"]
            else { return nil }
            let page = url.percentDecoded ?? url
            if let unwanted, page.hasBytes(unwanted) { return "its page has the secret in its URL" }
            // A pushed or signed request (RFC 9126, RFC 9101) has its parameters elsewhere.
            guard let wanted, !page.hasBytes("request_uri="), !page.hasBytes("request="), !page.hasBytes(wanted) else {
                return nil
            }
            return "its page has no \(wanted)"
        }
    }

    private func request(of trial: SupportTrial) -> String? {
        switch trial {
        case .request(let request): return request
        case .signIn(let keys, _, _):
            if let request = signIn(keys) { return request }
            // What signs in by itself.
            guard plugin.identities.contains(.managed) else { return nil }
            return
                "operation=authenticate\nidentity=managed\nmanaged_id=client-id:lanyard-plugin-check\nscope[]=x\n\(keys)\n"
        }
    }
}

/// How a word of `supports` is tried.
private enum SupportTrial {
    /// By a sign-in with these keys; its page's URL has the one text, and hasn't the other.
    case signIn(_ keys: String, shows: String? = nil, hides: String? = nil)
    /// By this request.
    case request(String)
}

extension PluginSupport {
    /// Nil for what only binds the host.
    fileprivate var trial: SupportTrial? {
        switch self {
        case .prompt: return .signIn("prompt=login\n", shows: "prompt=login")
        case .claims:
            return .signIn("claims={\"id_token\":{\"auth_time\":{\"essential\":true}}}\n", shows: "\"auth_time\"")
        case .queryParameters: return .signIn("query_parameter[]=x_lanyard_check=1\n", shows: "x_lanyard_check=1")
        case .resources:
            return .signIn("resource[]=https://api.example/x\n", shows: "resource=https://api.example/x")
        case .redirectURI:
            let redirect = "redirect_uri=http://127.0.0.1:8400"
            return .signIn("\(redirect)\n", shows: redirect)
        case .alsoConsent:
            let scope = "https://api.example/.default"
            return .signIn("also_consent=\(scope)\n", shows: scope)
        // Only who has forgotten the password sees a page of it.
        case .resetPolicy: return .signIn("reset_policy=B2C_1_lanyard_check\n")
        case .clientSecrets:
            let secret = "lanyard-check-secret"
            return .signIn("client_secret=\(secret)\n", hides: secret)
        case .tokenExchange:
            return .request(
                "operation=authenticate\n\(ConformanceKit.nowhere)identity=client\nsubject=file:/dev/null\n"
                    + "token_audience=x\nscope[]=x\n\n")
        case .register: return .request("operation=register\n\(ConformanceKit.nowhere)client_name=x\n\n")
        case .exchangesOnly: return nil
        case .revoke: return .request("operation=revoke\n\(ConformanceKit.nowhere)refresh_token=x\n\n")
        }
    }
}

extension Tryout.Outcome {
    /// The names of the events that want a reply.
    var questions: [String] {
        blocks.compactMap { $0["event"] }.filter { !["progress", "result", "error"].contains($0) }
    }
}
