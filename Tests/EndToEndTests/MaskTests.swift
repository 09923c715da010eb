import Foundation
import Glibc
import TestSupport
import Testing

/// Tokens in the logs of CI services: masked there, with the masking commands nowhere else.
@Suite struct MaskTests {
    struct Step: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let script: String
        var isHidden = true

        init(_ name: String, _ script: String, isHidden: Bool = true) {
            testDescription = name
            self.script = script
            self.isHidden = isHidden
        }
    }

    /// Steps that write the token to the file `token`, and show it.
    static let steps = [
        Step("into a variable", #"token=$(lanyard token "$URL"); printf %s "$token" >token; echo "token $token.""#),
        Step("into the log", #"lanyard token "$URL" | tee token"#),
        Step("onto the log alone", #"lanyard token "$URL" >token; lanyard token "$URL"; lanyard token --json "$URL""#),
        Step("to a command", #"lanyard exec "$URL" -- sh -c 'printf %s "$LANYARD_ACCESS_TOKEN" >token; cat token'"#),
        Step("by another shell", #"bash -c 'sh -c "lanyard token $URL >token" || exit'; cat token"#),
        Step("behind others' words", #"printf 'at work ' >&2; lanyard token "$URL" >token; cat token"#),
        Step("as a header", #"lanyard token --header "$URL" | sed 's/.* //' >token; cat token"#),
        Step("without a log", #"lanyard token "$URL" >token 2>errors; cat token errors"#, isHidden: false),
        Step(
            "with the errors", #"token=$(lanyard token "$URL" 2>&1); printf %s "$token" >token; cat token"#,
            isHidden: false),
        Step("errors elsewhere", #"lanyard token "$URL" 2>&1 >token | tee errors; cat token"#, isHidden: false),
        Step(
            "a script's errors", #"sh -c 'lanyard token "$URL" >token; true' 2>errors; cat token errors"#,
            isHidden: false),
    ]

    static let jobs: [[String]] =
        [["github"], ["azure", "--task"], ["azure"], ["github", "--task"]]
        + (Namespaces.areAvailable ? [["github", "--container"]] : [])

    @Test(arguments: jobs)
    func `a token that reaches the log is hidden, and what hides it goes nowhere else`(job: [String]) async throws {
        try await World.with { world in
            let environment = world.environment.merging([
                "URL": "\(world.sandbox.resource)/contoso/hello.git", "LANYARD_IDENTITY": "pipeline",
            ]) { $1 }
            for step in Self.steps {
                // Services write a step's script to a file.
                try step.script.write(toFile: world.folder + "/work/step", atomically: true, encoding: .utf8)
                let ended = try await run(
                    Built.checkout + "/Tests/TestSupport/Scripts/job",
                    job + ["--", "bash", "-e", "-o", "pipefail", "step"], environment: environment,
                    folder: world.folder + "/work")
                #expect(ended.status == 0, "\(step) \(ended)")
                let token = try String(contentsOfFile: world.folder + "/work/token", encoding: .utf8)
                #expect(token.hasPrefix("ey") && token.count { $0.isWhitespace } <= 1, "\(step) \(token)")
                let errors = try? String(contentsOfFile: world.folder + "/work/errors", encoding: .utf8)
                #expect(errors?.isEmpty != false, "\(step) \(errors ?? "")")
                try? FileManager.default.removeItem(atPath: world.folder + "/work/errors")
                let shown = token.trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(ended.output.contains(shown) != step.isHidden, "\(step) \(ended)")
                #expect(ended.output.contains("***") == step.isHidden, "\(step) \(ended)")
                #expect(!ended.output.contains("add-mask") && !ended.output.contains("##vso"), "\(step) \(ended)")
            }
        }
    }

    /// Commands of a shell that is no job's; `contained` runs a program as in a container.
    static let others = seen + (Namespaces.areAvailable ? unseen : [])
    private static let seen = [
        #"GITHUB_ACTIONS=true lanyard token "$URL" | cat >out"#,
        #"GITHUB_ACTIONS=true lanyard token "$URL" 2>/dev/null | cat >out"#,
        #"GITHUB_ACTIONS=true lanyard exec "$URL" -- true 2>&1 | cat >out"#,
        #"token=$(GITHUB_ACTIONS=true lanyard token "$URL" 2>&1); echo "$token" >out"#,
        #"export TF_BUILD=True; token=$(lanyard token "$URL"); echo "$token" >out"#,
        #"export TF_BUILD=True; sh -c 'lanyard token "$URL"; true' 2>&1 | cat >out"#,
        #"export TF_BUILD=True; token=$(sh -c 'lanyard token "$URL"; true' 2>&1); echo "$token" >out"#,
        #"export TF_BUILD=True; sh -c 'lanyard exec "$URL" -- true; true' 2> >(cat >out); wait $!"#,
    ]
    private static let unseen = [
        #"token=$(GITHUB_ACTIONS=true contained lanyard token "$URL"); echo "$token" >out"#,
        #"token=$(GITHUB_ACTIONS=true contained lanyard token "$URL" 2>&1); echo "$token" >out"#,
        #"GITHUB_ACTIONS=true contained lanyard token "$URL" 2>&1 | cat >out"#,
        #"token=$(TF_BUILD=True contained sh -c 'lanyard token "$URL"; true'); echo "$token" >out"#,
        #"token=$(TF_BUILD=True contained sh -c 'lanyard token "$URL" 2>&1; true'); echo "$token" >out"#,
    ]

    @Test(arguments: others)
    func `what hides a token goes to nobody who only looks like a job`(script: String) async throws {
        try await World.with { world in
            let environment = world.environment.merging([
                "URL": "\(world.sandbox.resource)/contoso/hello.git", "LANYARD_IDENTITY": "pipeline",
            ]) { $1 }
            let work = world.folder + "/work"
            let options = (Namespaces.asRoot + ["--pid", "--fork", "--mount-proc"]).joined(separator: " ")
            let contained = #"contained() { unshare \#(options) "$@"; }"#
            let ended = try await run(
                "/bin/bash", ["-e", "-c", "\(contained)\nlanyard token \"$URL\" >plain\n\(script)\n"],
                environment: environment,
                folder: work)
            #expect(ended.status == 0, "\(ended)")
            let out = try String(contentsOfFile: work + "/out", encoding: .utf8)
            let plain = try String(contentsOfFile: work + "/plain", encoding: .utf8)
            #expect(plain.hasPrefix("ey") && (out.isEmpty || out == plain), "\(script): \(out)")
        }
    }

    @Test func `outside of a job nothing is written`() async throws {
        try await World.with { world in
            for extra in [[:], ["CI": "true", "GITLAB_CI": "true"]] {
                let ended = try await world.lanyard(
                    ["token", "\(world.sandbox.resource)/contoso/hello.git"],
                    extra.merging(["LANYARD_IDENTITY": "pipeline"]) { $1 })
                #expect(ended.status == 0 && ended.errors.isEmpty && ended.output.hasPrefix("ey"), "\(ended)")
            }
        }
    }
}
