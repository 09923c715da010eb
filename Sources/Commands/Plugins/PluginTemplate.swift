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

    private static let python = #"""
        #!/usr/bin/env python3
        import json, ssl, sys, urllib.error, urllib.parse, urllib.request

        def read():  # a block: lines of key=value, and a blank line
            block = {}
            for line in iter(sys.stdin.readline, "\n"):
                if not line: sys.exit()  # lanyard went away
                key, _, value = line.rstrip("\n").partition("=")  # key[] is a list, which an empty value clears
                block[key] = value if not key.endswith("[]") else block.get(key, []) + [value] if value else []
            return block

        def write(*lines): print(*lines, "", sep="\n", flush=True)
        def fail(code, message): write("event=error", f"code={code}", f"message={message}"); sys.exit()

        def tokens(**form):  # asks the issuer, and answers with what it says
            for key in request.keys() & {"ca_folder", "proxy_authentication", "tls_certificate", "oldest_tls"}: fail("unsupported", f"quill knows no {key}")
            url, form["scope"], trust = request["authority"] + "/tokens", " ".join(request.get("scope[]", [])), ssl.create_default_context()
            try:
                for file in request.get("ca_file[]", []): trust.load_verify_locations(file)  # besides the system's
                ways = [urllib.request.HTTPSHandler(context=trust)]
                if proxy := request.get("proxy"): ways.append(urllib.request.ProxyHandler({"https": proxy} if proxy != "none" else {}))
                got = json.load(urllib.request.build_opener(*ways).open(url, urllib.parse.urlencode(form).encode(), timeout=30))
            except urllib.error.HTTPError as error:  # only a refusal has the user sign in again
                fail("interaction-required" if error.code in (400, 401, 403) else "unavailable", f"quill refuses (HTTP {error.code})")
            except (OSError, ValueError) as error: fail("unavailable", f"quill can't be reached: {error}")
            write("event=result", f"access_token={got['token']}", f"expires_in={got['seconds']}", f"refresh_token={got['renewal']}",
                f"environment={urllib.parse.urlsplit(url).netloc}", "realm=quill", f"home_account_id={got['user']}", f"username={got['user']}")

        if sys.argv[-1] != "lanyard-plugin-v1": sys.exit(64)
        request = read()
        match request.get("operation"):
            case "describe": write("event=result", "name=quill", "version=1", "protocol[]=v1")
            case "authorize" | "renew" | "sign-out" if "authority" not in request: fail("invalid-request", "no authority")
            case "authorize":
                write("event=prompt", "kind=secret", "message=code that your fob shows")
                tokens(code=reply["value"]) if (reply := read())["status"] == "answer" else fail("cancelled", "no code was given")
            case "renew": tokens(renewal=request.get("refresh_token", ""))
            case "sign-out": write("event=result")
            case _: fail("unsupported", "quill doesn't know this operation")

        """#

    private static let shell = #"""
        #!/bin/sh
        [ "$1" = lanyard-plugin-v1 ] || exit 64

        # read_block: reads lines of key=value up to a blank line; a variable of its own for each key that is used
        read_block() {
            while IFS= read -r line; do
                case $line in
                operation=*) operation=${line#*=} ;;
                authority=*) authority=${line#*=} ;;
                refresh_token=*) renewal=${line#*=} ;;
                'scope[]='*) scopes=$scopes${scopes:+ }${line#*=} ;;
                'ca_file[]='*) trust=$(printf '%s\n' "$trust" && cat "${line#*=}") ;;
                proxy=*) proxy=${line#*=} ;;
                ca_folder=* | proxy_authentication=* | tls_certificate=* | oldest_tls=*) strange=${line%%=*} ;;
                status=*) status=${line#*=} ;;
                value=*) value=${line#*=} ;;
                '') return ;;
                esac
            done
            exit # lanyard went away
        }
        fail() { printf 'event=error\ncode=%s\nmessage=%s\n\n' "$1" "$2"; exit; }

        # option NAME TEXT: a line of curl's configuration; printf is no program, so the text is nobody's argument
        option() { printf '%s = "%s"\n' "$1" "$(printf '%s' "$2" | sed 's/[\\"]/\\&/g')"; }

        # tokens KEY VALUE: asks the issuer, and answers with what it says
        tokens() {
            [ -z "$strange" ] || fail unsupported "quill knows no $strange"
            if [ "$trust" ]; then # besides the system's, of which curl reads none if it is given a file
                all=$(mktemp) && trap 'rm -f "$all"' EXIT
                { cat "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}"; printf '%s\n' "$trust"; } >"$all"
            fi
            answer=$({
                option url "$authority/tokens"
                option data-urlencode "$1=$2"
                option data-urlencode "scope=$scopes"
                [ -z "$trust" ] || option cacert "$all"
                case $proxy in
                '') ;;
                none) option noproxy '*' ;;
                *) option proxy "$proxy" ;;
                esac
            } | curl --disable --silent --max-time 30 --write-out '\n%{http_code}' --config -)
            case $answer in
            *200) ;;
            *400 | *401 | *403) fail interaction-required "quill refuses" ;; # only that has the user sign in again
            *) fail unavailable "quill can't be reached" ;;
            esac
            member() { printf '%s' "$answer" | sed -n "s/.*\"$1\" *: *\"\{0,1\}\([^\",}]*\).*/\1/p"; }
            host=${authority#https://}
            printf 'event=result\naccess_token=%s\nexpires_in=%s\nrefresh_token=%s\nenvironment=%s\nrealm=quill\nhome_account_id=%s\nusername=%s\n\n' \
                "$(member token)" "$(member seconds)" "$(member renewal)" "${host%%/*}" "$(member user)" "$(member user)"
        }

        read_block
        case $operation in
        authorize | renew | sign-out) [ "$authority" ] || fail invalid-request "no authority" ;;
        esac
        case $operation in
        describe) printf 'event=result\nname=quill\nversion=1\nprotocol[]=v1\n\n' ;;
        authorize)
            printf 'event=prompt\nkind=secret\nmessage=code that your fob shows\n\n'
            read_block
            [ "$status" = answer ] || fail cancelled "no code was given"
            tokens code "$value"
            ;;
        renew) tokens renewal "$renewal" ;;
        sign-out) printf 'event=result\n\n' ;;
        *) fail unsupported "quill doesn't know this operation" ;;
        esac

        """#

    private static let swift = #"""
        import Foundation

        /// Reads a block: lines of key=value, and a blank line; a key that ends in [] has several values.
        func read() -> [String: [String]] {
            var block: [String: [String]] = [:]
            while let line = readLine() {
                if line.isEmpty { return block }
                let parts = line.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let key = String(parts[0])
                block[key] = (key.hasSuffix("[]") ? block[key] ?? [] : []) + [parts.count == 2 ? String(parts[1]) : ""]
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

        /// A line of curl's configuration.
        func option(_ name: String, _ text: String) -> String {
            let escaped = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            return "\(name) = \"\(escaped)\"\n"
        }

        /// Asks the issuer, and answers with what it says. curl reads the secrets from its standard input, so they are nobody's argument.
        func tokens(_ key: String, _ value: String) throws {
            for key in ["ca_folder", "proxy_authentication", "tls_certificate", "oldest_tls"] where request[key] != nil {
                fail("unsupported", "quill knows no \(key)")
            }
            let trust = request["ca_file[]"] ?? [], authority = request["authority"]?.last ?? ""
            var options = option("url", authority + "/tokens") + option("data-urlencode", key + "=" + value)
            options += option("data-urlencode", "scope=" + (request["scope[]"] ?? []).joined(separator: " "))
            let all = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            if !trust.isEmpty {  // besides the system's, of which curl reads none if it is given a file
                let system = ProcessInfo.processInfo.environment["SSL_CERT_FILE"] ?? "/etc/ssl/certs/ca-certificates.crt"
                let files = ([system] + trust).compactMap { try? Data(contentsOf: URL(fileURLWithPath: $0)) }
                try Data(files.joined(separator: Data("\n".utf8))).write(to: all)
                options += option("cacert", all.path)
            }
            if let proxy = request["proxy"]?.last { options += proxy == "none" ? option("noproxy", "*") : option("proxy", proxy) }
            let curl = Process(), input = Pipe(), output = Pipe()
            curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            curl.arguments = ["--disable", "--silent", "--max-time", "30", "--write-out", "%{http_code}", "--config", "-"]
            (curl.standardInput, curl.standardOutput) = (input, output)
            try curl.run()
            try input.fileHandleForWriting.write(contentsOf: Data(options.utf8))
            try input.fileHandleForWriting.close()
            let got = output.fileHandleForReading.readDataToEndOfFile()
            curl.waitUntilExit()
            try? FileManager.default.removeItem(at: all)
            let status = String(decoding: got.suffix(3), as: UTF8.self)
            // Only a refusal has the user sign in again.
            if ["400", "401", "403"].contains(status) { fail("interaction-required", "quill refuses") }
            guard status == "200", let answer = try? JSONDecoder().decode(Answer.self, from: got.dropLast(3)) else {
                fail("unavailable", "quill can't be reached")
            }
            write([
                "event": "result", "access_token": answer.token, "expires_in": "\(answer.seconds)", "refresh_token": answer.renewal,
                "realm": "quill", "environment": String(authority.unicodeScalars.split(separator: "/")[1]), "home_account_id": answer.user,
                "username": answer.user,
            ])
        }

        guard CommandLine.arguments.last == "lanyard-plugin-v1" else { exit(64) }
        let request = read()
        switch request["operation"]?.last {
        case "describe": write(["event": "result", "name": "quill", "version": "1", "protocol[]": "v1"])
        case "authorize" where request["authority"] == nil, "renew" where request["authority"] == nil,
            "sign-out" where request["authority"] == nil:
            fail("invalid-request", "no authority")
        case "authorize":
            write(["event": "prompt", "kind": "secret", "message": "code that your fob shows"])
            let reply = read()
            guard reply["status"] == ["answer"], let code = reply["value"]?.last else { fail("cancelled", "no code was given") }
            try tokens("code", code)
        case "renew": try tokens("renewal", request["refresh_token"]?.last ?? "")
        case "sign-out": write(["event": "result"])
        default: fail("unsupported", "quill doesn't know this operation")
        }

        """#
}
