import PluginHost
import TestSupport
import Testing

@testable import LanyardCommands

@Suite struct KindTests {
    @Test func `help names every kind of the plugins that come with lanyard`() {
        let registry = PluginRegistry.discover(environment: [:], executable: Built.lanyard)
        #expect(RuleOptions.kinds == Set(registry.plugins.flatMap(\.kinds)).sorted())
        #expect(RuleOptions.exchanges == Set(registry.plugins.flatMap(\.exchanges).map(\.name)).sorted())
    }
}
