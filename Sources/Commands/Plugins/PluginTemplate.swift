/// The files of a new plugin, in which `quill` stands for its name and `QUILL` for the made-up issuer's.
struct PluginTemplate {
    private let language: PluginNewCommand.Language

    init(_ language: PluginNewCommand.Language) {
        self.language = language
    }

    /// The name of the program's source.
    var source: String {
        switch language {
        case .python: "quill.py"
        case .sh: "quill.sh"
        case .swift: "quill.swift"
        }
    }

    /// The command that builds the program; nil if it runs as it is.
    var build: String? { language == .swift ? "swiftc quill.swift -o quill" : nil }

    var program: String {
        switch language {
        case .python: Self.python
        case .sh: Self.shell
        case .swift: Self.swift
        }
    }

    var manifest: String {
        """
        name = "quill"
        version = "1"
        description = "Signs in with the code that a key fob shows"
        protocols = ["v1"]
        executable = "\(build == nil ? source : "quill")"

        # Any host that the configuration names; write your issuer's: hosts = ["id.example.com"]
        [[authority]]
        hosts = ["*"]
        path = "/QUILL"

        """
    }

    var test: String {
        """
        #!/bin/sh
        # usage: test.sh [ISSUER]     checks the plugin, and signs in at an issuer if it is given
        cd "$(dirname "$0")" && \(build.map { $0 + " && " } ?? "")lanyard plugin check . && { [ -z "$1" ] || lanyard plugin try . "$1" --renew --sign-out; }

        """
    }

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
            trust = ssl.create_default_context()
            if "ca_file[]" in request: trust.load_verify_locations(request["ca_file[]"])  # besides the system's
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

    private static let swift = #"""
        import Foundation

        /// Reads a block: lines of key=value, and a blank line.
        func read() -> [String: String] {
            var block: [String: String] = [:]
            while let line = readLine() {
                if line.isEmpty { return block }
                let parts = line.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                block[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
            }
            exit(0)  // lanyard went away
        }

        func write(_ keys: KeyValuePairs<String, String>) {
            FileHandle.standardOutput.write(Data((keys.map { "\($0)=\($1)\n" }.joined() + "\n").utf8))
        }

        func fail(_ code: String, _ message: String) -> Never {
            write(["event": "error", "code": code, "message": message])
            exit(0)
        }

        struct Answer: Decodable {
            let token, renewal, user: String
            let seconds: Int
        }

        /// Asks the issuer, and answers with what it says. curl reads the secret from its standard input, so it is nobody's argument.
        func tokens(_ key: String, _ value: String) throws {
            let curl = Process(), input = Pipe(), output = Pipe(), authority = request["authority"] ?? ""
            curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            curl.arguments =
                ["--silent", "--fail", "--max-time", "30", "--data-urlencode", key + "@-", authority + "/tokens"]
                + (request["ca_file[]"].map { ["--cacert", $0] } ?? [])
            (curl.standardInput, curl.standardOutput) = (input, output)
            try curl.run()
            try input.fileHandleForWriting.write(contentsOf: Data(value.utf8))
            try input.fileHandleForWriting.close()
            let got = output.fileHandleForReading.readDataToEndOfFile()
            curl.waitUntilExit()
            if curl.terminationStatus == 22 { fail("interaction-required", "quill refuses") }
            guard let answer = try? JSONDecoder().decode(Answer.self, from: got) else { fail("unavailable", "quill can't be reached") }
            write([
                "event": "result", "access_token": answer.token, "expires_in": "\(answer.seconds)", "refresh_token": answer.renewal,
                "realm": "quill", "environment": String(authority.unicodeScalars.split(separator: "/")[1]), "home_account_id": answer.user,
                "username": answer.user,
            ])
        }

        guard CommandLine.arguments.last == "lanyard-plugin-v1" else { exit(64) }
        let request = read()
        switch request["operation"] {
        case "describe": write(["event": "result", "name": "quill", "version": "1", "protocol[]": "v1"])
        case "authorize" where request["authority"] == nil, "renew" where request["authority"] == nil,
            "sign-out" where request["authority"] == nil:
            fail("invalid-request", "no authority")
        case "authorize":
            write(["event": "prompt", "kind": "secret", "message": "code that your fob shows"])
            let reply = read()
            guard reply["status"] == "answer", let code = reply["value"] else { fail("cancelled", "no code was given") }
            try tokens("code", code)
        case "renew": try tokens("renewal", request["refresh_token"] ?? "")
        case "sign-out": write(["event": "result"])
        default: fail("unsupported", "quill doesn't know this operation")
        }

        """#
}
