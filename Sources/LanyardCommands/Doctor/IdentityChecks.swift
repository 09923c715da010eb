import Files
import Glibc
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal

extension Examination {
    /// Checks that what proves the configured identities exists: a finding for each identity, and for a default
    /// identity that doesn't exist.
    var identityFindings: [Finding] { configuration.identities.map(finding) + [defaultIdentity].compactMap(\.self) }

    private static let check = "identity"

    private func finding(_ identity: Identity) -> Finding {
        let place = "edit \(identity.place(context))"
        if let lack = lackOfPlugin(identity) {
            return .fail(
                Self.check, "\(identity.name): \(lack)", Hint(place),
                Hint("see which plugins there are", run: "lanyard plugin list"))
        }
        if let path = identity.proofFile, let fault = CertificateFault(path) {
            let isOpen = [.open, .writable].contains(fault)
            let level: Finding.Level = fault == .open ? .warn : .fail
            return Finding(
                check: Self.check, level: level,
                text: "\(identity.name): \(path.displayable(limit: 300)) \(fault.rawValue)",
                remedies: [isOpen ? Hint("make it private", run: "chmod go-rwx\(last: path)") : Hint(place)])
        }
        if let variable = identity.secretVariable, context.variable(variable) == nil {
            return .warn(
                Self.check, "\(identity.name): \(variable) is not set here",
                "set it where the identity is used, to the secret")
        }
        return .pass(Self.check, "\(identity.name), proved by \(identity.proofForPeople)")
    }

    private func lackOfPlugin(_ identity: Identity) -> String? {
        guard let application = identity.application else {
            return registry.machineAuthority == nil ? "no plugin supports managed identities" : nil
        }
        let match = registry.match(
            authority: application.authority, kind: application.kind, isConfigured: true)
        guard let match else { return "no plugin supports \(application.authority.displayable(limit: 200))" }
        return match.plugin.identities.contains(.client)
            ? nil : "the plugin \(match.plugin.name) gets no tokens for applications"
    }

    private var defaultIdentity: Finding? {
        guard let name = configuration.defaultIdentity else { return nil }
        do throws(ResolutionError) { _ = try configuration.identity(named: name) } catch {
            return .fail(Self.check, Failure(error, in: context))
        }
        return .pass(Self.check, "the default is \(name)")
    }
}

/// A problem with a file that proves an identity; the text follows the path.
private enum CertificateFault: String {
    case missing = "is not there"
    case unreadable = "cannot be read"
    case open = "can be read by others"
    case writable = "can be written by any user"

    /// Returns nil if there is no problem.
    init?(_ path: String) {
        guard access(path, R_OK) == 0 else {
            self = errno == ENOENT ? .missing : .unreadable
            return
        }
        guard let status = FileStatus(of: path), status.grants(0o006) else { return nil }
        self = status.grants(0o002) ? .writable : .open
    }
}

extension Identity {
    /// The file that proves the identity.
    fileprivate var proofFile: String? {
        switch application?.proof {
        case .certificate(let path, _): path
        case .assertion(let source) where source.hasPrefix("file:"): String(source.dropFirst(5))
        default: nil
        }
    }
}
