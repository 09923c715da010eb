import Foundation
import Glibc
import TestSupport
import Testing

/// All of a user's shells need the same bus: a keyring service on another one overwrites what the first has stored.
@Suite struct SharedBusTests {
    private static func entry(_ number: Int) -> String {
        "protocol=https\nhost=h\(number).example\nusername=u\npassword=p\(number)\n\n"
    }

    @Test func `unlock and doctor name the bus of a second gnome-keyring, and only if it has the same keyrings`()
        async throws
    {
        try await KeyringFixture.with(.unlocked) { keyring in
            let told = "export DBUS_SESSION_BUS_ADDRESS=unix:path=\(keyring.scratch.path)/bus"
            let alone = try await keyring.run(Built.lanyard, ["unlock"])
            #expect(alone.status == 0 && alone.errors == "lanyard: the keyring is unlocked already\n", "\(alone)")
            for hasSameKeyrings in [true, false] {
                let address = "unix:path=\(keyring.scratch.path)/bus-\(hasSameKeyrings)"
                var environment = keyring.environment
                environment["DBUS_SESSION_BUS_ADDRESS"] = address
                // Below the same folder, the bus would only find the first daemon, which is on another one.
                environment["XDG_RUNTIME_DIR"] = keyring.scratch.path + "/run-\(hasSameKeyrings)"
                mkdir(keyring.scratch.path + "/run-\(hasSameKeyrings)", 0o700)
                if !hasSameKeyrings {
                    let data = keyring.scratch.path + "/other"
                    try FileManager.default.createDirectory(
                        atPath: data + "/keyrings", withIntermediateDirectories: true)
                    environment["XDG_DATA_HOME"] = data
                }
                let arguments = ["--session", "--nofork", "--nopidfile", "--address=" + address]
                _ = try await TestSupport.with("/usr/bin/dbus-daemon", arguments, environment: environment) {
                    while access(String(address.dropFirst("unix:path=".count)), R_OK) != 0 {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    defer { Self.end(programsNaming: address) }
                    let unlock = try await TestSupport.run(
                        Built.lanyard, ["unlock"], input: KeyringFixture.password, environment: environment)
                    #expect(unlock.status == 0, "\(unlock)")
                    #expect(unlock.errors.contains(told) == hasSameKeyrings, "\(unlock)")
                    let doctor = try await TestSupport.run(Built.lanyard, ["doctor"], environment: environment)
                    #expect(doctor.output.contains(told) == hasSameKeyrings, "\(doctor)")
                }
            }
        }
    }

    @Test func `on a bus where gnome-keyring can't start beside another, the error names the bus to use`() async throws
    {
        try await KeyringFixture.with(.unlocked) { keyring in
            let stored = try await keyring.run(Built.lanyard, ["store"], input: Self.entry(1))
            #expect(stored.status == 0, "\(stored)")
            let request = try keyring.scratch.write("protocol=https\nhost=h1.example\n\n", to: "request")
            let remedy = "export DBUS_SESSION_BUS_ADDRESS=unix:path=\(keyring.scratch.path)/bus"
            let script = """
                for command in get unlock doctor; do '\(Built.lanyard)' $command <'\(request)'; done
                \(remedy)
                echo then
                '\(Built.lanyard)' get <'\(request)'
                """
            let second = try await keyring.run("dbus-run-session", ["--", "bash", "-c", script])
            let told = """
                lanyard: error: gnome-keyring runs on another session bus, so none starts on this one
                lanyard: hint: use the same bus in all of your shells: \(remedy)

                """
            #expect(second.errors.components(separatedBy: told).count == 3, "\(second)")
            let parts = second.output.components(separatedBy: "then\n")
            #expect(parts[0].contains("fail  keyring.provider  ") && parts[0].contains(remedy), "\(second)")
            #expect(parts.last == "username=u\npassword=p1\n", "\(second)")
        }
    }

    /// lanyard-unlock(1) says that these lines give all of a user's shells one bus.
    @Test(.enabled(if: SSHServer.isInstalled, "there is no sshd"))
    func `without systemd, two logins at a time keep all that both store`() async throws {
        let page = try String(contentsOfFile: Built.checkout + "/man/lanyard-unlock.1", encoding: .utf8)
        let lines = try #require(page.components(separatedBy: ".Bd -literal -offset indent\n").dropFirst().first)
        let literal = try #require(lines.components(separatedBy: ".Ed\n").first)
        let profile = literal.replacingOccurrences(of: "\\(aq", with: "'")
        try await KeyringFixture.with(.noBus) { fixture in
            let home = fixture.scratch.path + "/home"
            defer { Self.end(programsNaming: home) }
            let path = "export PATH=\(FileManager.default.temporaryDirectory.path):/usr/bin:/bin\n"
            try (path + profile).write(toFile: home + "/.profile", atomically: true, encoding: .utf8)
            try await SSHServer.with("SetEnv HOME=\(home)", in: fixture.scratch.path) { server in
                // Both logins find no bus yet.
                async let one = server.run("bash -lc 'printf pw | \"\(Built.lanyard)\" unlock'")
                async let two = server.run("bash -lc :")
                let (unlocked, other) = try await (one, two)
                #expect(unlocked.status == 0 && unlocked.errors.contains("unlocked"), "\(unlocked)")
                #expect(other.status == 0 && other.errors.isEmpty, "\(other)")
                for number in 0..<6 {
                    let file = try fixture.scratch.write(Self.entry(number), to: "entry")
                    let stored = try await server.run("bash -lc '\"\(Built.lanyard)\" store <\(file)'")
                    #expect(stored.status == 0 && stored.errors.isEmpty, "\(stored)")
                }
                let again = try await server.run("bash -lc '\"\(Built.lanyard)\" unlock </dev/null'")
                #expect(again.errors == "lanyard: the keyring is unlocked already\n", "\(again)")
                for number in 0..<6 {
                    let file = try fixture.scratch.write("protocol=https\nhost=h\(number).example\n\n", to: "request")
                    let found = try await server.run("bash -lc '\"\(Built.lanyard)\" get <\(file)'")
                    #expect(found.value("password") == "p\(number)", "\(found)")
                }
                let daemons = RunningProcess.all.filter {
                    $0.text.contains(home) && $0.text.contains("gnome-keyring-daemon")
                }
                #expect(daemons.count == 1)
            }
        }
    }

    @Test func `a bus that ended is started again by what is printed`() async throws {
        try await KeyringFixture.with(.noBus) { fixture in
            defer { Self.end(programsNaming: fixture.scratch.path) }
            let folder = fixture.scratch.path + "/own"
            #expect(mkdir(folder, 0o700) == 0)
            var environment = fixture.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = nil
            environment["XDG_RUNTIME_DIR"] = folder
            environment["PATH"] = "/usr/bin:/bin"
            let bus = "dbus-daemon --session --fork --address=\"unix:path=$XDG_RUNTIME_DIR/bus\""
            let killed = """
                pid=$(\(bus) --print-pid) && kill -9 $pid && while kill -0 $pid 2>&-; do sleep 0.1; done
                test -S "$XDG_RUNTIME_DIR/bus" && '\(Built.lanyard)' status
                """
            let told = try await run("/bin/bash", ["-c", killed], environment: environment)
            let command = try #require(told.errors.components(separatedBy: "~/.profile: ").last, "\(told)")
            #expect(command == bus + "\n", "\(told)")
            let unlock = "\(bus) && printf pw | '\(Built.lanyard)' unlock"
            let unlocked = try await run("/bin/bash", ["-c", unlock], environment: environment)
            #expect(unlocked.status == 0, "\(unlocked)")
        }
    }

    private static func end(programsNaming text: String) {
        for process in RunningProcess.all
        where process.text.contains(text) && process.text.contains("gnome-keyring-daemon")
            || process.text.contains("dbus-daemon --session --fork --address=unix:path=" + text)
        {
            kill(process.number, SIGKILL)
        }
    }
}
