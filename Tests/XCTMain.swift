import Foundation
import Testing

/// The entry point of the tests' process.
///
/// Without a file of this name, Swift Package Manager generates one, and for that it looks for XCTest tests in an index
/// of the whole build, which takes a third of the build's time. There are none: all tests use Swift Testing.
@main struct TestsProcess {
    static func main() async {
        // `swift test --filter` asks this first. An empty list would make it report that nothing matches.
        if CommandLine.arguments.contains("--dump-tests-json") {
            let error = "error: there are no tests of XCTest's"
            let hint = "hint: script/test --filter, or add --enable-swift-testing"
            for line in [error, hint] { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
            exit(1)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
