internal import Files
internal import Glibc

/// The files of the settings, compared by what is in them.
///
/// The system's notifications only make a change count sooner: there are none for a file on another machine, or for a
/// folder above a link.
struct SettingsWatch {
    /// Readable when something happens near the files; -1 if the system doesn't tell.
    let descriptor: CInt
    private let files: [String]
    /// What was in the files, nil for one that can't be read.
    private var contents: [[UInt8]?] = []

    /// The longest file that is compared, in bytes; the settings aren't read from a longer one.
    private static let longest = 1 << 20
    /// How often a file is read that is being written, and the pause before it is read again, in microseconds.
    private static let (attempts, pause) = (10, UInt32(10_000))

    init(_ files: [String]) {
        self.files = files
        descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
    }

    /// Whether there is something else in the files than when this was called last.
    mutating func hasChanged() -> Bool {
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
        // First, so that no change goes unnoticed after the files have been read.
        for file in files { watch(file) }
        var now = present()
        guard now != contents else { return false }
        // Not everybody replaces a file as a whole.
        for _ in 0..<Self.attempts {
            usleep(Self.pause)
            let before = now
            now = present()
            if now == before { break }
        }
        defer { contents = now }
        return now != contents
    }

    private func present() -> [[UInt8]?] {
        files.map { file in try? OpenFile(file).contents(atMost: Self.longest) }
    }

    /// Watches the folders that a file, or each link that leads to it, is in; if there is none, the nearest one above.
    private func watch(_ file: String) {
        var path = file
        for _ in 0..<40 {
            var folder = FileTrust.parent(of: path)
            while inotify_add_watch(descriptor, folder, Self.events) < 0, folder != "/", folder != "." {
                folder = FileTrust.parent(of: folder)
            }
            guard let target = FileStatus.linkTarget(of: path) else { return }
            path = target.hasPrefix("/") ? target : "\(FileTrust.parent(of: path))/\(target)"
        }
    }

    private static let events = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
}
