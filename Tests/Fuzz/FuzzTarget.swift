import Glibc

/// An entry point for outside input, and the properties that must hold for any input.
struct FuzzTarget: Sendable {
    /// The name for `script/fuzz --target`, and of the folder of its inputs in Corpus.
    let name: String
    private let body: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.body = body
    }

    static let all = [
        request, url, address, rule, challenge, config, manifest, answer, pluginRequest, json, document, authority,
        callback, sealed, keyring, words, completion, display, tool, platform, redemption,
        credentialFiles,
    ]

    /// Checks one input.
    ///
    /// The time is this thread's own, so that a busy machine causes no findings; the limit is far above what any input
    /// needs.
    ///
    /// - Throws: `Finding` if a property is violated, or the input takes far more time than its length explains.
    func check(_ input: [UInt8]) throws {
        let start = Self.seconds
        try body(input)
        let spent = Self.seconds - start
        try require(spent < 3 + Double(input.count) / 4096, "\(input.count) bytes took \(spent) s of computing")
    }

    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A property that an input violates.
struct Finding: Error, CustomStringConvertible {
    let description: String
}

/// Throws a finding unless the property holds.
func require(_ holds: Bool, _ text: @autoclosure () -> String) throws {
    if !holds { throw Finding(description: text()) }
}

/// Returns the value, or nil if an error other than a finding was thrown, because rejecting an input is always valid.
func accepted<Value>(_ body: () throws -> Value) -> Value? {
    try? body()
}

/// Throws a finding with the first difference unless both have the same bytes.
func requireSame(_ some: [UInt8], _ others: [UInt8]?, _ text: String) throws {
    guard some != others else { return }
    let others = others ?? []
    let start = max(zip(some, others).prefix { $0 == $1 }.count - 40, 0)
    let shown = [some, others].map { String(decoding: $0.dropFirst(start).prefix(160), as: UTF8.self) }
    throw Finding(description: "\(text)\n  \(shown[0])\n  \(shown[1])")
}

extension [UInt8] {
    /// The text; nil if the bytes aren't UTF-8.
    var text: String? { String(validating: self, as: UTF8.self) }

    /// Returns the parts between bytes of this value, including empty ones.
    func parts(_ separator: UInt8, atMost count: Int = .max) -> [[UInt8]] {
        split(separator: separator, maxSplits: count == .max ? .max : count - 1, omittingEmptySubsequences: false)
            .map { Array($0) }
    }

    /// The bytes with A to Z in lower case.
    var lowercasedASCII: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 } }

    /// The bytes with escapes such as `%41` decoded; invalid escapes stay unchanged.
    var percentDecoded: [UInt8] {
        var decoded: [UInt8] = []
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "%"), index + 2 < count, let high = hexValue(self[index + 1]),
                let low = hexValue(self[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(self[index])
                index += 1
            }
        }
        return decoded
    }
}

private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}
