import Foundation
import TestSupport
import Testing

/// What `lanyard plugin new` writes works as it is.
@Suite struct NewPluginTests {
    @Test func `the tutorial shows what is written`() async throws {
        try await Home.with { home in
            let made = try await home.lanyard(["plugin", "new", "quill"])
            #expect(made.status == 0, "\(made)")
            let program = try home.text(home.folder + "/home/quill/quill.py")
            let tutorial = try home.text(Built.checkout + "/docs/plugin-tutorial.md")
            #expect(tutorial.contains("```python\n\(program)```\n"))
            #expect(program.split(separator: "\n").count <= 35)
        }
    }

    @Test(arguments: ["python", "sh", "swift"])
    func `a new plugin keeps to the protocol, and signs in at the made-up issuer`(_ language: String) async throws {
        try await World.with { world in
            let made = try await world.lanyard(["plugin", "new", "acme-login", "--language", language])
            #expect(made.status == 0, "\(made)")
            let folder = world.folder + "/work/acme-login"
            // The compiler may be anywhere.
            let path = "\(world.folder)/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? Programs.folder)
            let checked = try await run(
                folder + "/test.sh", [], environment: world.environment.merging(["PATH": path]) { $1 })
            #expect(checked.status == 0, "\(checked)")
            let authority = "\(world.sandbox.issuer.url)/quill"
            for (code, status, text) in [("4242", 0, "signed out"), ("0000", 1, "refuses")] {
                let tried = try await world.atTerminal(
                    ["\(world.folder)/bin/lanyard", "plugin", "try", folder, authority, "--renew", "--sign-out"],
                    answering: [("code that your fob shows: ", code)])
                #expect(tried.status == status && tried.output.contains(text), "\(tried)")
                #expect(!tried.output.contains("quill-again-"), "\(tried)")
            }
            let again = try await world.lanyard(["plugin", "new", "acme-login"])
            #expect(again.status == 1 && again.errors.contains("File exists"), "\(again)")
        }
    }
}
