import Addresses
import Rules

/// A service whose job this process is part of, and whose log hides the values that it is told of.
enum PipelineService: Sendable, CaseIterable {
    /// GitHub Actions, and runners of others that say they are it, such as Gitea's.
    case githubActions
    /// Azure Pipelines.
    case azurePipelines

    /// The service of the job; nil outside of one, and in jobs of services whose logs can't be told, such as GitLab's.
    init?(_ environment: [String: String]) {
        let service = Self.allCases.first { environment[$0.variable]?.lowercased() == "true" }
        guard let service else { return nil }
        self = service
    }

    /// The variable that all processes of a job have.
    var variable: String {
        switch self {
        case .githubActions: "GITHUB_ACTIONS"
        case .azurePipelines: "TF_BUILD"
        }
    }

    /// The lines that have the log hide some values.
    ///
    /// The log is compared line by line, so that each line of a value counts by itself. One of a few characters is no secret, and a log
    /// without them could not be read.
    func masks(of values: [String]) -> String {
        var hidden: [String] = []
        for value in values where !value.isEmpty {
            let lines = value.utf8.split { $0 == 0x0A || $0 == 0x0D }.compactMap { String($0) }
            for text in [value] + lines.filter({ $0.utf8.count >= 4 }) where !hidden.contains(text) {
                hidden.append(text)
            }
        }
        return hidden.map { "\(command)\(escaped($0))\n" }.joined()
    }

    /// What a job lacks whose variables describe no application but the machine, which is seldom meant.
    func advice(on identity: Identity, _ environment: [String: String]) -> String? {
        guard identity.name == Identity.environment.name, identity.application == nil else { return nil }
        return switch self {
        case .githubActions where environment["ACTIONS_ID_TOKEN_REQUEST_URL"]?.isEmpty ?? true:
            "for an application, give the job the permission: permissions: id-token: write"
        case .githubActions: "for an application, name it in the job's env: AZURE_TENANT_ID and AZURE_CLIENT_ID"
        case .azurePipelines:
            "for an application, run this in an AzureCLI@2 task, with SYSTEM_ACCESSTOKEN: $(System.AccessToken) in its env"
        }
    }

    /// GitHub's counts only at the beginning of a line, and what another process has begun may stand there.
    private var command: String {
        switch self {
        case .githubActions: "\n::add-mask::"
        case .azurePipelines: "##vso[task.setsecret]"
        }
    }

    private func escaped(_ text: String) -> String {
        var escaped = text.replacing(bytes: "%", with: self == .githubActions ? "%25" : "%AZP25")
            .replacing(bytes: "\r", with: "%0D").replacing(bytes: "\n", with: "%0A")
        if self == .azurePipelines {
            escaped = escaped.replacing(bytes: ";", with: "%3B").replacing(bytes: "]", with: "%5D")
        }
        return escaped
    }
}
