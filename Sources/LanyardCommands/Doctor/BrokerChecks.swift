import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition

extension Examination {
    private static let check = "broker"

    /// Checks whether another program on this machine, a broker, has sign-ins that can provide tokens: returns a
    /// finding for each plugin that could be asked, or none if no rule is for an authority of such a plugin.
    ///
    /// For strangers, the authority's own words are left out, because they may name somebody.
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
            return .pass(Self.check, "\(plugin.name) is not asked: \(why)")
        }
        guard plugin.hasNeeds(in: context.environment) else {
            return .pass(Self.check, "\(plugin.name) is not asked: there is no session bus")
        }
        let known = requests.compactMap { session.acquirer.brokerFailure(of: plugin, for: $0) }.first
        if let known { return warning(plugin, known) }
        do throws(AcquisitionError) {
            let probe = try await session.acquirer.probeBroker(plugin, for: requests[0])
            let what = probe.summary.map { ": \($0)" } ?? ""
            return .pass(Self.check, "\(plugin.name) answers\(what)")
        } catch {
            guard case .plugin(let error, _) = error else { return .pass(Self.check, "\(plugin.name) is not asked") }
            guard error.code == .unsupported else { return warning(plugin, error) }
            guard configuration.flow != .broker else {
                return .fail(
                    Self.check, "\(plugin.name): \(words(of: error)), and flow allows no other way to sign in",
                    Hint("allow all", run: "lanyard config set flow auto"))
            }
            return .pass(Self.check, "\(plugin.name): \(words(of: error))")
        }
    }

    /// Returns a warning rather than a failure, because other ways to sign in still work.
    private func warning(_ plugin: PluginManifest, _ error: PluginError) -> Finding {
        let hint = error.hints.first ?? "until then, you sign in without it"
        return .warn(Self.check, "\(plugin.name): \(words(of: error))", hint)
    }

    private func words(of error: PluginError) -> String {
        isForStrangers ? error.wordsForStrangers : error.message.displayable(limit: 500)
    }
}
