extension PluginRegistry {
    /// The folders that plugins are looked for in, there or not; nothing is read.
    public static func folders(environment: [String: String], executable: String?) -> [String] {
        PluginPlaces(environment: environment, executable: executable).folders
    }
}
