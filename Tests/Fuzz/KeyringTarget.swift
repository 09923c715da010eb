@testable import SealedKeyring

extension FuzzTarget {
    /// A file of the sealed keyring: an item, an index, or a slot with a wrapped key.
    ///
    /// The first three bytes say which byte to change and how, the rest is a content.
    static let keyring = FuzzTarget("keyring") { input in
        try require(
            accepted { try SealedFile.open(input, named: "a", with: key) } == nil, "nobody sealed what was opened")
        if let slot = accepted({ try Slot(input) }) {
            try require(accepted { try Slot(slot.encoded) } == slot, "a slot is written as another one")
        }
        guard input.count > 3 else { return }
        let content = Array(input.dropFirst(3))
        if let item = ItemContent(content) {
            try require(ItemContent(item.encoded) == item, "an item is written as another one")
        }
        if let index = ItemIndex(content) {
            try require(ItemIndex(index.encoded) == index, "an index is written as another one")
            for name in index.names { try require(ItemIndex.bytes(ofName: name) != nil, "a name has another form") }
        }
        let bytes = SealedFile.seal(content, named: "a", with: key)
        try require(
            try SealedFile.open(bytes, named: "a", with: key) == content, "what was sealed isn't what is opened")
        try require(accepted { try SealedFile.open(bytes, named: "b", with: key) } == nil, "it may have another name")
        var changed = bytes
        let place = (Int(input[0]) << 8 | Int(input[1])) % bytes.count
        changed[place] ^= input[2] == 0 ? 1 : input[2]
        try require(
            accepted { try SealedFile.open(changed, named: "a", with: key) } == nil, "byte \(place) may be another")
        let short = Array(bytes.prefix(place))
        try require(
            accepted { try SealedFile.open(short, named: "a", with: key) } == nil, "it may end at byte \(place)")
        try require(accepted { try SealedFile.open(bytes + [0], named: "a", with: key) } == nil, "it may go on")
    }

    private static let key = KeyringKey.random()
}
