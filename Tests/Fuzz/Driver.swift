import Glibc

/// Drives one target with libFuzzer: `Fuzz TARGET [OPTION...] [FILE-OR-FOLDER...]`, with libFuzzer's options.
@main
struct Driver {
    /// The target, set once before libFuzzer starts.
    nonisolated(unsafe) static var target: FuzzTarget?

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count > 1, let target = FuzzTarget.all.first(where: { $0.name == arguments[1] }) else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            exit(arguments.count > 1 ? 64 : 0)
        }
        self.target = target
        let words = [arguments[0]] + arguments.dropFirst(2)
        var count = CInt(words.count)
        // libFuzzer keeps them for as long as it runs.
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = .allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { values[index] = strdup(word) }
        values[words.count] = nil
        exit(runFuzzer(&count, &values, testOneInput))
    }
}

/// Checks one input from libFuzzer; a finding ends the process, so that libFuzzer saves the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try Driver.target?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        let line = Array("finding: \(error)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        abort()
    }
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ values: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
