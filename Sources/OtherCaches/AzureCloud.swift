/// Azure's clouds, by the names that programs for them use.
public enum AzureCloud {
    private static let hosts = [
        "azureusgovernmentcloud": "login.microsoftonline.us", "azureusgovernment": "login.microsoftonline.us",
        "azurechinacloud": "login.partner.microsoftonline.cn",
    ]

    /// Returns a tenant's authority in a cloud; nil for the public cloud, and for unknown ones.
    public static func authority(ofTenant tenant: String, in cloud: String?) -> String? {
        cloud.flatMap { hosts[$0.lowercased()] }.map { "https://\($0)/\(tenant)" }
    }
}
