import Foundation
import PluginWire
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

/// What people are told about a page, and what their browser gets.
@Suite struct SignInTests {
    private static let subject: SignInSubject = {
        var request = PluginRequest(.authorize)
        request.authority = "https://evil.example/acme"
        request.clientID = "app"
        request.purpose = "https://git.evil.example/"
        return SignInSubject(request)
    }()

    @Test(arguments: [
        ("https://evil.example/authorize", "at evil.example/acme for git.evil.example/ (app app)"),
        (
            "https://honest.example/authorize",
            "at honest.example, on behalf of evil.example/acme for git.evil.example/ (app app)"
        ),
        (
            "https://evil.example:8443/authorize",
            "at evil.example:8443, on behalf of evil.example/acme for git.evil.example/ (app app)"
        ),
    ])
    func `a page at another host is shown with the authority that sent there`(_ page: String, _ text: String) {
        #expect(Self.subject.at(page).text == text)
    }

    @Test(arguments: [
        ("https://id.example/a?x=1&y=2", "https://id.example/a?x=1&y=2"),
        (
            "https://id.example/a?client_id=c&scope=a%20b+c&redirect_uri=http%3A%2F%2F127.0.0.1",
            "https://id.example/a?client_id=c&scope=a%20b+c&redirect_uri=http%3A%2F%2F127.0.0.1"
        ),
        ("https://id.example:8443", "https://id.example:8443"),
        ("https://id.example/a?x&y", "https://id.example/a?x=&y="),
        ("https://[::1]/a;touch", "https://[::1]/a%3Btouch"),
        ("https://id.example/$(id)?`id`='a'|b", "https://id.example/%24%28id%29?%60id%60=%27a%27%7Cb"),
        ("https://id.example/a?x=1&/tmp/evil", "https://id.example/a?x=1&%2Ftmp%2Fevil="),
    ])
    func `a URL for the browser keeps its meaning`(_ url: String, _ harmless: String) {
        #expect(url.withoutShellCharacters == harmless)
    }

    @Test(arguments: ["%s", "'%s'", "\"%s\""])
    func `nothing in a URL runs if a browser's command is a shell's`(_ place: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let touch = folder.appending(path: "touch").path
        try "#!/bin/sh\n: >\(folder.path)/PWNED\n".write(toFile: touch, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: touch)
        for tail in [
            ";\(touch)", "$(\(touch))", "`\(touch)`", "|\(touch)", "?a=1&\(touch)", "?a=1&touch", "?a=1&b;\(touch)",
            "?'\(touch)'", "?\"\(touch)\"", "?a=1&\(touch)&c=2", "?\u{e4}=<\(touch)>\(folder.path)/PWNED", "/{a,b}*",
            "?a='&\(touch)&'", "?a=\"&\(touch)&\"", "?a=1&\(touch)=x", "?a=1&>\(folder.path)/PWNED", "#;\(touch)",
        ] {
            let url = "https://id.example/\(tail)".withoutShellCharacters
            for shell in ["sh", "bash"] {
                let process = Process()
                process.executableURL = URL(filePath: "/bin/\(shell)")
                process.arguments = ["-c", "true \(place.replacing("%s", with: url))"]
                process.currentDirectoryURL = folder
                process.environment = ["PATH": "\(folder.path):/usr/bin:/bin"]
                process.standardError = FileHandle.nullDevice
                // Everything that runs in the background holds it, too.
                let output = Pipe()
                process.standardOutput = output
                try process.run()
                _ = try output.fileHandleForReading.readToEnd()
                process.waitUntilExit()
                let made = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(made == ["touch"], "\(shell): \(url)")
            }
        }
    }
}
