import Foundation
import TestSupport
import Testing

/// The command line, whatever happens before main.
@Suite struct ArgumentTests {
    /// libfaketime and similar libraries do this, too.
    private static let library = """
        #include <stdlib.h>
        __attribute__((constructor)) static void grow(void) { setenv("GROWN", "1", 1); }
        """

    /// The compiler may be anywhere, and may store files in the home.
    private static func make(_ words: [String], in home: Home) async throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? Programs.folder
        let ended = try await run(
            "/usr/bin/env", words, environment: ["HOME": home.folder, "PATH": path], folder: home.folder)
        #expect(ended.status == 0, "\(ended)")
    }

    // Only the statically linked runtime, as in installed programs, loses them.
    @Test func `arguments survive a library that adds to the environment`() async throws {
        try await Home.with { home in
            try home.write(Self.library, to: home.folder + "/grow.c")
            try await Self.make(["gcc", "-shared", "-fPIC", "-o", "grow.so", "grow.c"], in: home)
            try await Self.make(
                ["gcc", "-c", "-o", "arguments.o", Built.checkout + "/Sources/CLinux/arguments.c"], in: home)
            try home.write("print(CommandLine.arguments.dropFirst())", to: home.folder + "/main.swift")
            try await Self.make(["swiftc", "-static-stdlib", "-o", "tell", "main.swift", "arguments.o"], in: home)
            let grown = ["LD_PRELOAD": home.folder + "/grow.so"]
            let told = try await run(home.folder + "/tell", ["a", "b c"], environment: grown)
            #expect(told.output == "[\"a\", \"b c\"]\n", "\(told)")

            #expect(try await home.lanyard(["--version"], grown).lines.first?.hasPrefix("lanyard ") == true)
            let got = try await home.lanyard(["get"], grown)
            #expect(got.hasNoCredential, "\(got)")
        }
    }

    @Test(arguments: ["lanyard", "lanyard-authority", "lanyard-sandbox"])
    func `every program keeps its arguments`(name: String) async throws {
        let search = try await run(
            "/bin/sh", ["-c", "nm \"$0\" | grep -c ' keep_arguments$'", Built.folder + "/" + name],
            environment: ["PATH": Programs.folder])
        #expect(search.output == "1\n", "\(search)")
    }
}
