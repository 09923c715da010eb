import Addresses
import ArgumentParser
import CommandKit
import Files
import Glibc
import PluginHost
import Secrets
import SystemPackage
import Terminal

struct PluginNewCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a plugin to begin with.",
        discussion: """
            It signs in at the made-up issuer of `lanyard sandbox` with the code of a key fob, which is 4242. Change what asks the \
            issuer.
            """)

    static let examples: KeyValuePairs = [
        "Write a plugin in Python": "lanyard plugin new acme-login --language python"
    ]

    /// The languages that there is a template for.
    enum Language: String, CaseIterable, ExpressibleByArgument {
        case python
        case sh

        var suffix: String { self == .python ? "py" : "sh" }
    }

    @Argument(help: "The plugin's name, which is that of the new folder.")
    var name: String

    @Option(help: "The language to write it in.")
    var language = Language.python

    mutating func run(in context: CommandContext) async throws {
        guard PluginManifest.isName(name), name.utf8.first != UInt8(ascii: "-") else {
            throw CommandError(
                "\(name.displayable(limit: 64)) is no name of a plugin",
                hints: ["use 1 to 64 of a to z, 0 to 9 and -"], status: .usage)
        }
        let program = "\(name).\(language.suffix)"
        let files: [(name: String, text: String, mode: FilePermissions)] = [
            (
                "plugin.toml", Self.manifest.replacing(bytes: "PROGRAM", with: program),
                [.ownerReadWrite, .groupRead, .otherRead]
            ),
            (
                program, language == .python ? Self.python : Self.shell,
                [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
            ),
            ("test.sh", Self.test, [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]),
        ]
        guard mkdir(name, 0o755) == 0 else {
            throw CommandError(
                "the folder \(name) can't be made: \(Errno(rawValue: errno))", hints: ["choose another name"])
        }
        for file in files {
            let text = file.text.replacing(bytes: "quill", with: name).replacing(bytes: "QUILL", with: "quill")
            do {
                let descriptor = try FileDescriptor.open(
                    FilePath("\(name)/\(file.name)"), .writeOnly, options: [.create, .exclusiveCreate],
                    permissions: file.mode)
                try descriptor.closeAfter { _ = try descriptor.writeAll(text.utf8) }
            } catch {
                throw CommandError("\(name)/\(file.name) can't be written: \(error)".displayable(limit: 300))
            }
        }
        context.console.note(Hint("made \(name)/; check it", run: "lanyard plugin check ./\(name)"))
        context.console.note(Hint("start the made-up issuer in another terminal", run: "lanyard sandbox serve"))
        context.console.note(Hint("sign in, as that says", run: "lanyard plugin try ./\(name) ISSUER/quill --renew"))
    }

    private static let manifest = """
        name = "quill"
        version = "1"
        description = "Signs in with the code that a key fob shows"
        protocols = ["v1"]
        executable = "PROGRAM"

        # Any host that the configuration names; write your issuer's: hosts = ["id.example.com"]
        [[authority]]
        hosts = ["*"]
        path = "/QUILL"

        """

    private static let test = """
        #!/bin/sh
        # usage: test.sh [ISSUER]     checks the plugin, and signs in at an issuer if it is given
        cd "$(dirname "$0")" && lanyard plugin check . && { [ -z "$1" ] || lanyard plugin try . "$1" --renew --sign-out; }

        """

    private static let python = """
        #!/usr/bin/env python3
        import json, ssl, sys, urllib.error, urllib.parse, urllib.request

        def read():  # a block: lines of key=value, and a blank line
            block = {}
            for line in iter(sys.stdin.readline, "\\n"):
                if not line: sys.exit()  # lanyard went away
                key, _, block[key] = line.rstrip("\\n").partition("=")
            return block

        def write(**keys): print(*(f"{key}={value}" for key, value in keys.items()), "", sep="\\n", flush=True)
        def fail(code, message): write(event="error", code=code, message=message); sys.exit()

        def tokens(**form):  # asks the issuer, and answers with what it says
            trust = ssl.create_default_context(cafile=request.get("ca_file[]"))
            try:
                url, body = request["authority"] + "/tokens", urllib.parse.urlencode(form).encode()
                got = json.load(urllib.request.urlopen(url, body, timeout=30, context=trust))
            except urllib.error.HTTPError as error: fail("interaction-required", f"quill refuses (HTTP {error.code})")
            except (OSError, ValueError) as error: fail("unavailable", f"quill can't be reached: {error}")
            write(event="result", access_token=got["token"], expires_in=got["seconds"], refresh_token=got["renewal"], realm="quill",
                environment=urllib.parse.urlsplit(url).netloc, home_account_id=got["user"], username=got["user"])

        if sys.argv[-1] != "lanyard-plugin-v1": sys.exit(64)
        request = read()
        match request.get("operation"):
            case "describe": write(event="result", name="quill", version="1", **{"protocol[]": "v1"})
            case "authorize" | "renew" | "sign-out" if "authority" not in request: fail("invalid-request", "no authority")
            case "authorize":
                write(event="prompt", kind="secret", message="code that your fob shows")
                reply = read()
                tokens(code=reply["value"]) if reply["status"] == "answer" else fail("cancelled", "no code was given")
            case "renew": tokens(renewal=request.get("refresh_token", ""))
            case "sign-out": write(event="result")
            case _: fail("unsupported", "quill doesn't know this operation")

        """

    private static let shell = """
        #!/bin/sh
        [ "$1" = lanyard-plugin-v1 ] || exit 64

        # read_block: reads lines of key=value up to a blank line; a variable of its own for each key that is used
        read_block() {
            while IFS= read -r line; do
                case $line in
                operation=*) operation=${line#*=} ;;
                authority=*) authority=${line#*=} ;;
                refresh_token=*) renewal=${line#*=} ;;
                'ca_file[]='*) trust=${line#*=} ;;
                status=*) status=${line#*=} ;;
                value=*) value=${line#*=} ;;
                '') return ;;
                esac
            done
            exit # lanyard went away
        }
        fail() { printf 'event=error\\ncode=%s\\nmessage=%s\\n\\n' "$1" "$2"; exit; }

        # tokens KEY VALUE: asks the issuer, and answers with what it says; printf is no program, so the value is nobody's argument
        tokens() {
            answer=$(printf '%s' "$2" | curl --silent --fail --max-time 30 ${trust:+--cacert "$trust"} --data-urlencode "$1@-" "$authority/tokens")
            case $? in
            0) ;;
            22) fail interaction-required "quill refuses" ;;
            *) fail unavailable "quill can't be reached" ;;
            esac
            member() { printf '%s' "$answer" | sed -n "s/.*\\"$1\\" *: *\\"\\{0,1\\}\\([^\\",}]*\\).*/\\1/p"; }
            host=${authority#https://}
            printf 'event=result\\naccess_token=%s\\nexpires_in=%s\\nrefresh_token=%s\\nenvironment=%s\\nrealm=quill\\nhome_account_id=%s\\nusername=%s\\n\\n' \\
                "$(member token)" "$(member seconds)" "$(member renewal)" "${host%%/*}" "$(member user)" "$(member user)"
        }

        read_block
        case $operation in
        authorize | renew | sign-out) [ "$authority" ] || fail invalid-request "no authority" ;;
        esac
        case $operation in
        describe) printf 'event=result\\nname=quill\\nversion=1\\nprotocol[]=v1\\n\\n' ;;
        authorize)
            printf 'event=prompt\\nkind=secret\\nmessage=code that your fob shows\\n\\n'
            read_block
            [ "$status" = answer ] || fail cancelled "no code was given"
            tokens code "$value"
            ;;
        renew) tokens renewal "$renewal" ;;
        sign-out) printf 'event=result\\n\\n' ;;
        *) fail unsupported "quill doesn't know this operation" ;;
        esac

        """
}
