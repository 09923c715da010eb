import Foundation
import HTTPProbe
import TestSupport
import Testing

/// The builds of libcurl; a process has one of them.
enum Libcurl: String, CaseIterable, CustomTestStringConvertible {
    case openSSL = "OpenSSL"
    case gnuTLS = "GnuTLS"

    /// How Debian's tools are run: with nothing of the user's.
    static let bare = ["PATH": Programs.folder, "HOME": "/nonexistent", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"]
    static let probe = Built.folder + "/HTTPProbe"

    /// A folder in which the name of the one library leads to the other: the loader looks there first.
    private static let gnuTLSFolder: String = {
        let folder = Built.folder + "/libcurl-gnutls"
        mkdir(folder, 0o755)
        let places = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        for place in places where access("\(place)/libcurl-gnutls.so.4", R_OK) == 0 {
            // Other processes may make it at the same time.
            symlink("\(place)/libcurl-gnutls.so.4", "\(folder)/libcurl.so.4")
        }
        return folder
    }()

    var testDescription: String { rawValue }

    /// The environment of a process that opens this build.
    var environment: [String: String] {
        self == .openSSL ? Self.bare : Self.bare.merging(["LD_LIBRARY_PATH": Self.gnuTLSFolder]) { $1 }
    }

    /// Asks the probe, in a process of its own, which a launcher may prepare: a command that ends with the program to run.
    func ask(
        _ question: Question, _ variables: [String: String] = [:], in folder: String? = nil, by launcher: [String] = []
    ) async throws -> Reply {
        let command = launcher + [Self.probe]
        let ended = try await run(
            command[0], Array(command.dropFirst()), bytes: Array(try JSONEncoder().encode(question)),
            environment: environment.merging(variables) { $1 }, folder: folder)
        try #require(ended.status == 0, "\(ended)")
        let reply = try JSONDecoder().decode(Reply.self, from: Data(ended.output.utf8))
        try #require(reply.library.hasPrefix(rawValue), "\(reply.library)")
        return reply
    }
}

extension Reply {
    /// Whether the host's certificate is refused for this.
    func refuses(_ problem: String) -> Bool { reason?.hasPrefix("certificate(\(problem)") == true && !isOfProxy }
}

/// Waits until a condition holds.
func until(_ condition: () throws -> Bool, _ location: SourceLocation = #_sourceLocation) async throws {
    for _ in 0..<3_000 {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("what is waited for doesn't happen", sourceLocation: location)
}
