import OtherCaches
import Secrets
import Terminal
import TokenStore

// The tokens of code hosts' own command-line tools, which git sends as passwords.

extension SourceReader {
    /// Reads the tokens of a program, which signs out by a command and gets a user name for tokens of `anybody`.
    func tokens(
        _ source: ImportSource, at place: String, anybody: String, logout: String, _ read: ([UInt8]) -> HostTokens?
    ) throws(Failure) -> ImportFindings {
        let path = file ?? place
        guard file != nil || session.context.isFile(path) else { throw Self.nothing(source, at: path) }
        let settings = try SourceFile(path, input: session.context.input)
        guard let hosts = read(settings.contents) else {
            throw Failure("\(Self.name(path)) is not what \(source.name) writes")
        }
        var findings = ImportFindings()
        if hosts.entries.contains(where: { $0.token != nil }) {
            findings.notes = Self.warning(settings, path, remedy: "once they are imported: \(logout)")
        }
        for entry in hosts.entries { try add(entry, of: source, anybody, to: &findings) }
        return findings
    }

    /// Adds a host's token, unless it can't be found.
    private func add(
        _ entry: HostTokens.Entry, of source: ImportSource, _ anybody: String, to findings: inout ImportFindings
    ) throws(Failure) {
        var entry = entry
        if entry.token == nil { entry.token = try keyringToken(of: source, entry) }
        guard entry.token != nil else { return }
        guard let password = OtherPassword(entry, anybody: anybody) else {
            let whose = [entry.username, entry.host].compactMap(\.self).joined(separator: " at ")
            return findings.cache.rejects.append(.init(what: "password", whose: whose, reason: .malformed))
        }
        if entry.isProgramsOwn {
            findings.refused.append(.init(password: password, skipped: .programsOwn))
        } else {
            findings.passwords.append(password)
        }
    }

    /// Returns go-keyring's secret for a host; its item has the user's name, or no name for the active user.
    private func keyringToken(of source: ImportSource, _ entry: HostTokens.Entry) throws(Failure) -> Secret? {
        let items = try items(OtherPlaces.tokens(of: source.rawValue, at: entry.host))
        let names = [entry.username, entry.isActive ? "" : nil].compactMap(\.self)
        return names.lazy.compactMap { name in items.first { $0.attributes["username"] == name }?.secret }.first
    }
}
