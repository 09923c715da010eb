import Addresses
import AnswerCache
import Files
internal import Glibc
import Keyring
import Secrets

/// One operation on the sealed keyring.
final class SealedSession: KeyringSession {
    private let keyring: SealedKeyring
    let folder: KeyringFolder
    private var known: KeyringKey?
    private var knownID: KeyringID?
    private var knownSlots: [ProtectorKind: Slot]?
    private var index: ItemIndex?
    private var read: [String: ItemContent] = [:]

    init(_ keyring: SealedKeyring, _ folder: consuming KeyringFolder) {
        self.keyring = keyring
        self.folder = folder
    }

    private func id() throws(KeyringError) -> KeyringID {
        if let knownID { return knownID }
        guard let id = try folder.id() else { throw KeyringError(.notCreated) }
        knownID = id
        return id
    }

    func slots() throws(KeyringError) -> [ProtectorKind: Slot] {
        if let knownSlots { return knownSlots }
        let slots = try folder.slots(of: id())
        knownSlots = slots
        return slots
    }

    /// Returns the key; nil if the keyring's only key ended with its session, so that it holds nothing.
    func key() throws(KeyringError) -> KeyringKey? {
        if let known { return known }
        let id = try id()
        if let key = keyring.kernelKey(id).read() {
            guard try folder.opens(with: key) else { throw SealedKeyring.otherKey }
            known = key
        } else {
            let slots = try slots()
            guard !slots.isEmpty else { throw KeyringError(.sealedElsewhere, detail: "it has no protector left") }
            known = try keyring.unwrapped(slots, folder)
            // It may be in the machine's own one, and then what the keyring holds must not be lost.
            guard known != nil || UserNamespace.isMachines else {
                throw KeyringError(
                    .sealedElsewhere, detail: "it ended with its session, or is out of reach in this user namespace")
            }
        }
        return known
    }

    private func storingKey() throws(KeyringError) -> KeyringKey {
        if let key = try key() { return key }
        let key = try keyring.startAnew(folder, after: id())
        (known, knownID, knownSlots) = (key, nil, nil)
        return key
    }

    func requireUnlocked() throws(KeyringError) { _ = try key() }
    func openForStoring() throws(KeyringError) { _ = try storingKey() }
    func openForReading() throws(KeyringError) -> Bool { false }
    func unlock(_ paths: [String]) throws(KeyringError) {}

    func search(_ attributes: [String: String]) throws(KeyringError) -> (unlocked: [String], locked: [String]) {
        guard let key = try key() else { return ([], []) }
        let index = index ?? folder.index(key)
        self.index = index
        return (index.names(with: key.marks(attributes)).map { "/\($0)" }, [])
    }

    func items(at paths: [String], areLocked: Bool) throws(KeyringError) -> [KeyringItem] {
        var items: [KeyringItem] = []
        for path in paths {
            guard let item = try item(at: path) else { continue }
            // The number tells which of two items is newer.
            items.append(
                KeyringItem(
                    path: "/\(Self.name(of: path))/\(item.modified)", isLocked: false, attributes: item.attributes))
        }
        return items
    }

    func secrets(of paths: [String]) throws(KeyringError) -> [String: [UInt8]] {
        var secrets: [String: [UInt8]] = [:]
        for path in paths { secrets[path] = try item(at: path)?.secret }
        return secrets
    }

    func modified(_ item: KeyringItem) throws(KeyringError) -> UInt64 {
        (try self.item(at: item.path)?.modified ?? 0) / 1000
    }
    func label(of item: KeyringItem) throws(KeyringError) -> String? { try self.item(at: item.path)?.label }

    func store(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String
    ) throws(KeyringError) {
        try change { (index, key) throws(KeyringError) in
            for name in index.names(with: key.marks(attributes)) {
                guard var item = try folder.item(name, key) else { continue }
                item.secret = secret
                return try put(item, name, key, &index)
            }
            let item = ItemContent(attributes, label: label, secret: secret, modified: 0)
            try put(item, key.name(of: attributes), key, &index)
        }
    }

    func create(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String, replacing: Bool
    ) throws(KeyringError) {
        try change { (index, key) throws(KeyringError) in
            let name = key.name(of: attributes)
            let others = replacing ? index.names(with: key.marks(attributes)).filter { $0 != name } : []
            try put(ItemContent(attributes, label: label, secret: secret, modified: 0), name, key, &index)
            if let other = others.first {
                try folder.remove(other)
                index.remove(other)
            }
        }
    }

    func replaceSecret(of item: KeyringItem, with secret: [UInt8], contentType: String) throws(KeyringError) {
        try change { (index, key) throws(KeyringError) in
            let name = Self.name(of: item.path)
            // One that was deleted meanwhile is stored again: the secret is the newer one.
            var content =
                try folder.item(name, key) ?? ItemContent(item.attributes, label: "", secret: [], modified: 0)
            content.secret = secret
            try put(content, name, key, &index)
        }
    }

    func delete(_ item: KeyringItem) throws(KeyringError) {
        guard try key() != nil else { return }
        try change { (index, _) throws(KeyringError) in
            let name = Self.name(of: item.path)
            try folder.remove(name)
            index.remove(name)
        }
    }

    private func change(_ body: (inout ItemIndex, KeyringKey) throws(KeyringError) -> Void) throws(KeyringError) {
        let key = try storingKey()
        (read, index) = ([:], nil)
        try folder.changing(key) { (index) throws(KeyringError) in try body(&index, key) }
    }

    private func put(_ item: ItemContent, _ name: String, _ key: KeyringKey, _ index: inout ItemIndex)
        throws(KeyringError)
    {
        var item = item
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        item.modified = UInt64(clamping: now.tv_sec) * 1000 + UInt64(now.tv_nsec / 1_000_000)
        try folder.put(item, name, key)
        index.add(name, key.marks(item.attributes))
    }

    private func item(at path: String) throws(KeyringError) -> ItemContent? {
        let name = Self.name(of: path)
        if let item = read[name] { return item }
        guard let key = try key() else { return nil }
        read[name] = try folder.item(name, key)
        return read[name]
    }

    /// The name in an item's path, `/NAME` or `/NAME/NUMBER`.
    private static func name(of path: String) -> String {
        path.pieces(between: "/").first { !$0.isEmpty }.map(String.init) ?? ""
    }
}
