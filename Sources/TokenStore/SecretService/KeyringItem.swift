/// One item that a search found, as it was then.
struct KeyringItem {
    /// The D-Bus path of the item, which its collection's is a prefix of.
    var path: String
    var isLocked: Bool
    /// The item's attributes, `xdg:schema` among them; empty where its keyring was never unlocked.
    var attributes: [String: String]
    /// The secret; nil where it was not asked for or could not be had.
    var secret: [UInt8]?

    /// The schema it was stored under; nil where the provider does not tell.
    var schema: String? { attributes["xdg:schema"] }
}
