import Addresses
import AnswerCache
import Files
internal import Glibc
import Keyring

/// The folder of this machine's sealed keyring: `keyring/MACHINE` in lanyard's state folder.
///
/// Each machine has its own, because what is in it must not be used by two: a copy would repeat refresh tokens that were
/// spent. So a home that is synchronised, restored or on a server holds one for each machine that made one.
///
/// - `keyring`: the keyring's ID, and nothing, sealed: it opens only with the keyring's key.
/// - `slot.KIND`: the key, wrapped by a protector.
/// - `items/NAME`: an item each; the name is a keyed digest of its attributes.
/// - `index`: which items have which attributes. It is made anew if it is missing or doesn't fit the folder.
/// - `lock`: locked (`flock`) by who changes anything. It is never removed. Nobody who reads needs it.
struct KeyringFolder: ~Copyable {
    let path: String
    private let folder: Folder
    private let items: Folder

    private static let header = "keyring"
    private static let indexFile = "index"
    private static let itemsFolder = "items"
    /// The highest number of items; far more than anybody has.
    private static let mostItems = 1 << 20
    /// Seconds to wait for other processes, each of which changes an item in milliseconds.
    private static let patience = Duration.seconds(20)

    private init(_ path: String) throws(FileError) {
        let folder = try Folder(path)
        let items = try Folder("\(path)/\(Self.itemsFolder)")
        self.path = path
        self.folder = folder
        self.items = items
    }

    /// Opens the folder; nil if there is none.
    static func open(_ path: String, making: Bool = false) throws(KeyringError) -> KeyringFolder? {
        if making { Folder.make("\(path)/\(itemsFolder)") }
        do throws(FileError) { return try KeyringFolder(path) } catch {
            if error.isMissing, !making { return nil }
            throw KeyringError(error, at: path)
        }
    }

    // MARK: The keyring's first file and its slots

    /// Returns the keyring's ID; nil if its creation wasn't completed.
    func id() throws(KeyringError) -> KeyringID? {
        guard let bytes = try read(Self.header) else { return nil }
        do throws(KeyringError) { return try SealedFile.id(of: bytes) } catch { throw error.of(path, Self.header) }
    }

    /// Whether the keyring's first file opens with a key.
    func opens(with key: KeyringKey) throws(KeyringError) -> Bool {
        guard let bytes = try read(Self.header) else { return false }
        return (try? SealedFile.open(bytes, named: Self.header, with: key)) == []
    }

    /// Writes the first file last: it makes the rest a keyring.
    func begin(_ key: KeyringKey) throws(KeyringError) {
        try write(SealedFile.seal([], named: Self.header, with: key), to: Self.header)
    }

    /// Returns the slots of the keyring; those of another one don't count, and one that can't be read is an error only if there
    /// is no other.
    func slots(of id: KeyringID) throws(KeyringError) -> [ProtectorKind: Slot] {
        var slots: [ProtectorKind: Slot] = [:]
        var failure: KeyringError?
        for kind in ProtectorKind.allCases {
            guard let bytes = try read(Slot.file(kind)) else { continue }
            do throws(KeyringError) {
                let slot = try Slot(bytes)
                if slot.id == id { slots[kind] = slot }
            } catch {
                failure = error.of(path, Slot.file(kind))
            }
        }
        if slots.isEmpty, let failure { throw failure }
        return slots
    }

    func put(_ slot: Slot, _ kind: ProtectorKind) throws(KeyringError) {
        try write(slot.encoded, to: Slot.file(kind))
    }

    func removeSlot(_ kind: ProtectorKind) throws(KeyringError) { try remove(Slot.file(kind), from: folder) }

    // MARK: Items

    /// Returns the item with this name; nil if there is none, or if it can't be opened.
    ///
    /// - Throws: `broken` if a newer lanyard wrote it.
    func item(_ name: String, _ key: KeyringKey) throws(KeyringError) -> ItemContent? {
        do throws(KeyringError) {
            return try content(name, key)
        } catch {
            if error.handling == .passOver { return nil }
            throw error.of(path, name)
        }
    }

