import Foundation
import Subprocess
import SystemPackage
import Testing

@testable import OAuth

/// The loopback port's pages, as Chromium shows them.
struct PageTests {
    private static let pages: [String: LoopbackPage] = [
        "success": .success, "declined": .declined, "failure": .failure, "expired": .expired,
        "wrong-state": .wrongState, "code-in-address": .codeInAddress, "not-here": .notHere,
        "wrong-method": .wrongMethod, "wrong-host": .wrongHost, "wrong-type": .wrongType, "too-large": .tooLarge,
    ]

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
        #expect(looks.count == names.count * 4)
        for (index, look) in looks.enumerated() {
            let page = try #require(Self.pages[names[index / 4]])
            #expect(look.title == page.title && look.heading == page.title && look.headings == 1)
            #expect(look.text.contains(page.text))
            #expect(look.lang == "en")
            #expect(look.focus == "H1", "whoever can't see the page hears the outcome first")
            #expect(look.contrast >= 7, "\(page.title): \(look.contrast)")
            #expect(look.dark == (index % 4 >= 2))
            #expect(!look.overflows, "\(page.title)")
            #expect(look.loaded.isEmpty && look.scripts == 0 && look.moves == 0)
            #expect(look.complaints.isEmpty, "\(look.complaints)")
        }
    }

    @Test func `a page is small, and its policy lets nothing but its own style through`() {
        for page in Self.pages.values {
            #expect(page.html.utf8.count < 3000)
            #expect(!page.html.contains("http://") && !page.html.contains("https://") && !page.html.contains("<script"))
        }
        let headers = Dictionary(LoopbackPage.headers, uniquingKeysWith: { first, _ in first })
        #expect(headers["content-security-policy"]?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
        #expect(headers["content-security-policy"]?.contains("unsafe") == false)
        #expect(headers["cache-control"] == "no-store" && headers["referrer-policy"] == "no-referrer")
    }

    /// Two schemes by two widths for each page; screenshots go to `$LANYARD_SCREENSHOTS`.
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
