extension PluginRegistry {
    /// Returns the folders where plugins are looked for, whether or not they exist; reads nothing.
    public static func folders(environment: [String: String], executable: String?) -> [String] {
        PluginPlaces(environment: environment, executable: executable).folders
    }
}
