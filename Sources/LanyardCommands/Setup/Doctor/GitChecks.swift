import Addresses
import CredentialProtocol
import Rules

/// git and its configuration, as they are outside any repository.
struct GitChecks {
    private let examination: Examination
    private var context: CommandContext { examination.context }

    init(_ examination: Examination) {
        self.examination = examination
    }

    func findings() async -> [Finding] {
        do throws(Failure) {
            let version = try await Git.version()
            guard version >= Git.oldest else {
                return [.fail("git", "\(version) is too old, 2.8 is needed", Hint(run: "sudo apt install git"))]
            }
            let entries = try await GitConfiguration.everything()
            return [program(version), helpers(entries)] + (await paths()) + interaction(entries)
        } catch {
            return [.fail("git", error)]
        }
    }

    private func program(_ version: GitVersion) -> Finding {
        let takesTokens = version >= GitVersion(major: 2, minor: 46)
        let how = takesTokens ? "takes tokens as such" : "takes tokens as passwords, which Azure DevOps accepts"
        guard version >= GitVersion(major: 2, minor: 41) else {
            let missed = "a server's wish for claims, and the tenant of an Azure DevOps organisation"
            return .warn(
                "git", "\(version); \(how); before 2.41 it keeps servers' answers to itself, and with them \(missed)",
                "install git 2.41 or later",
                Hint("else, where a server asks for claims", run: "lanyard login URL --claims JSON"),
                Hint(
                    "and name the tenant in the rule",
                    write: "authority = \"https://login.microsoftonline.com/TENANT\""))
        }
        return .pass("git", "\(version); \(how)")
    }

    private func helpers(_ entries: [GitConfiguration.Entry]) -> Finding {
        let name = "git.helpers"
        let everywhere = GitHelpers(entries, for: nil)
        guard everywhere.hasLanyard else {
            return hosts(entries) ?? .warn(name, "git does not ask lanyard", Hint(run: "lanyard configure git"))
        }
        if let missing = everywhere.all.first(where: \.isLanyard)?.missingProgram(context) {
            return .fail(
                name, "git can't find \(missing), the helper it is to run",
                Hint(run: "lanyard unconfigure git && lanyard configure git"))
        }
        let text = "git asks \(everywhere.names)"
        guard let first = everywhere.beforeLanyard.first else { return .pass(name, text) }
        return .warn(
            name, "\(text); \(first.name) answers first where it can", Hint(run: "lanyard configure git --only"),
            Hint("or for one host", run: "lanyard configure git URL --only"))
    }

    /// Where git asks lanyard for some hosts only.
    private func hosts(_ entries: [GitConfiguration.Entry]) -> Finding? {
        let places = entries.filter { entry in
            guard entry.place(of: "helper") != nil else { return false }
            return GitHelpers.Helper(value: entry.value, file: entry.file).isLanyard
        }.compactMap { $0.place(of: "helper") }
        guard !places.isEmpty else { return nil }
        return .pass("git.helpers", "git asks lanyard for \(places.joined(separator: ", ").displayable())")
    }

    private func paths() async -> [Finding] {
        var findings: [Finding] = []
        for place in Set(examination.configuration.rules.compactMap(\.pattern.placeWithPath)).sorted() {
            guard await !GitConfiguration.sendsPath(for: place) else { continue }
            findings.append(
                .fail(
                    "git.path", "rules for \(place.displayable()) have a path, which git keeps to itself",
                    Hint(run: "lanyard configure git \(place)")))
        }
        return findings
    }

    private func interaction(_ entries: [GitConfiguration.Entry]) -> [Finding] {
        let off = entries.last { $0.key == "credential.interactive" }
        guard let off, GitConfiguration.forbidsPrompts(off.value) else { return [] }
        return [
            .warn(
                "git.interactive",
                "credential.interactive is \(off.value.displayable(limit: 20)): git's requests never ask you",
                Hint(run: "git config --global --unset credential.interactive"))
        ]
    }
}

extension GitHelpers.Helper {
    /// The program that git would look for and not find; nil where it is there.
    fileprivate func missingProgram(_ context: CommandContext) -> String? {
        guard !value.hasPrefix("!"), !value.hasBytes("\\"), let word = value.pieces(between: " ").first else {
            return nil
        }
        let program = word.hasPrefix("/") ? String(word) : "git-credential-\(word)"
        return context.program(program) == nil ? program.displayable() : nil
    }
}
