import Addresses
import CommandKit
import Forwarding
import Glibc
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition

extension Examination {
    /// Checks the settings of the plugins' connections to each authority, without connecting.
    func networkFindings() async -> [Finding] {
        let git = GitNetwork(environment: context.environment)
        var ways: [NetworkWay] = []
        let hosts = configuration.configuredHosts
        for host in hosts.isEmpty ? ["localhost"] : hosts {
            ways.append(NetworkWay(host: host, settings: await git.settings(for: "https://\(host)/")))
        }
        return [proxies(ways), certificates(ways)] + [verification(ways)].compactMap(\.self)
    }

    private func proxies(_ ways: [NetworkWay]) -> Finding {
        do throws(NetworkSettingsError) {
            var texts: [(host: String, text: String)] = []
            for way in ways { texts.append((way.host, try way.proxy(context.environment))) }
            let isOne = Set(texts.map(\.text)).count == 1
            return .pass(
                "proxy",
                isOne ? "\(texts[0].text)" : "\(texts.map { "\($0): \($1)" }.joined(separator: "; "), limit: 2000)")
        } catch {
            let lack =
                error.fault == .proxyPort
                ? "a proxy with a port that can't be one" : "no proxy of a kind that curl knows"
            return .fail(
                "proxy", "\(error.source) names \(lack)",
                Hint("write it like", write: "http://proxy.contoso.com:8080"))
        }
    }

    private func certificates(_ ways: [NetworkWay]) -> Finding {
        let own = configuration.caFile.map { ("ca-file", $0) }
        let variables = ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap { name in context.variable(name).map { (name, $0) }
        }
        let gits = ways.flatMap { way in
            (way.settings.network.caFiles.map { ("http.sslCAInfo", $0) }
                + [way.settings.network.caFolder].compactMap { $0.map { ("http.sslCAPath", $0) } })
                .map { name, path in
                    let isForAll = ways.allSatisfy { $0.names(path) }
                    return ("git's \(name)\(isForAll ? "" : " for \(way.host)")", path)
                }
        }
        let extra = ([own].compactMap(\.self) + variables + gits).map { (name: $0.0, path: $0.1) }
        for (name, path) in extra where access(path, R_OK) != 0 && name != "SSL_CERT_DIR" {
            return .fail(
                "certificates", "\(name) names \(context.short(path)), which can't be read", Hint("correct \(name)"))
        }
        guard !extra.isEmpty else { return .pass("certificates", "the system's") }
        let texts = extra.map { "\(context.short($0.path)) (\($0.name))" }.uniqued
        return .pass("certificates", "the system's and \(texts.joined(separator: ", "))")
    }

    private func verification(_ ways: [NetworkWay]) -> Finding? {
        guard let source = ways.compactMap(\.settings.unverified).first else { return nil }
        return .warn(
            "verification", "\(source) turns the verification of certificates off for git; lanyard always verifies",
            Hint(
                "if your network has a certificate authority of its own, put into \(context.short(context.userFile))",
                write: "ca-file = \"/PATH/ca.pem\""))
    }

    /// Checks whether the clock can be right, because tokens' times are compared with it.
    var clockFindings: [Finding] {
        var status = stat()
        guard stat(context.executable, &status) == 0 else { return [] }
        guard context.now + 86_400 < status.st_ctim.tv_sec else {
            return [.pass("clock", "plausible; --online compares it with the authorities'")]
        }
        return [
            .fail("clock", "it is before the day on which lanyard was installed", Hint(run: "timedatectl set-ntp true"))
        ]
    }

    /// Checks whether another program on this machine, a broker, has sign-ins that can provide tokens: returns a
    /// finding for each plugin that could be asked, or none if no rule is for an authority of such a plugin.
    ///
    /// For unknownAccountCodes, the authority's own words are left out, because they may name somebody.
    func brokerFindings() async -> [Finding] {
        guard registry.plugins.contains(where: { !$0.brokered.isEmpty }),
            let session = try? Session(context, options: .init(isInteractive: false))
        else { return [] }
        var findings: [Finding] = []
        for (plugin, requests) in session.brokerUses { findings.append(await finding(plugin, requests, session)) }
        return findings
    }

