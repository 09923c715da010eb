import Glibc

/// A plugin that behaves, or misbehaves, as its first argument says; it shares no code with the tested code.
let behaviour = CommandLine.arguments.dropFirst().first ?? ""
let polite = result()

func result(token: String = "AT-1", environment: String = "login.example", username: String = "alice") -> String {
    "event=result\naccess_token=\(token)\nexpires_in=3600\nscope[]=s1\nhome_account_id=u.t\n"
        + "environment=\(environment)\nrealm=r\nusername=\(username)\n\n"
}

func say(_ text: String, to descriptor: Int32 = 1) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count <= 0 { exit(9) }
        bytes = bytes.dropFirst(count)
    }
}

/// Reads one block from standard input, including the blank line; exits at the end of the input.
func hear() -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while !(bytes.suffix(2) == [10, 10]) {
        guard read(0, &byte, 1) == 1 else { exit(10) }
        bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
}

func hang() -> Never {
    while true { sleep(1000) }
}

let openPage = "event=open-url\nurl=https://login.example/authorize?code=SECRET\nredirect_uri=http://localhost:1\n\n"

switch behaviour {
case "polite":
    _ = hear()
    say("event=progress\nmessage=working\u{1B}[2J\n\n" + polite)
case "endless":
    say(polite.replacing("expires_in=3600\n", with: "basic_username=oauth2\n"))
case "renewable":
    say(polite.replacing("expires_in=3600\n", with: "expires_in=3600\nrefresh_token=RT\n"))
case "application", "machine":
    let environment = behaviour == "machine" ? "localhost" : "login.example"
    say(
        "event=result\naccess_token=AT-1\nexpires_in=60\nenvironment=\(environment)\nrealm=r\n"
            + "memo=m\nmemo_expires_in=9\n\n")
case "credential":
    let token = hear().split(separator: "\n").first { $0.hasPrefix("access_token=") } ?? ""
    say("event=result\nusername=u-\(token.dropFirst(13))\nsecret=s3cret\nfield[]=NAME=hidden\n\n")
case "probed":
    let isProbe = hear().contains("operation=probe\n")
    let time = "checked[]=authority\nchecked[]=weather\ntime=1700000000\nproxy=proxy.example:8080\n"
    say(isProbe ? "event=result\n\(time)\n" : polite)
case "grease":
    let request = hear()
    say("event=x-unheard-of\nfoo=bar\n\n")
    let reply = hear()
    let isFine = request.contains("grease_") && reply == "reply=x-unheard-of\nstatus=unsupported\n\n"
    say("x_unknown=1\n" + result(username: isFine ? "greased" : "dry"))
case "hangs":
    hang()
case "dribbles":
    // A byte now and then, but never a whole message.
    while true {
        say("m")
        usleep(50_000)
    }
case "repeats-secrets":
    let request = hear()
    let lines = request.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    let sent = lines.first { $0.first == "refresh_token" }?.last ?? ""
    let escaped = sent.map { "+/=".contains($0) ? "%\(String($0.asciiValue ?? 0, radix: 16).uppercased())" : "\($0)" }
    say("got \(sent) and \(escaped.joined()), give AT/1 2\n", to: 2)
    say("event=progress\nmessage=sending \(sent)\n\n")
    say("event=x-note\ntext=it was \(sent)\n\n")
    _ = hear()
    say("event=error\ncode=unavailable\nmessage=no answer to \(sent)\nhint=give \(sent) again\nerror=\(sent)\n\n")
case "ignores-term":
    signal(SIGTERM, SIG_IGN)
    signal(SIGHUP, SIG_IGN)
    say("event=progress\nmessage=pid \(getpid())\n\n")
    hang()
case "dies-mid-line":
    say("event=resu")
case "dies-mid-block":
    say(String(polite.dropLast()))
case "silent":
    break
case "exits-3":
    exit(3)
case "refuses":
    exit(64)
case "killed":
    raise(SIGKILL)
case "floods-line":
    while true { say(String(repeating: "x", count: 4096)) }
case "floods-blocks":
    while true { say("event=progress\nmessage=again\n\n") }
case "floods-pages":
    while true { say(openPage) }
case "floods-keys":
    while true { say("key=\(String(repeating: "v", count: 4000))\n") }
case "floods-stderr":
    for _ in 0..<4096 { say(String(repeating: "e", count: 2047) + "\n", to: 2) }
    say(polite)
case "garbage":
    say("\u{1}\u{2}no equals sign\n\n")
case "not-utf8":
    var bytes: [UInt8] = [0x65, 0x3D, 0xFF, 0xFE, 0x0A, 0x0A]
    write(1, &bytes, bytes.count)
case "no-event":
    say("message=hello\n\n")
case "another-operation":
    say("event=result\nname=fake\nversion=1\nprotocol[]=v1\n\n")
case "token-with-space":
    say(result(token: "AT 1"))
case "twice":
    say(polite + polite)
case "twice-later":
    say(polite)
    usleep(200_000)
    say(polite)
case "another-environment":
    say(result(environment: "evil.example"))
case "realm":
    say(polite.replacing("realm=r\n", with: "realm=\(CommandLine.arguments[2])\n"))
case "alias":
    say(result(environment: "alias.example"))
case "closes-stdout":
    close(1)
    hang()
case "lives-on":
    say(polite)
    hang()
case "never-reads":
    usleep(100_000)
    say(polite)
case "bad-url":
    _ = hear()
    say("event=open-url\nurl=file:///etc/passwd\n\n")
    hang()
case "error":
    say(
        "event=error\ncode=throttled\nmessage=slow \u{202E}down\nretry_after=7\nerror_code[]=50196\nreason[]=a-later-reason\nx=1\n\n"
    )
case "remembers":
    // Each answer has a longer memo, until a request has the scope `fail:CODE`, which it fails with that code.
    let lines = hear().split(separator: "\n")
    let memo = lines.first { $0.hasPrefix("memo=") }?.dropFirst(5) ?? ""
    if let code = lines.first(where: { $0.hasPrefix("scope[]=fail:") })?.dropFirst(13), !memo.isEmpty {
        say("event=error\ncode=\(code)\nmessage=no\n\n")
    } else {
        say(polite.replacing("\n\n", with: "\nmemo=\(memo)x\nmemo_expires_in=9\n\n"))
    }
case "shows-code":
    _ = hear()
    say(
        "event=show-code\nuser_code=AB-12\nverification_uri=https://login.example/d\nexpires_in=900\n"
            + "verification_uri_complete=https://login.example/d?user_code=AB-12\nmessage=type\u{202E}it\n\n")
    say(result(username: hear() == "reply=show-code\nstatus=done\n\n" ? "told" : "untold"))
case "traceback":
    for line in 1...5 { say("line \(line)\n", to: 2) }
    say("KeyError: 'client_id'\n", to: 2)
    exit(1)
case "insists", "other-flow":
    if hear().contains("operation=authorize\n") {
        say("event=prompt\nkind=secret\nmessage=code\n\n")
        _ = hear()
        say(polite)
    } else {
        say("event=result\nname=fake\nversion=1\nprotocol[]=v1\n\n")
    }
case "ignores-parameters":
    if hear().contains("operation=authorize\n") {
        say(openPage)
        _ = hear()
        say("event=error\ncode=cancelled\nmessage=no\n\n")
    } else {
        say("event=result\nname=fake\nversion=1\nprotocol[]=v1\n\n")
    }
case "echoes-parameters":
    // Each key of the request is a parameter of the page, percent-encoded.
    let lines = hear().split(separator: "\n")
    if lines.contains("operation=authorize") {
        let query = lines.map { line in
            line.utf8.map { byte in
                let character = Character(UnicodeScalar(byte))
                return character.isLetter || character.isNumber || "=_.".contains(character)
                    ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined().replacing("%5b%5d=", with: "=")
        }
        say("event=open-url\nurl=https://login.example/authorize?\(query.joined(separator: "&"))\n\n")
        _ = hear()
        say("event=error\ncode=cancelled\nmessage=no\n\n")
    } else {
        say("event=result\nname=fake\nversion=1\nprotocol[]=v1\n\n")
    }
case "connects":
    // Gives a result only if a port of this machine can be reached.
    _ = hear()
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = (UInt16(CommandLine.arguments[2]) ?? 0).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    say(isConnected ? polite : "event=error\ncode=unavailable\nmessage=no network\n\n")
case "near-miss":
    _ = hear()
    say("event=Result\naccess_token=AT\n\n")
case "near-miss-key":
    say(polite.replacing("scope[]=s1", with: "scope=s1"))
case "half-a-block":
    say("event=progress\nmessage=x\n")
    hang()
case "knows-nothing":
    say("event=error\ncode=unsupported\nmessage=no\n\n")
case "no-number":
    say("event=error\ncode=unsupported\nmessage=no\nretry_after=soon\n\n")
case "unknown-code":
    say("event=error\ncode=x-new\nmessage=something new\n\n")
case "late-open-url":
    _ = hear()
    say(openPage)
    usleep(150_000)
    say(polite)
case "answered-open-url":
    _ = hear()
    say(openPage)
    say(result(username: hear().contains("status=redirected\nvalue=http://localhost:1/?code=abc") ? "pasted" : "no"))
case "open-then-prompt":
    _ = hear()
    say(openPage)
    say("event=prompt\nkind=secret\nmessage=code\n\n")
    let first = hear()
    let second = hear()
    let isRight =
        first == "reply=open-url\nstatus=cancelled\n\n" && second == "reply=prompt\nstatus=answer\nvalue=42\n\n"
    say(result(username: isRight ? "in-order" : "out-of-order"))
case "asks-in-any-case":
    _ = hear()
    say("event=prompt\nkind=public\nmessage=who\n\n")
    say(result(username: hear().contains("status=unsupported") ? "told-nobody" : "told-somebody"))
case "surroundings":
    var names: [String] = []
    var entry = environ
    while let variable = entry.pointee {
        names.append(String(String(cString: variable).prefix { $0 != "=" }))
        entry += 1
    }
    var folder = [CChar](repeating: 0, count: 4096)
    let path = getcwd(&folder, folder.count).map { String(cString: $0) } ?? ""
    let isLeader = getsid(0) == getpid()
    say(result(username: "\(names.sorted().joined(separator: ",")) \(path) \(isLeader)"))
case "child":
    let child = spawnChild()
    say(result(username: "\(child)"))
case "leaves-daemon":
    // A child in a separate session keeps standard output open.
    spawn("/bin/sh", ["-c", "exec setsid sleep 15"])
    usleep(200_000)
    say(polite)
case "silent-after-answer":
    _ = hear()
    say("event=prompt\nkind=public\nmessage=who\n\n")
    _ = hear()
    hang()
case "slow-user":
    _ = hear()
    say(openPage)
    _ = hear()
    hang()
case "ends-at-eof":
    _ = hear()
    say(openPage)
    while true { _ = hear() }
default:
    exit(64)
}

/// Starts a process that survives unless the whole process group is killed.
func spawnChild() -> pid_t {
    spawn("/bin/sh", ["-c", "trap '' TERM HUP; sleep 600"])
}

@discardableResult
func spawn(_ program: String, _ arguments: [String]) -> pid_t {
    var child: pid_t = 0
    let words = [program] + arguments
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
    pointers.append(nil)
    posix_spawn(&child, program, nil, nil, pointers, environ)
    return child
}
