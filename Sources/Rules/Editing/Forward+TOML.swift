import Addresses

extension Forward: ConfigurationTable {
    /// `forward`.
    public static var key: String { "forward" }
    /// `forwards`.
    public static var plural: String { "forwards" }
    /// The forwards in the configuration.
    public static var member: WritableKeyPath<Configuration, [Forward]> { \.forwards }
    /// Its name.
    public var uniqueName: String? { name }

    /// The forward as a `[[forward]]` table, to be shown or written.
    public var toml: String {
        var lines = ["[[forward]]", "name = \(name.inTOML)", "urls = \(urls.map(\.text).inTOML)"]
        if confirms { lines.append("confirm = true") }
        return lines.joined(separator: "\n") + "\n"
    }
}
