/// Azure's clouds, by the names that the programs for them use.
public enum AzureCloud {
    private static let hosts = [
        "azureusgovernmentcloud": "login.microsoftonline.us", "azureusgovernment": "login.microsoftonline.us",
        "azurechinacloud": "login.partner.microsoftonline.cn",
    ]

    /// A tenant's authority in a cloud; nil for the public one, and for those that nobody here knows.
    public static func authority(ofTenant tenant: String, in cloud: String?) -> String? {
        cloud.flatMap { hosts[$0.lowercased()] }.map { "https://\($0)/\(tenant)" }
    }
}
