internal import Crypto

/// The contents of one file: when the answer was encrypted, until when it is valid, and the encrypted answer.
///
/// The format is a tag, two times in seconds since 1970 as big-endian numbers of eight bytes, then nonce, ciphertext
/// and tag of ChaCha20-Poly1305 (RFC 8439). The file's name and everything before the nonce is authenticated with the
/// answer.
struct SealedAnswer {
    /// The longest file, in bytes; more than the longest line of the protocol.
    static let longest = 1 << 17

    private static let tag = Array("lanyard1".utf8)
    private static let headLength = tag.count + 16

    private let head: [UInt8]
    private let box: ArraySlice<UInt8>
    private let sealedAt: Int
    private let until: Int

    /// Parses a file's contents, or their beginning; nil if they have another format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, bytes.starts(with: Self.tag) else { return nil }
        head = Array(bytes[..<Self.headLength])
        box = bytes[Self.headLength...]
        let start = Self.tag.count
        guard let sealedAt = Int(exactly: UInt64(bigEndianBytes: bytes[start..<start + 8])),
            let until = Int(exactly: UInt64(bigEndianBytes: bytes[start + 8..<start + 16]))
        else { return nil }
        self.sealedAt = sealedAt
        self.until = until
    }

    /// Whether the answer is valid at that time; false also if the clock was set back to before the answer was made.
    func counts(at now: Int) -> Bool { sealedAt <= now && now < until }

    /// Decrypts the answer; nil if it was encrypted with another key or for another name, or was changed since.
    func opened(_ name: AnswerCacheKey, _ key: AnswerEncryptionKey) -> [UInt8]? {
        guard let sealed = try? ChaChaPoly.SealedBox(combined: box),
            let answer = try? ChaChaPoly.open(sealed, using: key.symmetric, authenticating: name.digest + head)
        else { return nil }
        return Array(answer)
    }

    /// Encrypts an answer; returns the file's contents, or nil if they would be too long.
    static func seal(_ answer: [UInt8], as name: AnswerCacheKey, at now: Int, until: Int, _ key: AnswerEncryptionKey)
        -> [UInt8]?
    {
        guard let sealedAt = UInt64(exactly: now), let end = UInt64(exactly: until) else { return nil }
        let head = tag + sealedAt.bigEndianBytes + end.bigEndianBytes
        let box = try? ChaChaPoly.seal(answer, using: key.symmetric, authenticating: name.digest + head)
        guard let box else { return nil }
        let bytes = head + Array(box.combined)
        return bytes.count <= longest ? bytes : nil
    }
}
