import ArgumentParser
import Rules

struct KubectlCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "kubectl", abstract: "Answer kubectl's request in KUBERNETES_EXEC_INFO.",
        discussion: "kubectl, helm, k9s and other programs made with client-go run it for a user of a kubeconfig.")

    static let examples: KeyValuePairs = [
        "Have kubectl use lanyard for a user of its configuration": """
        kubectl config set-credentials contoso \\
          --exec-api-version client.authentication.k8s.io/v1 \\
          --exec-command lanyard --exec-arg kubectl \\
          --exec-provide-cluster-info --exec-interactive-mode IfAvailable
        """
    ]

    @Argument(help: "The URL that the token is for; by default the cluster's.") var url: String?
}

struct PnpmCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "pnpm", abstract: "Print the Authorization header's value for an npm registry.",
        discussion: "pnpm's tokenHelper is a program without arguments, such as a script with this command.")

    static let examples: KeyValuePairs = [
        "See whether a registry gets a credential": "lanyard pnpm \(Example.url) >/dev/null"
    ]

    @Argument(help: "The registry's URL.") var url: String
}
