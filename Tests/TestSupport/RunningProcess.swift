import Foundation

/// A process of this machine, as reported by the kernel.
package struct RunningProcess {
    /// The process ID.
    package let number: Int32
    /// The environment and command line, as far as they are readable, with spaces between variables and words.
    package let text: String

    /// All running processes.
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
