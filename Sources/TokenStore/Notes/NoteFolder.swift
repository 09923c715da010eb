internal import Files
internal import Glibc
internal import JSON

/// Small files of JSON in a folder of lanyard's own, each named by a digest of what it is about.
///
/// Nothing depends on them: what can't be read or written is passed over in silence.
struct NoteFolder: Sendable {
    /// The parent of lanyard's folder; nil if nothing is stored.
    let parent: String?
    let name: String
    /// The longest file, in bytes.
    let longest: Int

    func note(about subject: String) -> JSONValue? {
        guard let bytes = try? folder(making: false)?.read(Self.file(of: subject), atMost: longest) else { return nil }
        return JSONValue(bytes: bytes[...])
    }

    /// Whether there is a note about a subject that was written less than this many seconds ago.
    func has(noteAbout subject: String, youngerThan seconds: Int) -> Bool {
        guard let written = folder(making: false)?.status(of: Self.file(of: subject))?.modified else { return false }
        return (0..<seconds).contains(time(nil) - written)
    }

    /// Puts a note in place of any about the same, once room is made for it; others see all of it or nothing.
    func leave(_ note: JSONValue, about subject: String, makingRoom: (borrowing Folder) -> Void) {
        let bytes = note.encoded()
        guard bytes.count <= longest, let folder = folder(making: true) else { return }
        makingRoom(folder)
        try? folder.write(bytes, to: Self.file(of: subject), isDurable: false)
    }

    func remove(about subject: String) { folder(making: false)?.remove(Self.file(of: subject)) }

    private func folder(making: Bool) -> Folder? {
        guard let parent else { return nil }
        if making { Folder.make(parent) }
        return try? Folder(parent).privateFolder("lanyard", making: making).privateFolder(name, making: making)
    }

    private static func file(of subject: String) -> String { subject.digest + ".json" }
}
