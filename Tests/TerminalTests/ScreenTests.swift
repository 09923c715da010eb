import SystemPackage
import Testing

@testable import Terminal

/// Output if stderr isn't a terminal, and the environment's influence on colours.
@Suite struct ScreenTests {
    private static let colours: [([String: String], Bool)] = [
        (["TERM": "xterm"], false), (["CLICOLOR_FORCE": "1"], true), (["CLICOLOR_FORCE": "0"], false),
        (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false), (["CLICOLOR_FORCE": "1", "NO_COLOR": ""], true),
        (["CLICOLOR_FORCE": "1", "CLICOLOR": "0"], true), (["CLICOLOR_FORCE": "1", "TERM": "dumb"], true),
    ]

    @Test(arguments: colours)
    func `variables decide about colours where there is no terminal`(_ environment: [String: String], _ has: Bool)
        throws
    {
        let file = try FileDescriptor.open("/dev/null", .writeOnly)
        defer { try? file.close() }
        #expect(Screen(file, environment: environment).hasColours == has)
    }

    private static let locales: [([String: String], Bool)] = [
        (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true), (["LANG": "C"], false), ([:], false),
        (["LANG": "C.UTF-8", "LC_ALL": "C"], false), (["LC_CTYPE": "en_GB.UTF-8", "LANG": "C"], true),
    ]

    @Test(arguments: locales)
    func `the locale says whether text is UTF-8`(_ environment: [String: String], _ is8: Bool) {
        #expect(Screen(.standardError, environment: environment).isUTF8 == is8)
    }

    @Test(arguments: [(900, "15:00"), (59, "0:59"), (61, "1:01"), (0, "0:00"), (-3, "0:00"), (86_400, "1440:00")])
    func `what is left is told in minutes and seconds`(_ seconds: Int, _ text: String) {
        #expect(Duration.seconds(seconds).minutesAndSeconds == text)
        #expect((Duration.seconds(822) + .milliseconds(1)).minutesAndSeconds == "13:43")
    }
}
