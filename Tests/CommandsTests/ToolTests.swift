import Foundation
import TestSupport
import Testing
import Tools

@Suite struct ToolTests {
    @Test(arguments: Tool.programs) func `a link's name is enough to be served`(program: String) {
        #expect(Tool.served(program: program, arguments: []) != nil)
    }

    @Test func `each tool has one name, and can be played`() {
        #expect(Set(Tool.names).count == Tool.names.count)
        for name in Tool.names {
            #expect(Tool.trial(of: name, for: "https://a.example/", ToolCall([])) != nil)
        }
        #expect(Tool.trial(of: "dockr", for: "https://a.example/", ToolCall([])) == nil)
    }

    @Test(arguments: Tool.all.filter { $0.standIn == nil && Tool.names.contains($0.name) }.map(\.name))
    func `every page has each tool`(name: String) throws {
        for page in ["README.md", "docs/tools.md", "man/lanyard-tools.7"] {
            let text = try String(contentsOfFile: "\(Built.checkout)/\(page)", encoding: .utf8).lowercased()
            #expect(text.contains(name), "\(page) lacks \(name)")
        }
    }

    @Test(arguments: Tool.all.filter { $0.standIn == nil && $0.verb != nil }.map(\.name))
    func `each command for a tool is tested as all tools are`(name: String) {
        #expect(EveryTool.all.contains { $0.description.hasPrefix(name) }, "EveryTool lacks \(name)")
    }

    @Test func `the manual's overview has every link and every tool`() throws {
        let page = try String(contentsOfFile: "\(Built.checkout)/man/lanyard-tools.7", encoding: .utf8)
        let entries = page.split(separator: "\n").filter { $0.hasPrefix(".It ") }.flatMap { $0.split(separator: " ") }
        for name in Tool.programs + Tool.names {
            #expect(entries.contains { $0 == name }, "\(name)")
        }
    }
}
