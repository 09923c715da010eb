import Addresses
import CommandKit
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal

extension CommandContext {
    /// Returns what keeps a source from being looked up, as far as that shows without starting anything; nil if nothing does.
    func fault(inSource text: String, options: [String: [String: String]]) -> CommandError? {
        let (name, reference) = PluginRegistry.parts(ofSource: text)
        guard let (plugin, row) = registry.source(named: name) else { return nil }
        guard !row.needsReference || !reference.isEmpty else { return CommandError(entryless: name) }
        for (option, value) in (options[plugin.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
            do throws(CommandError) { _ = try pluginOption("plugin.\(plugin.name).\(option)", value: value) } catch {
                return error
            }
        }
        guard let program = row.row.program.first, !program.hasBytes("{"), self.program(program) == nil else {
            return nil
        }
        return CommandError("\(program) is not installed", hints: ["install it, or change the rule's `source`"])
    }
}

extension Session {
    /// The step for a rule with a source.
    func lookup(in source: String) -> Explanation.Next {
        context.fault(inSource: source, options: configuration.pluginOptions).map { .init($0) }
            ?? .init(step: .authenticate, text: "look it up in \(source.displayable(limit: 200)), and answer")
    }
}
