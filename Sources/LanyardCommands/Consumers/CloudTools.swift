import ConsumerProtocols
import Terminal

extension Tool {
    static let gcloud = Tool(
        "gcloud",
        .verb(
            ToolVerb(
                "gcloud", abstract: "Print a token for gcloud and Google's SDKs.",
                discussion: """
                    For executable-sourced credentials of identity federation: the command in a credential configuration. A rule says \
                    which token the URL gets.
                    """,
                argument: "The URL that a rule is for, such as https://sts.googleapis.com.",
                examples: [
                    "Have gcloud sign in with a token from lanyard": """
                    gcloud iam workforce-pools create-cred-config \\
                      locations/global/workforcePools/contoso/providers/entra \\
                      --executable-command \\
                        "/usr/bin/lanyard gcloud https://sts.googleapis.com" \\
                      --subject-token-type urn:ietf:params:oauth:token-type:jwt \\
                      --workforce-pool-user-project PROJECT --output-file credentials.json
                    """
                ])),
        { GoogleConsumer($0.arguments, $0.environment) },
        recipe: Hint("gcloud is set up by hand; see", run: "man lanyard-gcloud"))

    static let azureCLI = Tool(
        "azure-cli", aliases: ["az"],
        .standIn(
            ToolVerb(
                AzureCLIConsumer.program, abstract: "Print tokens as the Azure CLI does.",
                discussion: """
                    For SDKs, which run the Azure CLI for tokens; `lanyard exec --as azure-cli` makes them run lanyard instead. The options \
                    are the Azure CLI's: --resource, --scope, --tenant, --subscription, --query and --output.
                    """,
                argument: "The arguments that az would get.",
                usage: "lanyard az account get-access-token | account show | version [<options>]",
                examples: ["Get a token as an SDK does": "lanyard az account get-access-token --output json"])),
        { AzureCLIConsumer($0.arguments, environment: $0.environment, version: $0.version) },
        recipe: Hint("run programs for Azure with", run: "lanyard exec --as azure-cli -- COMMAND"))

    static let azd = Tool(
        "azd",
        .standIn(
            ToolVerb(
                AzureDeveloperCLIConsumer.program, abstract: "Print tokens as the Azure Developer CLI does.",
                discussion: """
                    For SDKs, which run the Azure Developer CLI for tokens; `lanyard exec --as azd` makes them run lanyard instead. The \
                    options are the Azure Developer CLI's: --scope, --tenant-id, --claims and --output.
                    """,
                argument: "The arguments that azd would get.", usage: "lanyard azd auth token [<options>]",
                examples: ["Get a token as an SDK does": "lanyard azd auth token --output json --no-prompt"])),
        { AzureDeveloperCLIConsumer($0.arguments) },
        recipe: Hint("run programs for Azure with", run: "lanyard exec --as azd -- COMMAND"))
}
