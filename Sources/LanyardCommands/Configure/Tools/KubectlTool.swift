import Addresses
import SettingsFile
import Terminal

/// kubectl and what else is made with client-go: kubeconfigs that use kubelogin, or kubectl's former sign-in to Azure, run lanyard instead.
enum KubectlTool: ConfigurableTool {
    static let name = "kubectl"
    static let purpose = "kubectl, helm and k9s use lanyard for clusters of Entra ID"
    static let discussion = """
        Converts the users of your kubeconfigs that a person signs in with by kubelogin or by kubectl's former azure auth-provider. \
        Those of service principals and managed identities stay.
        """
    static let url = ToolURL.none

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        var changes: [ToolChange] = []
        for file in files(place) {
            do throws(SettingsError) {
                guard let text = try SettingsText(reading: file).text else { continue }
                for user in KubeUsers(text).users {
                    guard let lines = user.converted(running: place.program("lanyard")) else { continue }
                    let value = lines.joined(separator: "\n")
                    changes.append(ToolChange(.kubeUser, user.name, in: file, to: value))
                }
            } catch {
                throw Failure(error)
            }
        }
        guard !changes.isEmpty else { throw Self.nothing(place) }
        return changes
    }

    private static func files(_ place: ToolPlace) -> [String] {
        let own = place.context.variable("KUBECONFIG")?.pieces(between: ":").map(String.init)
        return own ?? ["\(place.home)/.kube/config"]
    }

    private static func nothing(_ place: ToolPlace) -> Failure {
        let files = files(place).map(place.context.short).joined(separator: ", ")
        return Failure(
            "no user in \(files) signs in to Entra ID by kubelogin or azure",
            hints: [
                Hint(
                    "to set up another",
                    run: """
                        kubectl config set-credentials NAME --exec-api-version client.authentication.k8s.io/v1 \
                        --exec-command lanyard --exec-arg kubectl --exec-provide-cluster-info
                        """)
            ])
    }
}
