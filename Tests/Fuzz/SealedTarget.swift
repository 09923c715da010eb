@testable import AnswerCache
@testable import Keyring

extension FuzzTarget {
    /// A sealed answer.
    ///
    /// The first three bytes say which byte to change and how, the rest is the answer.
    static let sealed = FuzzTarget("sealed") { input in
        try require(SealedAnswer(input)?.opened(name, key) == nil, "a file that nobody sealed was opened")
        guard input.count > 3 else { return }
        let answer = Array(input.dropFirst(3))
        guard let bytes = SealedAnswer.seal(answer, as: name, at: 1000, until: 2000, key) else { return }
        try require(SealedAnswer(bytes)?.opened(name, key) == answer, "what was sealed isn't what is opened")
        var changed = bytes
        let place = (Int(input[0]) << 8 | Int(input[1])) % bytes.count
        changed[place] ^= input[2] == 0 ? 1 : input[2]
        try require(SealedAnswer(changed)?.opened(name, key) == nil, "byte \(place) may be another")
        let short = Array(bytes.prefix(place))
        try require(SealedAnswer(short)?.opened(name, key) == nil, "it may end at byte \(place)")
        try require(SealedAnswer(bytes + [input[2]])?.opened(name, key) == nil, "it may go on")
    }

    private static let key = AnswerEncryptionKey.random()
    private static let name = AnswerCacheKey(fields: ["fuzz"], files: [])
}
