/// One item that a search found, as it was then.
package struct KeyringItem {
    /// The D-Bus path of the item, which its collection's is a prefix of.
    package var path: String
    /// Whether its secret can't be read until it is unlocked.
    package var isLocked: Bool
    /// The item's attributes, `xdg:schema` among them; empty if its keyring was never unlocked.
    package var attributes: [String: String]
    /// The secret; nil if it was not asked for or could not be had.
    package var secret: [UInt8]?

    /// The schema it was stored under; nil if the provider does not tell.
    package var schema: String? { attributes["xdg:schema"] }
}
