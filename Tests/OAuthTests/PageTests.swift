import Foundation
import Subprocess
import SystemPackage
import Testing

@testable import OAuth

/// The loopback port's pages, rendered by Chromium.
struct PageTests {
    private static let pages: [String: LoopbackPage] = [
        "success": .success, "declined": .declined, "failure": .failure, "expired": .expired,
        "wrong-state": .wrongState, "code-in-address": .codeInAddress, "not-here": .notHere,
        "wrong-method": .wrongMethod, "wrong-host": .wrongHost, "wrong-type": .wrongType, "too-large": .tooLarge,
        "other-user": .otherUser, "success-told": told(.success), "failure-told": told(.failure, isFailure: true),
        "declined-told": told(.declined), "hostile": hostile,
    ]

    /// Returns a page with all details of a sign-in.
    private static func told(_ page: LoopbackPage, isFailure: Bool = false) -> LoopbackPage {
        var page = page
        page.facts = [
            LoopbackPage.Fact("Account", "alice@contoso.example"),
            LoopbackPage.Fact("For", "https://git.contoso.example/a-long-name-of-a-team/and-of-its-repository.git"),
            LoopbackPage.Fact("Application", "tools (5a4d1b0c-7a0e-4c5b-9d2e-6c616e796172)"),
            LoopbackPage.Fact("Authority", "https://login.example/c0a70500-0000-4000-8000-00000c0a7050"),
        ].compactMap(\.self)
        guard isFailure else { return page }
        page.quote = "E53003: Access has been blocked by Conditional Access policies."
        page.report = [
            LoopbackPage.Fact("Error code", "E53003"),
            LoopbackPage.Fact("Correlation ID", "0d6f2f6e-7a3c-4c3d-9d57-0b8f3f6a3a11"),
            LoopbackPage.Fact("Trace ID", nil),
            LoopbackPage.Fact("Time", "2026-01-31 12:34:56Z"),
        ].compactMap(\.self)
        return page
    }

    private static let markup = "\"><script>document.title = 'x'</script><img src='https://evil.example/'>&amp;"

    /// A page whose texts all try to inject markup, and are longer than any real one.
    private static var hostile: LoopbackPage {
        let text = markup + String(repeating: "W\u{202E}\u{7}", count: 1_000)
        var page = LoopbackPage(.stopped, title: markup, text: markup)
        page.quote = text
        page.report = [LoopbackPage.Fact(markup, text)].compactMap(\.self)
        page.facts = [LoopbackPage.Fact("Account", text)].compactMap(\.self)
        return page
    }

    private struct Look: Decodable {
        let title: String
        let heading: String
        let headings: Int
        let lang: String
        let focus: String
        let contrast: Double
        let dark: Bool
        let overflows: Bool
        let loaded: [String]
        let moves: Int
        let scripts: Int
        let text: String
        let complaints: [String]
    }

    @Test func `every page is whole, readable and still, light and dark, on a desktop and a phone`() async throws {
        let listener = try await LoopbackListener.open(port: nil)
        let server = Task {
            await listener.serve(
                answer: { Self.pages[String($0.target.dropFirst().prefix { $0 != "?" })] ?? .notHere },
                delivered: { _ in })
        }
        defer { server.cancel() }
        let names = Self.pages.keys.sorted()
        let looks = try await Self.look(at: names.map { "http://127.0.0.1:\(listener.port)/\($0)" })
        #expect(looks.count == names.count * 6)
        for (index, look) in looks.enumerated() {
            let page = try #require(Self.pages[names[index / 6]])
            #expect(look.title == "\(page.title) · lanyard" && look.heading == page.title && look.headings == 1)
            #expect(look.text.contains(page.text))
            for fact in page.report + page.facts { #expect(look.text.contains(fact.value), "\(fact)") }
            #expect(look.lang == "en")
            #expect(look.focus == "H1", "whoever can't see the page hears the outcome first")
            #expect(look.contrast >= 7, "\(page.title): \(look.contrast)")
            #expect(look.dark == (index % 6 >= 3))
            #expect(!look.overflows, "\(page.title)")
            #expect(look.loaded.isEmpty && look.scripts == 0 && look.moves == 0)
            #expect(look.complaints.isEmpty, "\(look.complaints)")
        }
    }

    @Test func `a page is small, and its policy lets nothing but its own style through`() {
        for page in Self.pages.values {
            #expect(page.content.utf8.count < (page == Self.hostile ? 10_000 : 6_000))
            #expect(
                !page.content.contains("<script") && !page.content.contains("<img") && !page.content.contains("\u{7}"))
            #expect(page.content.components(separatedBy: "href=\"").count == 2 && !page.content.contains("src=\""))
        }
        let headers = Dictionary(LoopbackPage.headers, uniquingKeysWith: { first, _ in first })
        #expect(headers["content-security-policy"]?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
        #expect(headers["content-security-policy"]?.contains("unsafe") == false)
        #expect(headers["cache-control"] == "no-store" && headers["referrer-policy"] == "no-referrer")
    }

    /// Renders each page in two colour schemes and two widths; screenshots go to `$LANYARD_SCREENSHOTS`.
    private static func look(at urls: [String]) async throws -> [Look] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let screenshots = ProcessInfo.processInfo.environment["LANYARD_SCREENSHOTS"] ?? ""
        let browser = try await Subprocess.run(
            .path(FilePath(tests.path + "/TestSupport/Scripts/chromium-look")),
            arguments: Arguments([screenshots] + urls),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        #expect(browser.terminationStatus.isSuccess, "\(browser.terminationStatus) \(browser.standardError)")
        return try browser.standardOutput.split(separator: "\n").map {
            try JSONDecoder().decode(Look.self, from: Data($0.utf8))
        }
    }
}
