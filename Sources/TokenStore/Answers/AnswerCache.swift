import Addresses
import Files

/// Answers given before, so that the next one needs neither keyring nor configuration nor plugin.
///
/// Each is a small file in the user's runtime directory, sealed with a key in the user's kernel keyring. Whatever changes
/// what is stored replaces the key, which makes every answer unreadable at once. An answer is sealed with the key that
/// was there *before* the store was read for it: one that was under way while something changed is unreadable from the
/// start. If there is no kernel keyring or no runtime directory nothing is kept, and nothing goes wrong.
public struct AnswerCache: Sendable, Equatable {
    private let runtimeDirectory: String?
    /// Stands for the session bus, and so for the keyring that answers are of.
    private let place: String
    /// One key for the user, whichever bus: each takes of the few that the kernel allows, and of few bytes.
    private let keyDescription: String

    /// The answers of the keyring that these variables lead to: one key for each session bus.
    ///
    /// - Parameter environment: `XDG_RUNTIME_DIR` and `DBUS_SESSION_BUS_ADDRESS` count.
    public init(environment: [String: String]) {
        self.init(environment: environment, keyDescription: "lanyard:answers")
    }

    /// The answers under another key than the user's own, which any lanyard of the user's may replace at any time.
    init(environment: [String: String], keyDescription: String) {
        self.keyDescription = keyDescription
        let runtimeDirectory = environment.absolutePath("XDG_RUNTIME_DIR")
        self.runtimeDirectory = runtimeDirectory
        var bus = environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        // Without a variable it is where systemd puts it; a guid says nothing about where.
        if bus.isEmpty { bus = runtimeDirectory.map { "unix:path=\($0)/bus" } ?? "" }
        place = bus.pieces(between: ",").filter { !$0.hasPrefix("guid=") }.map(String.init).joined(separator: ",")
    }

    /// The name of the answer that these fields and files decide, as far as these answers go.
    public func name(fields: [String?], files: [String]) -> AnswerCacheKey {
        AnswerCacheKey(fields: [place] + fields, files: files)
    }

    /// The key of this moment, made if there is none; nil if nothing can be kept.
    ///
    /// To be asked for before anything is read that decides an answer.
    public func key() -> AnswerEncryptionKey? {
        guard let runtimeDirectory, AnswerCacheFolder(in: runtimeDirectory, making: true) != nil else { return nil }
        return AnswerEncryptionKey.read(keyDescription) ?? AnswerEncryptionKey.replace(keyDescription)
    }

    /// The answer of that name, or nil; what is there and can't count any more is removed.
    public func answer(_ name: AnswerCacheKey, now: Int) -> [UInt8]? {
        guard let runtimeDirectory, let directory = AnswerCacheFolder(in: runtimeDirectory, making: false) else {
            return nil
        }
        switch directory.read(name.file) {
        case .nothing: return nil
        case .foreign: break
        case .bytes(let bytes):
            guard let sealed = SealedAnswer(bytes), sealed.counts(at: now) else { break }
            if let key = AnswerEncryptionKey.read(keyDescription), let answer = sealed.opened(name, key) {
                return answer
            }
        }
        directory.remove(name.file)
        return nil
    }

    /// Keeps an answer until a time in seconds since 1970, sealed with the key of before it was found.
    public func keep(_ answer: [UInt8], as name: AnswerCacheKey, now: Int, until: Int, key: AnswerEncryptionKey) {
        guard until > now, let runtimeDirectory,
            let directory = AnswerCacheFolder(in: runtimeDirectory, making: true),
            directory.sweep(at: now) < AnswerCacheFolder.mostFiles,
            let bytes = SealedAnswer.seal(answer, as: name, at: now, until: until, key)
        else { return }
        directory.write(bytes, to: name.file)
    }

    /// Removes the answer of that name.
    func remove(_ name: AnswerCacheKey) {
        guard let runtimeDirectory else { return }
        AnswerCacheFolder(in: runtimeDirectory, making: false)?.remove(name.file)
    }

    /// Makes every answer unreadable.
    ///
    /// The files go too, which takes them from processes that have another kernel keyring, as in some containers.
    public func forget() {
        _ = AnswerEncryptionKey.replace(keyDescription)
        guard let runtimeDirectory else { return }
        AnswerCacheFolder(in: runtimeDirectory, making: false)?.clear()
    }

    /// Makes a change to what answers are made of; no answer made before or during it is given after it.
    ///
    /// The key is replaced before as well: a process that is killed within the change leaves no older answer behind.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        forget()
        defer { forget() }
        return try body()
    }
}