    private func content(_ name: String, _ key: KeyringKey) throws(KeyringError) -> ItemContent? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try items.read(name, atMost: ItemContent.longest, closedTo: 0)
        } catch {
            if error.isMissing { return nil }
            throw .damagedFile
        }
        guard let content = ItemContent(try SealedFile.open(bytes, named: name, with: key)) else { throw .damagedFile }
        return content
    }

    /// Writes an item; a file of this name that can't be opened is kept under another one.
    func put(_ item: ItemContent, _ name: String, _ key: KeyringKey) throws(KeyringError) {
        do throws(KeyringError) { _ = try content(name, key) } catch {
            guard error.handling == .passOver else { throw error.of(path, name) }
            let kept = "\(name).\(UInt32.random(in: .min ... .max))\(Self.keptSuffix)"
            do throws(FileError) { try items.rename(name, to: kept) } catch { throw KeyringError(error, at: path) }
        }
        let bytes = SealedFile.seal(item.encoded, named: name, with: key)
        guard bytes.count <= ItemContent.longest else { throw KeyringError(.broken, detail: "the secret is too long") }
        do throws(FileError) { try items.write(bytes, to: name, isDurable: true) } catch {
            throw KeyringError(error, at: path)
        }
    }

    func remove(_ name: String) throws(KeyringError) { try remove(name, from: items) }

    private func remove(_ name: String, from folder: borrowing Folder) throws(KeyringError) {
        do throws(FileError) { try folder.delete(name) } catch { throw KeyringError(error, at: path) }
    }

    /// The files that can't be opened, and why; they are kept.
    func unopened(_ key: KeyringKey) -> [(name: String, reason: String)] {
        names().sorted().compactMap { name in
            if name.hasSuffix(Self.keptSuffix) { return (name, "could not be opened when it was replaced") }
            guard ItemIndex.bytes(ofName: name) != nil else { return nil }
            do throws(KeyringError) { _ = try content(name, key) } catch { return (name, error.detail) }
            return nil
        }
    }

    private static let keptSuffix = ".unopened"

    private func names() -> [String] { items.names(atMost: Self.mostItems) }

    // MARK: The index

    /// The index for the folder as it is; nil if it has to be made anew.
    private func savedIndex(_ key: KeyringKey) -> ItemIndex? {
        guard let bytes = try? folder.read(Self.indexFile, atMost: 1 << 28, closedTo: 0),
            let content = try? SealedFile.open(bytes, named: Self.indexFile, with: key),
            let index = ItemIndex(content), index.stamp == (try? items.status())?.modifiedNanoseconds
        else { return nil }
        return index
    }

    private func madeIndex(_ key: KeyringKey) -> ItemIndex {
        var index = ItemIndex(stamp: (try? items.status())?.modifiedNanoseconds ?? 0)
        for name in names() where ItemIndex.bytes(ofName: name) != nil {
            guard let item = try? content(name, key) else { continue }
            index.add(name, key.marks(item.attributes), isNew: true)
        }
        return index
    }

    private func save(_ index: ItemIndex, _ key: KeyringKey) {
        var index = index
        index.stamp = (try? items.status())?.modifiedNanoseconds ?? 0
        try? folder.write(
            SealedFile.seal(index.encoded, named: Self.indexFile, with: key), to: Self.indexFile, isDurable: false)
    }

    /// Returns the index, made anew if a change was interrupted or the folder was changed by something else.
    func index(_ key: KeyringKey) -> ItemIndex {
        if let index = savedIndex(key) { return index }
        // Another process may be changing something. Where no lock can be had, nothing changes the folder.
        guard let lock = try? locked() else { return madeIndex(key) }
        defer { withExtendedLifetime(lock) {} }
        return lockedIndex(key)
    }

    private func lockedIndex(_ key: KeyringKey) -> ItemIndex {
        if let index = savedIndex(key) { return index }
        Draft.removeStale(in: items, all: true)
        let index = madeIndex(key)
        save(index, key)
        return index
    }

    /// Runs a change of items while no other process changes any.
    ///
    /// There is no index meanwhile, so that a process that is killed leaves none that doesn't fit.
    func changing<Result>(
        _ key: KeyringKey, _ body: (inout ItemIndex) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        let lock = try locked()
        defer { withExtendedLifetime(lock) {} }
        // The keyring may have been deleted, and perhaps made anew, since the key was read.
        guard try id() == key.id else { throw KeyringError(.notCreated) }
        var index = lockedIndex(key)
        folder.remove(Self.indexFile)
        defer { save(index, key) }
        return try body(&index)
    }

    /// Takes the lock of all changes, which is held as long as the file is open.
    func locked() throws(KeyringError) -> OpenFile {
        do throws(FileError) {
            let file = try folder.openFile("lock")
            guard try file.lock(within: Self.patience) else { throw .locked }
            return file
        } catch {
            throw error == .locked ? KeyringError(.busy) : KeyringError(error, at: path)
        }
    }

    /// Deletes everything but the lock, the first file first: what is left by a killed process isn't a keyring.
    func clear() throws(KeyringError) {
        try remove(Self.header, from: folder)
        for kind in ProtectorKind.allCases { folder.remove(Slot.file(kind)) }
        folder.remove(Self.indexFile)
        for name in names() { items.remove(name) }
        try? folder.flush()
    }

    /// Deletes the items that were sealed by a key that nobody has any more.
    func clearItems() {
        folder.remove(Self.indexFile)
        for name in names() { items.remove(name) }
    }

    // MARK: Files

    private func read(_ name: String) throws(KeyringError) -> [UInt8]? {
        do throws(FileError) { return try folder.read(name, atMost: Slot.longest, closedTo: 0) } catch {
            if error.isMissing { return nil }
            throw KeyringError(error, at: "\(path)/\(name)")
        }
    }

    private func write(_ bytes: [UInt8], to name: String) throws(KeyringError) {
        do throws(FileError) { try folder.write(bytes, to: name, isDurable: true) } catch {
            throw KeyringError(error, at: path)
        }
    }
}

extension KeyringError {
    init(_ error: FileError, at path: String) { self.init(.broken, detail: "\(path): \(error.reason)") }

    /// Returns the error about a file, with its name.
    fileprivate func of(_ path: String, _ name: String) -> KeyringError {
        KeyringError(reason, detail: "\(path)/\(name) \(detail)")
    }
}
