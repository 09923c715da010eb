import Addresses
import Rules

/// A service that runs pipelines, and whose logs can hide values, by the variable that all processes of a job have.
enum PipelineService: String, Sendable, CaseIterable {
    /// GitHub Actions, and compatible runners such as Gitea's.
    case githubActions = "GITHUB_ACTIONS"
    case azurePipelines = "TF_BUILD"

    /// Returns the service of this process's job; nil outside of jobs, and for services whose logs can't be told to
    /// hide values, such as GitLab's.
    init?(_ environment: [String: String]) {
        let service = Self.allCases.first { environment[$0.rawValue]?.lowercased() == "true" }
        guard let service else { return nil }
        self = service
    }

    /// Returns the lines that make the log hide some values.
    ///
    /// The log is compared line by line, so each line of a value is hidden separately. A line of a few characters isn't
    /// a secret, and hiding it would make the log unreadable.
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

    /// Returns what the job lacks if its variables describe only the machine's identity, which is rarely what is meant.
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

    /// GitHub's command must begin a line, and another process may have begun one.
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
