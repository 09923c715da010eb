import AuthorityFixture
import Foundation
import HTTPProbe
import TestSupport
import Testing

/// The library itself.
struct LibcurlTests {
    @Test(arguments: Libcurl.allCases)
    func `each build of libcurl is opened, whichever there is`(_ build: Libcurl) async throws {
        try await TLSServer.run(.host("localhost")) { server in
            let reply = try await build.ask(Question("https://localhost:\(server.port)/", caFiles: [server.caFile]))
            #expect(reply.status == 404 && reply.library.hasPrefix(build.rawValue))
        }
    }

    /// Asks a probe for which files of these names stand before the libraries.
    private func ask(_ files: [String], _ peer: Question.Peer) async throws -> Reply {
        try await ScratchDirectory.with { folder in
            for name in files { _ = try folder.write("", to: name) }
            var question = Question("https://id.example/")
            question.peer = peer
            let ended = try await run(
                Libcurl.probe, [], bytes: Array(try JSONEncoder().encode(question)),
                environment: Libcurl.bare.merging(["LD_LIBRARY_PATH": folder.path]) { $1 })
            try #require(ended.status == 0, "\(ended)")
            return try JSONDecoder().decode(Reply.self, from: Data(ended.output.utf8))
        }
    }

    @Test func `without OpenSSL's build GnuTLS's is taken`() async throws {
        #expect(try await ask(["libcurl.so.4"], .nobody).library.hasPrefix("GnuTLS"))
        #expect(try await ask([], .nobody).library.hasPrefix("OpenSSL"))
    }

    @Test func `without any the packages to install are named`() async throws {
        let files = ["libcurl.so.4", "libcurl-gnutls.so.4"]
        let reply = try await ask(files, .server)
        #expect(reply.reason?.hasPrefix("library(") == true && reply.reason?.contains("libcurl") == true, "\(reply)")
        #expect(!reply.mayHaveArrived && reply.library.isEmpty)
        let shown = try await ask(files, .authority)
        #expect(shown.message?.hasPrefix("libcurl can't be used: ") == true, "\(shown)")
        for package in ["apt install libcurl4", "dnf install libcurl", "pacman -S curl"] {
            #expect(shown.hint?.contains(package) == true)
        }
    }
}
