import ArgumentParser

struct AWSCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "aws", abstract: "Print temporary keys for the AWS CLI and SDKs.",
        discussion: """
            For credential_process in ~/.aws/config. The URL names the Security Token Service and the role; a rule says \
            which token lanyard uses to assume it.
            """)

    static let examples: KeyValuePairs = [
        "Have the AWS CLI and SDKs use a role": """
        aws configure set credential_process \\
          "lanyard aws https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
        """
    ]

    @Argument(help: "The URL: https://sts.amazonaws.com/ or a region's, and the role's ARN.")
    var url: String
}

struct GoogleCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "gcloud", abstract: "Print a token for gcloud and Google's SDKs.",
        discussion: """
            For executable-sourced credentials of identity federation: the command in a credential configuration. A rule says \
            which token the URL gets.
            """)

    static let examples: KeyValuePairs = [
        "Have gcloud sign in with a token from lanyard": """
        gcloud iam workforce-pools create-cred-config \\
          locations/global/workforcePools/contoso/providers/entra \\
          --executable-command \\
            "/usr/bin/lanyard gcloud https://sts.googleapis.com" \\
          --subject-token-type urn:ietf:params:oauth:token-type:jwt \\
          --workforce-pool-user-project PROJECT --output-file credentials.json
        """
    ]

    @Argument(help: "The URL that a rule is for, such as https://sts.googleapis.com.")
    var url: String
}
