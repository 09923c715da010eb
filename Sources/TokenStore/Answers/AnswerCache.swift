import Addresses
import Files

/// A cache of answers, which need neither the keyring nor the configuration nor a plugin when they are repeated.
///
/// Each answer is a small file in the user's runtime directory, encrypted with a key in the user's kernel keyring.
/// Every change to the store replaces the key, which makes all answers unreadable at once. An answer is encrypted with
/// the key from *before* the store was read for it, so an answer that was being made during a change is unreadable from
/// the start. Without a kernel keyring or a runtime directory, nothing is cached, and that is no error.
public struct AnswerCache: Sendable, Equatable {
    private let runtimeDirectory: String?
    /// The session bus, which identifies the keyring that the answers come from.
    private let place: String
    /// The description of the key; all buses share one, because the kernel allows a user only few keys and few bytes.
    private let keyDescription: String

    /// Creates the cache of the user's answers; those of different session buses are kept apart.
    ///
    /// - Parameter environment: The variables; `XDG_RUNTIME_DIR` and `DBUS_SESSION_BUS_ADDRESS` matter.
    public init(environment: [String: String]) {
        self.init(environment: environment, keyDescription: "lanyard:answers")
    }

    /// Creates a cache with another key than the user's own, which any lanyard process of the user may replace at any
    /// time.
    init(environment: [String: String], keyDescription: String) {
        self.keyDescription = keyDescription
        let runtimeDirectory = environment.absolutePath("XDG_RUNTIME_DIR")
        self.runtimeDirectory = runtimeDirectory
        var bus = environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        // Without the variable, the bus is where systemd puts it. A GUID says nothing about the location.
        if bus.isEmpty { bus = runtimeDirectory.map { "unix:path=\($0)/bus" } ?? "" }
        place = bus.pieces(between: ",").filter { !$0.hasPrefix("guid=") }.map(String.init).joined(separator: ",")
    }

    /// Returns the name of the answer that these fields and files decide, within this cache.
    public func name(fields: [String?], files: [String]) -> AnswerCacheKey {
        AnswerCacheKey(fields: [place] + fields, files: files)
    }

    /// Returns the current key, created if there is none; nil if nothing can be cached.
    ///
    /// Call this before reading anything that decides an answer.
    public func key() -> AnswerEncryptionKey? {
        guard AnswerCacheFolder(in: runtimeDirectory, making: true) != nil else { return nil }
        return AnswerEncryptionKey.read(keyDescription) ?? AnswerEncryptionKey.replace(keyDescription)
    }

    /// Returns the answer with this name; nil if there is none.
    ///
    /// A file that is no longer valid is removed.
    public func answer(_ name: AnswerCacheKey, now: Int) -> [UInt8]? {
        guard let directory = AnswerCacheFolder(in: runtimeDirectory, making: false) else { return nil }
        do throws(FileProblem) {
            if let sealed = SealedAnswer(try directory.read(name.file)), sealed.counts(at: now),
                let key = AnswerEncryptionKey.read(keyDescription), let answer = sealed.opened(name, key)
            {
                return answer
            }
        } catch {
            if error.isMissing { return nil }
        }
        directory.remove(name.file)
        return nil
    }

    /// Caches an answer until a time in seconds since 1970, encrypted with the key from before it was found.
    public func keep(_ answer: [UInt8], as name: AnswerCacheKey, now: Int, until: Int, key: AnswerEncryptionKey) {
        guard until > now, let directory = AnswerCacheFolder(in: runtimeDirectory, making: true),
            directory.sweep(at: now) < AnswerCacheFolder.mostFiles,
            let bytes = SealedAnswer.seal(answer, as: name, at: now, until: until, key)
        else { return }
        directory.write(bytes, to: name.file)
    }

    func remove(_ name: AnswerCacheKey) {
        AnswerCacheFolder(in: runtimeDirectory, making: false)?.remove(name.file)
    }

    /// Makes every answer unreadable.
    ///
    /// The files are removed, too, so that processes with another kernel keyring, as in some containers, can't use them.
    public func forget() {
        _ = AnswerEncryptionKey.replace(keyDescription)
        AnswerCacheFolder(in: runtimeDirectory, making: false)?.clear()
    }

    /// Runs a change to the data that answers are based on; no answer made before or during it is used after it.
    ///
    /// The key is also replaced before the change: if the process is killed during it, no older answer remains usable.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        forget()
        defer { forget() }
        return try body()
    }
}