    private func finding(
        _ plugin: PluginManifest, _ requests: [TokenRequest], _ session: Session
    ) async -> Finding {
        let configuration = session.configuration
        guard configuration.mayUseBroker else {
            let why = configuration.allowsBroker ? "flow is \(configuration.flow.rawValue)" : "the policy forbids it"
            return .pass("broker", "\(plugin.name) is not asked: \(why)")
        }
        guard plugin.hasNeeds(in: context.environment) else {
            return .pass("broker", "\(plugin.name) is not asked: there is no session bus")
        }
        let known = requests.compactMap { session.acquirer.brokerFailure(of: plugin, for: $0) }.first
        if let known { return warning(plugin, known) }
        do throws(AcquisitionError) {
            let probe = try await session.acquirer.probeBroker(plugin, for: requests[0])
            let what = probe.summary.map { ": \($0)" } ?? ""
            return .pass("broker", "\(plugin.name) answers\(what)")
        } catch {
            guard case .plugin(let error, _) = error else { return .pass("broker", "\(plugin.name) is not asked") }
            guard error.code == .unsupported else { return warning(plugin, error) }
            guard configuration.flow != .broker else {
                return .fail(
                    "broker", "\(plugin.name): \(words(of: error)), and flow allows no other way to sign in",
                    Hint("allow all", run: "lanyard config set flow auto"))
            }
            return .pass("broker", "\(plugin.name): \(words(of: error))")
        }
    }

    /// Returns a warning rather than a failure, because other ways to sign in still work.
    private func warning(_ plugin: PluginManifest, _ error: PluginError) -> Finding {
        let hint = error.hints.first ?? "until then, you sign in without it"
        return .warn("broker", "\(plugin.name): \(words(of: error))", hint)
    }

    private func words(of error: PluginError) -> String {
        isRedacted ? error.redactedText : error.message.displayable(limit: 500)
    }

    /// Checks whether the agent that this machine uses can be reached, or else whether the machine's own forwards are
    /// served; empty if nothing is forwarded to or from this machine.
    ///
    /// For unknownAccountCodes, no socket or forward is named, because people name these after machines.
    var agentFindings: [Finding] {
        if let agent = configuration.agent { return [asked(agent)] }
        let forwards = configuration.forwards
        guard !forwards.isEmpty else { return [] }
        guard let folder = try? context.agentSockets() else { return [] }
        let unserved = forwards.filter { !AgentSocket("\(folder)/\($0.name)").answers }
        guard !unserved.isEmpty else { return [.pass("agent", "serves \(names(of: forwards))")] }
        return [
            .warn(
                "agent", "no agent runs for \(names(of: unserved))",
                Hint("to start the agent", run: "lanyard forward serve"))
        ]
    }

    private func names(of forwards: [Forward]) -> String {
        guard isRedacted else { return forwards.map(\.name).joined(separator: ", ") }
        return "\(forwards.count) \(forwards.count == 1 ? "forward" : "forwards")"
    }

    private func asked(_ agent: String) -> Finding {
        let shown = isRedacted ? "its socket" : context.short(agent)
        do throws(AgentError) {
            try AgentSocket(agent).check()
            return .pass("agent", "requests go to the agent at \(shown), which answers")
        } catch {
            return .fail("agent", CommandError(error, at: shown, path: isRedacted ? nil : agent))
        }
    }
}

/// The way to an authority.
private struct NetworkWay {
    let host: String
    let settings: GitNetwork.Settings

    func names(_ path: String) -> Bool {
        settings.network.caFiles.contains(path) || settings.network.caFolder == path
    }

    /// The proxy, and where it is named.
    func proxy(_ environment: [String: String]) throws(NetworkSettingsError) -> String {
        let proxies = try ProxySettings(environment: environment, setting: settings.network.proxy?.reveal())
        guard let source = proxies.source else { return "none" }
        guard let proxy = proxies.proxy(for: host) else { return "none, because of no_proxy" }
        return "\(proxy.url) (\(settings.proxySource ?? source))"
    }
}
