import Addresses
package import ArgumentParser
package import CommandKit
import JSON
import PluginWire
import Terminal

package struct DoctorCommand: Command {
    package static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the set-up and suggest fixes.",
        discussion: """
            Problems come first, each with a remedy. Unlocks nothing, and asks you nothing but, at a terminal without a \
            keyring, whether to create one. Without --online it connects to nothing but the session bus. The exit status \
            is 1 if something doesn't work, 0 otherwise.
            """)

    package static let examples: KeyValuePairs = [
        "Check the set-up": "lanyard doctor",
        "Find out whether the authorities answer too": "lanyard doctor --online",
        "Write a report for a bug report": "lanyard doctor --report >report.txt",
    ]

    @Flag(help: "Ask the authorities too: network, proxy, clock, client IDs, and whether sign-ins can be renewed.")
    var online = false

    @Flag(help: "Show every check, not only problems.")
    package var all = false

    @Flag(help: "Print JSON.")
    package var json = false

    @Flag(help: "Print a report for a bug report: no secrets, and no names of people, machines or organisations.")
    package var report = false

    package mutating func run(in context: CommandContext) async throws {
        let examination = Examination(context, isRedacted: report)
        var findings = await examination.findings(online: online)
        if report {
            let redaction = await Redaction(examination)
            findings = examination.systemFacts + findings
            findings = findings.map { $0.redacted(redaction) }
        }
        let summary = DoctorSummary(findings: findings)
        if json {
            context.console.print(json: summary.json)
        } else {
            let screen = Screen(context.console.output, environment: context.environment)
            for line in all || report ? summary.lines(on: screen) : summary.problemsFirst(on: screen) {
                context.console.print(line)
            }
            if !report {
                context.console.note(summary.verdict(showsAll: all, isOnline: online))
                try await examination.offerKeyring()
            }
        }
        guard summary.failures == 0 else { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    package init() {}
}

/// The result of all checks.
struct DoctorSummary: Sendable {
    let findings: [Finding]
    var failures: Int { findings.count { $0.level == .fail } }
    private var warnings: Int { findings.count { $0.level == .warn } }

    /// Returns a line for each finding with its remedies below, wrapped for the screen.
    func lines(on screen: Screen) -> [String] { Self.lines(findings, on: screen) }

    /// Returns the lines of the problems, the worst first, and only the names of checks without problems.
    func problemsFirst(on screen: Screen) -> [String] {
        let problems = [Finding.Level.fail, .warn].flatMap { level in findings.filter { $0.level == level } }
        let lines = Self.lines(problems, on: screen)
        let wrong = Set(problems.map(\.check))
        let names = findings.map(\.check).filter { !wrong.contains($0) }.uniqued
        guard !names.isEmpty else { return lines }
        let passes = names.joined(separator: ", ").wrapped(columns: screen.columns, indent: 6)
        return lines + ["\(Finding.Level.pass.word(on: screen))  \(passes)"]
    }

    private static func lines(_ findings: [Finding], on screen: Screen) -> [String] {
        let columns = screen.columns
        let texts = Table(findings.map { [$0.check, $0.message.text] }).wrapped(columns: columns, indent: 6)
        var shown: [String] = []
        return zip(findings, texts).flatMap { finding, text in
            // Shows each text to copy once, even if it helps with several findings, or is how another begins.
            let remedies = finding.remedies.filter { remedy in
                guard let copied = remedy.copied else { return true }
                defer { shown.append("\(copied) && ") }
                return !shown.contains { $0.hasPrefix("\(copied) && ") }
            }
            return ["\(finding.level.word(on: screen))  \(text)"]
                + remedies.map { "      -> \($0.wrapped(columns: columns, indent: 9))" }
        }
    }

    /// Returns a summary in one line, and how to find out more.
    func verdict(showsAll: Bool, isOnline: Bool) -> Hint {
        let counts = [(failures, "failure"), (warnings, "warning")].filter { $0.0 > 0 }
        let verdict =
            counts.isEmpty
            ? (isOnline ? "everything works" : "everything here works")
            : counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
        if failures == 0, !isOnline {
            return Hint("\(verdict); to ask the authorities too", run: "lanyard doctor --online")
        }
        return showsAll
            ? Hint("\(verdict)")
            : Hint("\(verdict); to see every check", run: "lanyard doctor\(flag: "--online", if: isOnline) --all")
    }

    /// The findings as JSON.
    var json: JSONValue {
        [
            "lanyard": .string(Version.current), "failures": .integer(Int64(failures)),
            "warnings": .integer(Int64(warnings)),
            "checks": .array(
                findings.map {
                    [
                        "check": .string($0.check), "level": .string($0.level.rawValue),
                        "text": .string($0.message.text),
                        "remedies": JSONValue(strings: $0.remedies.map(\.line)),
                    ]
                }),
        ]
    }
}

extension Finding {
    /// Returns the finding without what unknownAccountCodes may not see.
    fileprivate func redacted(_ redaction: Redaction) -> Finding {
        Finding(
            check: check, level: level, message: Message(verbatim: redaction.redacted(message.text)),
            remedies: remedies.map { Hint(Message(verbatim: redaction.redacted($0.line))) })
    }
}

extension Finding.Level {
    /// Returns the word, coloured if the screen has colours.
    fileprivate func word(on screen: Screen) -> String {
        guard screen.hasColours else { return rawValue }
        let colour =
            switch self {
            case .pass: 32
            case .warn: 33
            case .fail: 31
            }
        return "\u{1B}[\(colour)m\(rawValue)\u{1B}[0m"
    }
}
