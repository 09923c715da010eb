import ArgumentParser
import CommandKit
import Tools

extension ToolVerb {
    fileprivate static let all: [ToolVerb] = Tool.all.compactMap(\.verb)

    /// The commands for the argument parser.
    static var commands: [any ParsableCommand.Type] { TableIndices.types(all.count).map { $0.verb } }
}

extension TableIndex {
    fileprivate static var verb: any ParsableCommand.Type {
        let verb = ToolVerb.all[index]
        guard verb.usage == nil else { return ProgramVerbCommand<Self>.self }
        return verb.isOptional ? OptionalURLVerbCommand<Self>.self : URLVerbCommand<Self>.self
    }
}

/// A verb that takes a URL.
private protocol URLVerb: ServedCommand {
    static var verb: ToolVerb { get }
}

extension URLVerb {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: verb.name, abstract: verb.abstract, discussion: verb.discussion, shouldDisplay: false)
    }

    static var examples: KeyValuePairs<String, String> { verb.examples }
}

private struct URLVerbCommand<Index: TableIndex>: URLVerb {
    static var verb: ToolVerb { ToolVerb.all[Index.index] }

    @Argument(help: ArgumentHelp(Self.verb.argument)) var url: String
}

private struct OptionalURLVerbCommand<Index: TableIndex>: URLVerb {
    static var verb: ToolVerb { ToolVerb.all[Index.index] }

    @Argument(help: ArgumentHelp(Self.verb.argument)) var url: String?
}

/// A verb that stands in for a program, for SDKs.
private struct ProgramVerbCommand<Index: TableIndex>: ServedCommand {
    private static var verb: ToolVerb { ToolVerb.all[Index.index] }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: verb.name, abstract: verb.abstract, usage: verb.usage, discussion: verb.discussion,
            shouldDisplay: false)
    }

    static var examples: KeyValuePairs<String, String> { verb.examples }

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp(verb.argument))
    var arguments: [String] = []
}

/// A place in a table, as a type: the argument parser knows commands only as types, and tools are values.
protocol TableIndex: Sendable {
    static var index: Int { get }
}

/// The places of a table.
enum TableIndices {
    private enum First: TableIndex { static var index: Int { 0 } }
    private enum After<Index: TableIndex>: TableIndex { static var index: Int { Index.index + 1 } }

    /// Returns the first places.
    static func types(_ count: Int) -> [any TableIndex.Type] { types(count, from: First.self) }

    private static func types<Index: TableIndex>(_ count: Int, from place: Index.Type) -> [any TableIndex.Type] {
        count == 0 ? [] : [place] + types(count - 1, from: After<Index>.self)
    }
}
