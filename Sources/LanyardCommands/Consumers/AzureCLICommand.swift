import ArgumentParser
import ConsumerProtocols

/// `lanyard azd`, which works without a link of that name; hidden like `lanyard az`.
struct AzureDeveloperCLICommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: AzureDeveloperCLIConsumer.program, abstract: "Print tokens as the Azure Developer CLI does.",
        usage: "lanyard azd auth token [<options>]",
        discussion: """
            For SDKs, which run the Azure Developer CLI for tokens; `lanyard exec --as azd` makes them run lanyard instead. The \
            options are the Azure Developer CLI's: --scope, --tenant-id, --claims and --output.
            """,
        shouldDisplay: false)

    static let examples: KeyValuePairs = [
        "Get a token as an SDK does": "lanyard azd auth token --output json --no-prompt"
    ]

    @Argument(parsing: .captureForPassthrough, help: "The arguments that azd would get.")
    var arguments: [String] = []
}

/// `lanyard az`, which works without a link of that name; hidden because it is for SDKs.
struct AzureCLICommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: AzureCLIConsumer.program, abstract: "Print tokens as the Azure CLI does.",
        usage: "lanyard az account get-access-token | account show | version [<options>]",
        discussion: """
            For SDKs, which run the Azure CLI for tokens; `lanyard exec --as azure-cli` makes them run lanyard instead. The options \
            are the Azure CLI's: --resource, --scope, --tenant, --subscription, --query and --output.
            """,
        shouldDisplay: false)

    static let examples: KeyValuePairs = [
        "Get a token as an SDK does": "lanyard az account get-access-token --output json"
    ]

    @Argument(parsing: .captureForPassthrough, help: "The arguments that az would get.")
    var arguments: [String] = []
}
