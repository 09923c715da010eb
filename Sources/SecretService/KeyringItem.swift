/// One item in the state in which a search found it.
package struct KeyringItem {
    /// The D-Bus path of the item, which begins with its collection's.
    package var path: String
    /// Whether the item must be unlocked before its secret can be read.
    package var isLocked: Bool
    /// The item's attributes, including `xdg:schema`; empty if its keyring was never unlocked.
    package var attributes: [String: String]
    /// The secret; nil if it wasn't requested or couldn't be loaded.
    package var secret: [UInt8]?

    /// The item's schema; nil if the provider doesn't report it.
    package var schema: String? { attributes["xdg:schema"] }
}
