import PluginHost
import TestSupport
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

@Suite struct KindTests {
    @Test func `help names every kind of the plugins that come with lanyard`() {
        let registry = PluginRegistry.discover(environment: [:], executable: Built.lanyard)
        #expect(RuleOptions.kinds == Set(registry.plugins.flatMap(\.kinds)).sorted())
        #expect(RuleOptions.exchanges == Set(registry.plugins.flatMap(\.exchanges).map(\.name)).sorted())
    }

    @Test func `help names every source of assertions that the manifests know`() {
        func names(_ sources: [String]) -> Set<String> {
            Set(sources.compactMap { $0.split(separator: ":").first.map(String.init) })
        }
        let registry = PluginRegistry.discover(environment: [:], executable: Built.lanyard)
        let known = names(registry.plugins.flatMap(\.identityPatterns).compactMap(\.assertion))
        #expect(known.count == 4)
        #expect(known.isSubset(of: names(ApplicationOptions.assertions)))
    }
}
