import Foundation

/// A process of this machine, as the kernel tells of it.
package struct RunningProcess {
    /// Its number.
    package let number: Int32
    /// Its environment and its command line, as far as they can be read, with spaces between variables and words.
    package let text: String

    /// All that run now.
    package static var all: [RunningProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.map { number in
            let texts = ["environ", "cmdline"].map { text(of: "/proc/\(number)/\($0)") }
            return RunningProcess(number: number, text: texts.joined(separator: " "))
        }
    }

    private static func text(of file: String) -> String {
        let bytes = FileManager.default.contents(atPath: file) ?? Data()
        return String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
