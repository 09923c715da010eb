import Addresses
import Glibc
import Rules
import Secrets
import Terminal

extension Examination {
    /// Checks the settings of the plugins' connections, without connecting.
    func networkFindings() async -> [Finding] {
        let entries = (try? await GitConfiguration(context).everything()) ?? []
        return [proxy(entries), certificates(entries)]
    }

    private func proxy(_ entries: [GitConfiguration.Entry]) -> Finding {
        guard let proxy = ProxyVariable(context) else {
            let isGits = entries.contains { $0.key == "http.proxy" && !$0.value.isEmpty }
            guard isGits else { return .pass("proxy", "none") }
            return .warn(
                "proxy", "git has one in http.proxy, which lanyard's plugins do not read",
                Hint(run: "export https_proxy=\"$(git config http.proxy)\""))
        }
        guard let url = proxy.url else {
            return .fail(
                "proxy", "\(proxy.name) is neither an http nor a socks5 proxy",
                Hint("write it like", write: "\(proxy.name)=http://proxy.contoso.com:8080"))
        }
        let except = context.variable("no_proxy") ?? context.variable("NO_PROXY")
        let hosts = except.map { $0.utf8.split { " \t,".utf8.contains($0) }.count } ?? 0
        let others = hosts == 0 ? "" : ", but not for \(hosts) \(hosts == 1 ? "host" : "hosts") of no_proxy"
        return .pass("proxy", "\(url.urlForPeople)\(others)")
    }

    private func certificates(_ entries: [GitConfiguration.Entry]) -> Finding {
        let own = configuration.caFile.map { ("ca-file", $0) }
        let variable = context.variable("SSL_CERT_FILE").map { ("SSL_CERT_FILE", $0) }
        let extra = [own, variable].compactMap(\.self)
        for (name, path) in extra {
            guard access(path, R_OK) == 0 else {
                return .fail(
                    "certificates", "\(name) names \(context.short(path)), which can't be read", Hint("correct \(name)")
                )
            }
        }
        if let theirs = entries.last(where: { $0.key == "http.sslcainfo" })?.value, own == nil, context.isFile(theirs) {
            return .warn(
                "certificates", "git trusts \(context.short(theirs)), which lanyard does not",
                Hint("put into \(context.short(context.userFile))", write: "ca-file = \"\(theirs.displayable())\""))
        }
        guard !extra.isEmpty else { return .pass("certificates", "the system's") }
        return .pass("certificates", "the system's and \(extra.map { context.short($0.1) }.joined(separator: ", "))")
    }
}

/// The variable that names the plugins' proxy.
struct ProxyVariable {
    let name: String
    /// The proxy; nil if the plugins can't use what the variable names.
    let url: ProxyURL?

    /// Finds the variable; nil if none is set.
    init?(_ context: CommandContext) {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let name = names.first(where: { context.variable($0) != nil }), let value = context.variable(name) else {
            return nil
        }
        self.name = name
        url = ProxyURL(value)
    }
}

extension Examination {
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
}
