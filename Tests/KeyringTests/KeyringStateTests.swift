import TestSupport
import Testing

/// The store's results for keyrings in every possible state, and how long they take.
@Suite struct KeyringStateTests {
    struct Case: CustomTestStringConvertible {
        let keyring: KeyringFixture.State
        let state: String
        let reading: String?
        let storing: String?
        var testDescription: String { keyring.rawValue }
    }

    /// Longer than any wait of the store, however busy the machine is; libsecret by itself would wait for 25 seconds.
    static let longest = Duration.seconds(20)

    static let cases = [
        Case(keyring: .unlocked, state: "unlocked", reading: nil, storing: nil),
        Case(keyring: .locked, state: "locked", reading: "locked", storing: "locked"),
        Case(keyring: .neverUnlocked, state: "locked", reading: "locked", storing: "locked"),
        Case(keyring: .noKeyring, state: "noDefaultCollection", reading: nil, storing: "noDefaultCollection"),
        Case(keyring: .noBus, state: "noSessionBus", reading: "noSessionBus", storing: "noSessionBus"),
        Case(keyring: .staleBus, state: "noSessionBus", reading: "noSessionBus", storing: "noSessionBus"),
        Case(keyring: .noProvider, state: "noProvider", reading: "noProvider", storing: "noProvider"),
        Case(keyring: .hung, state: "timedOut", reading: "timedOut", storing: "timedOut"),
    ]

    @Test(arguments: cases) func `the state is told without a prompt and in time`(_ row: Case) async throws {
        try await KeyringFixture.with(row.keyring) { keyring in
            let state = try await keyring.probe("state")
            #expect(state.output == row.state + "\n")
            #expect(state.duration < Self.longest)
            #expect(state.errors.isEmpty)
        }
    }

    @Test(arguments: cases) func `reading and storing fail for the right reason, in time`(_ row: Case) async throws {
        try await KeyringFixture.with(row.keyring) { keyring in
            for (operation, reason) in [
                ("records", row.reading), ("delete", row.reading), ("save", row.storing),
            ] {
                let input = operation == "save" ? #"{"AppMetadata":{"k":{"client_id":"c","environment":"e"}}}"# : ""
                let result = try await keyring.probe(operation, input: input)
                #expect(result.status == (reason == nil ? 0 : 1), "\(operation): \(result.output)")
                if let reason { #expect(result.output.hasPrefix("error: \(reason)")) }
                #expect(result.duration < Self.longest)
                #expect(result.errors.isEmpty)
            }
        }
    }

    /// A bus that is stopped still has its socket, at which the kernel takes connections.
    @Test(arguments: ["get", "store", "erase"])
    func `a bus that lets nobody in is tried once`(_ verb: String) async throws {
        try await KeyringFixture.with(.noBus) { keyring in
            let path = keyring.scratch.path + "/silent"
            let script = """
                import socket, subprocess, sys
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1])
                listener.listen(16)
                request = b"protocol=https\\nhost=git.example\\nusername=u\\npassword=p\\n"
                ended = subprocess.run(sys.argv[2:], input=request, capture_output=True)
                listener.setblocking(False)
                count = 0
                try:
                    while listener.accept():
                        count += 1
                except BlockingIOError:
                    print(count, ended.stderr.decode())
                """
            let ended = try await keyring.run(
                "/usr/bin/python3", ["-c", script, path, Built.lanyard, verb],
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=" + path])
            #expect(ended.output.hasPrefix("1 lanyard: error: the keyring service does not answer\n"), "\(ended)")
        }
    }

    @Test func `a backend that libsecret would hang on is refused before it is asked`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let result = try await keyring.probe("records", environment: ["SECRET_BACKEND": "typo"])
            #expect(result.output.hasPrefix("error: badBackend"))
            #expect(result.duration < Self.longest)
        }
    }
}
