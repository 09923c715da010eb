import Claims
import Foundation
import PluginHost
import PluginWire
import SettingsFile
import TestSupport
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

@Suite struct DescriptionTests {
    @Test func `a release has one version in every file that states it`() throws {
        let registry = PluginRegistry.discover(environment: [:], executable: Built.lanyard)
        #expect(!registry.plugins.isEmpty && registry.plugins.allSatisfy { $0.version == Version.current })
        let project = try text("python/keyring-lanyard/pyproject.toml").split(separator: "\n")
        #expect(project.contains("version = \"\(Version.current)\""))
        let newest = try text("CHANGELOG.md").split(separator: "\n").first {
            $0.hasPrefix("## [") && $0.dropFirst(4).first?.isNumber == true
        }
        #expect(newest?.hasPrefix("## [\(Version.current)]") == true)
    }

    @Test(arguments: SignInParameter.allCases) func `each sign-in parameter is an option`(parameter: SignInParameter) {
        let lanyard = CommandTree.lanyard
        #expect(lanyard.subcommand("login")?.option(parameter.option) != nil)
        guard SignInParameter.ofRules.contains(parameter) else { return }
        #expect(lanyard.subcommand("rule")?.subcommand("add")?.option(parameter.option) != nil)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(Built.checkout)/\(path)", encoding: .utf8)
    }
}
