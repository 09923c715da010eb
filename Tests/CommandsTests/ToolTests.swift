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

    /// A file that must have something of each tool that is served, and what to write there.
    struct Table: Sendable, CustomTestStringConvertible {
        let file: String
        let remedy: String
        /// What it has of a tool of this name, or of this type of protocol.
        let mark: @Sendable (_ tool: String, _ speech: String) -> String
        /// Who isn't in it, and why.
        var others: [String: String] = [:]
        var testDescription: String { file }
    }

    private static let tables =
        ["README.md", "docs/tools.md"].map { file in
            Table(
                file: file, remedy: "name it in the table of tools", mark: { tool, _ in tool },
                others: ["azure-cli": "programs run it, and no user", "azd": "programs run it, and no user"])
        } + [
            Table(
                file: "Tests/TestSupport/EveryTool.swift", remedy: "write an EveryTool, and add it to EveryTool.all",
                mark: { tool, _ in "description: \"\(tool)\"" }),
            Table(
                file: "Tests/ToolsTests/InvocationTests.swift", remedy: "write a row: Row(TOOL) { PROTOCOL(…) }",
                mark: { _, speech in " \(speech)(" }),
            Table(
                file: "Tests/Fuzz/ToolTargets.swift", remedy: "write a case in ToolCall.tool, and one in requireAnswer",
                mark: { _, speech in " \(speech)(" }, others: ["git": "RequestTargets has it"]),
        ]

    /// The names of the tools of each protocol, of which one is enough in a table, and those of programs that they replace.
    private static let speakers: [String: [String]] = Tool.names.reduce(into: [:]) { speakers, name in
        guard let trial = Tool.trial(of: name, for: "https://a.example/", ToolCall([])) else { return }
        let standIn = Tool.all.first { $0.name == name }?.standIn
        speakers["\(type(of: trial.tool))", default: []] += [name] + [standIn].compactMap(\.self)
    }

    @Test(arguments: tables) func `each tool is in every table`(_ table: Table) throws {
        let whole = try String(contentsOfFile: "\(Built.checkout)/\(table.file)", encoding: .utf8)
        let text = table.file.hasSuffix(".md") ? whole.lowercased() : whole
        for (speech, tools) in Self.speakers where !tools.contains(where: { table.others[$0] != nil }) {
            let isThere = tools.contains { text.contains(table.mark($0, speech)) }
            #expect(isThere, "\(table.file) lacks \(tools[0]): \(table.remedy)")
        }
        for tool in table.others.keys { #expect(Tool.names.contains(tool), "there is no tool \(tool)") }
    }

    @Test func `the manual's overview has every link and every tool`() throws {
        let page = try String(contentsOfFile: "\(Built.checkout)/man/lanyard-tools.7", encoding: .utf8)
        let entries = page.split(separator: "\n").filter { $0.hasPrefix(".It ") }.flatMap { $0.split(separator: " ") }
        for name in Tool.programs + Tool.names {
            #expect(
                entries.contains { $0 == name },
                "man/lanyard-tools.7 has no `.It` line with \(name) as a word of its own: write one")
        }
    }
}
