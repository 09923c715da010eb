import Addresses
import Files
import FoundationEssentials
import Glibc
import Secrets
import SettingsFile
import Terminal
import Testing

@testable import PluginConformance
@testable import PluginHost
@testable import PluginWire

/// What authors get wrong, and what they are told: by `plugin check`, by `plugin try` and by `login`.
@Suite(.timeLimit(.minutes(5))) struct MistakeTests {
    /// One change to a plugin that is right.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A part of the program or, if `file` says so, of the manifest, and what is written instead.
        let change: (old: String, new: String)
        var file = "mini.py"
        /// A change to the files' modes.
        var modes: (name: String, mode: mode_t)?
        /// A part of what `plugin check` says; nil if the plugin passes.
        let check: String?
        /// A part of what `plugin try` says, in an error or a remark; nil if it succeeds without any.
        let tried: String?
        /// A part of the error of `login`, which makes no remarks; nil if it succeeds.
        let login: String?

        /// A mistake in the program, of which `login` says the same as `plugin try`.
        init(_ name: String, _ old: String, _ new: String, check: String? = nil, signIn: String?) {
            (testDescription, change, self.check, tried, login) = (name, (old, new), check, signIn, signIn)
        }

        /// A mistake in the program that `plugin try` remarks on.
        init(_ name: String, _ old: String, _ new: String, check: String? = nil, tried: String, login: String?) {
            (testDescription, change, self.check, self.tried, self.login) = (name, (old, new), check, tried, login)
        }

        /// A mistake in the manifest, or in the program's first line, which keeps the plugin from being used.
        init(
            manifest name: String, _ old: String, _ new: String, _ text: String, login: String? = nil,
            in file: String = "plugin.toml"
        ) {
            (testDescription, change, check, tried, self.login) = (name, (old, new), text, text, login ?? text)
            self.file = file
        }

        /// A mistake in the manifest that only `plugin check` can see.
        init(unseen name: String, _ old: String, _ new: String, check: String?) {
            (testDescription, change, self.check, tried, login) = (name, (old, new), check, nil, nil)
            file = "plugin.toml"
        }

        /// A file whose mode is wrong, which keeps the plugin from being used.
        init(_ name: String, mode: mode_t, of file: String, _ text: String) {
            (testDescription, change, check, tried, login) = (name, ("", ""), text, text, text)
            modes = (file, mode)
        }
    }

    static let mistakes = [
        Mistake(
            "01 nothing is flushed", "flush=True)", "flush=False); sys.stdin.read()",
            check: "and wrote nothing: does it read only up to",
            signIn: "and wrote nothing"),
        Mistake(
            "02 reads to the end of the input", "request = read()", "sys.stdin.read(); request = {}",
            check: "and wrote nothing: does it read only up to", signIn: "and wrote nothing"),
        Mistake(
            "03 no blank line", "print(*lines, \"\", sep=\"\\n\", flush=True)",
            "print(*lines, sep=\"\\n\", flush=True); read()", check: "without the blank line that ends a block",
            signIn: "it wrote 3 lines without the blank line"),
        Mistake(
            "04 other text first", "request = read()", "request = read(); print(\"hello\")",
            check: "a line that is not key=value (line 1): “hello”",
            signIn: "a line that is not key=value (line 1): “hello”"),
        Mistake(
            "05 no environment", "        \"environment=id.mini.example\",\n", "",
            signIn: "gave a result with no `environment`"),
        Mistake(
            "06 another host's environment", "id.mini.example", "other.example",
            signIn: "answered for a different authority than requested"),
        Mistake(
            "07 a URL for environment", "environment=id", "environment=https://id",
            signIn: "an invalid `environment`: it must be HOST or HOST:PORT in lower case, without https://"),
        Mistake(
            "08 a fraction of seconds", "=3600", "=3600.0",
            signIn: "an invalid `expires_in`: it must be a whole number of seconds"),
        Mistake(
            "09 a blank in the token", "=T-1", "=Bearer T-1",
            signIn: "an invalid `access_token`: it must be visible ASCII without blanks"),
        Mistake(
            "10 an unknown error code", "fail(\"unsupported\", ", "fail(\"not-supported\", ",
            check: "its error is `not-supported`, not `unsupported`", signIn: nil),
        Mistake(
            "11 crashes", "message=code\")", "message=code\"); request[\"scope\"]",
            check: "it ended without an answer after `prompt` (line 1)",
            signIn: "exit status 1"),
        Mistake(
            "12 no answer", "    write(\n        \"event=result\",",
            "    print(end=\"\") or (\n        \"event=result\",", signIn: "ended without an answer"),
        Mistake("13 a program that isn't executable", mode: 0o644, of: "mini.py", "is not executable"),
        Mistake(
            manifest: "14 an interpreter that isn't installed", "#!/usr/bin/python3", "#!/none/python3",
            "its interpreter /none/python3 is not installed", in: "mini.py"),
        Mistake(
            manifest: "15 a script without its first line", "#!/usr/bin/python3\n", "",
            "mini.py:1: is a script that doesn't name its interpreter", in: "mini.py"),
        Mistake(manifest: "16 another name", "\"mini\"", "\"maxi\"", ":1: the name maxi differs from its folder's"),
        Mistake(manifest: "17 exec for executable", "executable", "exec", "`executable` is missing"),
        Mistake(
            unseen: "18 flow for flows", "\n\n[[", "\nflow = [\"browser\"]\n\n[[",
            check: "unknown key `flow` (did you mean `flows`?)"),
        Mistake(
            manifest: "19 a URL for a host", "[\"id", "[\"https://id", "`hosts` holds \"https://id.mini.example\""),
        Mistake(manifest: "20 a path without a slash", "/{realm}", "{realm}", "`path` is {realm}, not segments"),
        Mistake(manifest: "21 an unknown part of a path", "{realm}", "{tenant}", "`path` is /{tenant}, not segments"),
        Mistake(manifest: "22 no TOML", "[[authority]]", "[[authority]", ":7: not valid TOML"),
        Mistake(manifest: "23 no version", "version = \"1\"\n", "", "`version` is missing"),
        Mistake(
            manifest: "24 the state machine for the protocol", "[\"v1\"]", "[\"lanyard-plugin-v1\"]",
            "write protocols = [\"v1\"]", login: ":4: the plugin speaks lanyard-plugin-v1, not v1"),
        Mistake(
            "25 a manifest that others can write", mode: 0o666, of: "plugin.toml",
            "could have been written by another user"),
        Mistake(
            "26 scope for scope[]", "scope[]=x", "scope=x", tried: "its key `scope` is unknown; did it mean `scope[]`?",
            login: nil),
        Mistake(
            "27 an unknown kind of prompt", "kind=secret", "kind=text",
            check: "its `prompt` has the unknown kind `text`",
            tried: "its `prompt` has the unknown kind `text`; kinds are public, secret, confirm",
            login: "no code was given"),
        Mistake(
            "28 a prompt without its kind", "\"kind=secret\", ", "",
            check: "a broken `prompt` (line 1), with no `kind`",
            signIn: "a broken `prompt` (line 1), with no `kind`"),
        Mistake(
            "29 other text between", "    reply = read()", "    reply = read(); print(\"thank you\")",
            check: "a line that is not key=value (line 5): “thank you”", signIn: "(line 5): “thank you”"),
        Mistake("30 no account", "        \"home_account_id=u\",\n", "", signIn: "no `home_account_id`"),
        Mistake(
            "31 describes another version", "version=1", "version=2", check: "its version is 2, its manifest's 1",
            signIn: nil),
        Mistake(
            "32 another state machine", "\"lanyard-plugin-v1\":", "\"lanyard-plugin\":",
            check: "it ended without an answer",
            signIn: "refused to speak lanyard-plugin-v1"),
        Mistake(
            "33 http", "\"event=prompt\", \"kind=secret\", \"message=code\"",
            "\"event=open-url\", \"url=http://id.mini.example/\"",
            check: "an invalid `url`: it must be an https URL, or http on localhost",
            signIn: "an invalid `url`: it must be an https URL"),
        Mistake(
            "34 a blank in a URL", "\"event=prompt\", \"kind=secret\", \"message=code\"",
            "\"event=open-url\", \"url=https://id.mini.example/?scope=a b\"", check: "an invalid `url`",
            signIn: "an invalid `url`"),
        Mistake(
            "35 a code without an end", "\"event=prompt\", \"kind=secret\", \"message=code\"",
            "\"event=show-code\", \"user_code=A\", \"verification_uri=https://id.mini.example/\"",
            check: "a broken `show-code` (line 1), with no `expires_in`", signIn: "with no `expires_in`"),
        Mistake(
            "36 promt", "event=prompt", "event=promt", check: "its event `promt` is unknown; did it mean `prompt`?",
            tried: "its event `promt` is unknown; did it mean `prompt`?", login: "no code was given"),
        Mistake(
            "37 Result", "        \"event=result\",", "        \"event=Result\",",
            signIn: "ended without an answer: its event `Result` is unknown; did it mean `result`?"),
        Mistake(
            "38 goes on after its answer", "        \"realm=r\",\n    )",
            "        \"realm=r\",\n    )\n    write(\"event=progress\")",
            signIn: "sent `progress` (line 13) after its answer"),
        Mistake(
            "39 an event without its name", "\"event=prompt\", ", "",
            check: "a broken message (line 1), with no `event`", signIn: "with no `event`"),
        Mistake(
            "40 text after a key", "\"message=code\"", "\"message=code\\nwith a second line\"",
            check: "after `message=`): “with a second line”", signIn: "after `message=`): “with a second line”"),
        Mistake(
            "41 Latin-1", "message=code", "message=c\\udcf6de",
            check: "text that is not UTF-8", signIn: "text that is not UTF-8"),
        Mistake("42 takes any state machine", "sys.exit(64)", "pass", check: "it exited with status 0", signIn: nil),
        Mistake(manifest: "43 no such program", "mini.py", "maxi.py", ":5: its executable maxi.py does not exist"),
        Mistake(
            unseen: "44 serves nothing", "[[authority]]\nhosts = [\"id.mini.example\"]\npath = \"/{realm}\"\n", "",
            check: "no request ever leads to it"),
        Mistake("45 no realm", "        \"realm=r\",\n", "", signIn: "gave a result with no `realm`"),
        Mistake(
            unseen: "46 a misplaced key", "path = ", "flows = [\"browser\"]\npath = ", check: "unknown key `flows`"),
        Mistake(
            unseen: "47 an unknown flow", "\n\n[[", "\nflows = [\"web\"]\n\n[[",
            check: "plugin.toml:6: `flows` holds \"web\", which this version of lanyard doesn't know"),
    ]

    /// Relatives of these.
    static let relatives = [
        Mistake(
            "a blank before a key", "\"realm=r\"", "\" realm=r\"",
            signIn: "no `realm`; its key ` realm` is unknown; did it mean `realm`?"),
        Mistake(
            "a blank after a key", "access_token=", "access_token =",
            signIn: "its key `access_token ` is unknown; did it mean `access_token`?"),
        Mistake("a date for seconds", "=3600", "=1796000000", signIn: "at most ten years"),
        Mistake(
            "a code that has ended", "\"event=prompt\", \"kind=secret\", \"message=code\"",
            "\"event=show-code\", \"user_code=A\", \"verification_uri=https://id.mini.example/\", \"expires_in=0\"",
            check: "or of a code, from 1 to 86400", signIn: "or of a code, from 1 to 86400"),
        Mistake(
            "a message without an end", "message=code\"", "message=\" + \"x\" * 60000",
            check: "an invalid `message`: it must be at most 16384 bytes",
            signIn: "an invalid `message`: it must be at most 16384 bytes"),
        Mistake(
            "asks for ever", "    write(\"event=prompt\", \"kind=secret\", \"message=code\")\n    reply = read()",
            """
                reply = {}
                while reply.get("status") != "answer":
                    write("event=prompt", "kind=secret", "message=code")
                    reply = read()
            """, check: "times, although each reply was `unsupported`", signIn: nil),
        Mistake(
            "a letter that is missing in a key", "f\"message=", "f\"mesage=",
            check: "its key `mesage` is unknown; did it mean `message`?", signIn: nil),
        Mistake(
            "a code with capitals", "    write(\"event=prompt\", \"kind=secret\", \"message=code\")\n",
            "    fail(\"Interaction-Required\", \"again\")\n",
            tried: "its code `Interaction-Required` is unknown; did it mean `interaction-required`?", login: "again"),
        Mistake(
            "other text with an equals sign", "    reply = read()", "    reply = read(); print(\"DEBUG: got=answer\")",
            check: "its line begins with `DEBUG: got=`, which is no key",
            tried: "its line begins with `DEBUG: got=`, which is no key", login: nil),
        Mistake(
            manifest: "a word in braces that stands for nothing", "\n\n[[",
            "\n\n[[source]]\nname = \"s\"\nprogram = [\"echo\", \"{hosts}\"]\n\n[[",
            ":9: `program` holds {hosts}, which stands for nothing"),
        Mistake(
            manifest: "a program outside the folder", "mini.py", "../mini.py",
            ":5: its executable ../mini.py is none that a plugin can have"),
        Mistake(
            manifest: "a key below a table", "executable = \"mini.py\"\n\n[[authority]]\n",
            "\n[[authority]]\nexecutable = \"mini.py\"\n",
            ":7: `executable` is missing: this one is in [[authority]]"),
        Mistake(
            manifest: "an unknown form of an option", "\n\n[[", "\noptions = [\"level=int\"]\n\n[[",
            ":6: `options` holds \"level=int\", whose form is unknown"),
    ]

    /// What looks like a mistake, and is allowed.
    static let allowed = Mistake(unseen: "48 any host", "[\"id.mini.example\"]", "[\"*\"]", check: nil)

    private static let manifest = """
        name = "mini"
        version = "1"
        description = "Mini"
        protocols = ["v1"]
        executable = "mini.py"

        [[authority]]
        hosts = ["id.mini.example"]
        path = "/{realm}"

        """

    private static let program = """
        #!/usr/bin/python3
        import sys

        def read():
            block = {}
            for line in iter(sys.stdin.readline, "\\n"):
                if not line: sys.exit()
                key, _, block[key] = line.rstrip("\\n").partition("=")
            return block

        def write(*lines):
            print(*lines, "", sep="\\n", flush=True)

        def fail(code, message):
            write("event=error", f"code={code}", f"message={message}")
            sys.exit()

        if sys.argv[-1] != "lanyard-plugin-v1": sys.exit(64)
        request = read()
        operation = request.get("operation")
        if operation == "describe":
            write("event=result", "name=mini", "version=1", "protocol[]=v1")
        elif operation == "authorize":
            if "authority" not in request: fail("invalid-request", "no authority")
            write("event=prompt", "kind=secret", "message=code")
            reply = read()
            if reply["status"] != "answer": fail("cancelled", "no code was given")
            write(
                "event=result",
                "access_token=T-1",
                "expires_in=3600",
                "scope[]=x",
                "home_account_id=u",
                "environment=id.mini.example",
                "realm=r",
            )
        elif operation in ("renew", "sign-out"):
            if "authority" not in request: fail("invalid-request", "no authority")
            fail("interaction-required", "sign in again")
        else:
            fail("unsupported", "mini can't do this")

        """

    /// Installs the plugin with a mistake.
    private func install(_ mistake: Mistake?, in folder: TestFolder) throws -> PluginRegistry {
        var texts = ["mini.py": Self.program, "plugin.toml": Self.manifest]
        if let mistake {
            let text = try #require(texts[mistake.file])
            try #require(mistake.modes != nil || text.contains(mistake.change.old))
            if mistake.modes == nil {
                texts[mistake.file] = text.replacing(
                    mistake.change.old, with: mistake.change.new,
                    maxReplacements: mistake.file == "plugin.toml" ? 1 : .max)
            }
        }
        for (name, text) in texts { try folder.write("mini/\(name)", text, mode: name == "mini.py" ? 0o755 : 0o644) }
        if let (name, mode) = mistake?.modes { chmod("\(folder.path)/mini/\(name)", mode) }
        return PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path, "PATH": "/usr/bin:/bin"], executable: "/nonexistent")
    }

    private var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "utf-8:surrogateescape"]
    }

    @Test(arguments: mistakes + relatives) func `a mistake is told`(_ mistake: Mistake) async throws {
        let folder = try TestFolder()
        let registry = try install(mistake, in: folder)
        guard let plugin = registry.plugins.first else {
            // `check` and `try` read the manifest themselves, and say the same as `doctor` and `plugin list`.
            let problem = try #require(registry.problems.first)
            let said = "\(problem) \(problem.hint?.text ?? "")"
            #expect(said.contains(mistake.check ?? "-"))
            let match = registry.match(authority: "https://id.mini.example/r", isConfigured: true)
            guard let match else {
                // It has no manifest, so errors of authorities that nobody names say so.
                #expect(registry.unreadable.contains { "\($0)".contains(mistake.login ?? "-") })
                return
            }
            let (_, error) = try await signIn(match)
            #expect(
                error.hasPrefix("the mini plugin can't be used: ") && error.contains(mistake.login ?? "-"), "\(error)")
            return
        }
        let trials = await ConformanceKit(plugin, environment: environment, patience: .seconds(3)).run()
        let faults = trials.compactMap(\.fault)
        if let check = mistake.check {
            #expect(faults.contains { $0.contains(check) }, "\(faults)")
        } else {
            #expect(faults.isEmpty, "\(faults)")
        }
        guard !plugin.authorities.isEmpty else { return }
        let (remarks, error) = try await signIn(try match(plugin))
        let said = remarks + " " + error
        #expect(mistake.tried.map { said.contains($0) } ?? said.trimmed().isEmpty, "\(said)")
        #expect(mistake.login.map { error.contains($0) } ?? error.isEmpty, "\(error)")
    }

    @Test func `of 48 mistakes, 44 or more are told before somebody signs in`() {
        #expect(Self.mistakes.count + 1 == 48)
        #expect(Self.mistakes.count { $0.check != nil || $0.tried != nil } >= 44)
    }

    private func match(_ plugin: PluginManifest) throws -> AuthorityMatch {
        try #require(
            PluginRegistry(plugins: [plugin]).match(authority: "https://id.mini.example/r", isConfigured: true))
    }

    @Test(arguments: [Mistake?.none, allowed]) func `a plugin without a mistake is right`(_ mistake: Mistake?)
        async throws
    {
        let folder = try TestFolder()
        let plugin = try #require(try install(mistake, in: folder).plugins.first)
        let faults = await ConformanceKit(plugin, environment: environment).run().compactMap(\.fault)
        #expect(faults.isEmpty, "\(faults)")
        let (remarks, error) = try await signIn(try match(plugin))
        #expect(remarks.isEmpty && error.isEmpty, "\(remarks) \(error)")
    }

    /// Signs in; returns the remarks, which `plugin try` shows, and the error.
    private func signIn(_ match: AuthorityMatch) async throws -> (remarks: String, error: String) {
        let log = TraceLog()
        var timeouts = PluginTimeouts()
        timeouts.silence = .seconds(3)
        let runner = PluginRunner(environment: environment, timeouts: timeouts) {
            if $0 == .note { log.listen($0, $1) }
        }
        var request = PluginRequest.sample()
        request.authority = match.authority.description
        let user = FakeUser { event in if case .prompt = event { .answer(Secret("42")) } else { .unsupported } }
        do throws(PluginError) {
            _ = try await runner.run(request, on: match, user: user)
            return (log.text, "")
        } catch {
            return (log.text, error.message)
        }
    }
}
