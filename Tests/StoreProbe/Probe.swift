internal import AnswerCache
internal import FoundationEssentials
internal import Glibc
internal import Keyring
internal import SealedKeyring
internal import SecretService
internal import Secrets

/// The operations that tests select by name.
struct Probe {
    private let arguments: ProbeArguments
    private let configuration: KeyringConfiguration

    init(_ arguments: ProbeArguments) {
        self.arguments = arguments
        // As the program does, but without a configuration.
        let environment = ProcessInfo.processInfo.environment
        let sealed = SealedKeyring(environment: environment)
        configuration = KeyringConfiguration(
            sealed.exists ? sealed : SecretServiceKeyring(environment: environment),
            group: arguments["group"] ?? "test",
            collection: arguments["collection"].flatMap(KeyringConfiguration.Collection.init) ?? .default,
            deadline: arguments["deadline"].flatMap(Double.init) ?? 2, mayPrompt: arguments["prompt"] == "yes")
    }

    func run() async throws {
        let store = RecordStore(configuration: configuration)
        switch arguments.operation {
        case "state": print(store.problem()?.reason.rawValue ?? "unlocked")
        case "save": try store.save(UnifiedCache(json: readInput())?.records ?? [])
        case "records": try show(store.records(matching: query))
        case "reread":
            // Reads, runs a command that changes the keyring, and reads again over the same connection.
            _ = try store.records(matching: query)
            guard system(arguments["command"] ?? "false") == 0 else { exit(1) }
            try show(store.records(matching: query))
        case "current":
            // The same without a second search.
            let found = try store.records(matching: query)
            guard system(arguments["command"] ?? "false") == 0 else { exit(1) }
            if let current = store.current(found) { show(current) } else { print("only a search tells") }
        case "delete": print(try store.delete(matching: query))
        case "delete-exactly": print(try store.delete(UnifiedCache(json: readInput())?.records ?? []))
        case "bench": try bench(store)
        case "secret-tool": try SecretTool(configuration).run(readInput())
        case "seal":
            // Unlike a key that only the kernel keeps, every user namespace can unwrap it.
            try SealedKeyring(environment: ProcessInfo.processInfo.environment).create(
                .command(wrap: ["/bin/cat"], unwrap: ["/bin/cat"]))
        case "lock":
            // Unlike commands, a passphrase has to be asked for.
            let sealed = SealedKeyring(environment: ProcessInfo.processInfo.environment)
            try sealed.protect(.passphrase(Secret(String(decoding: readInput(), as: UTF8.self))))
            try sealed.unprotect(.command)
            try sealed.lock()
        case "forget": try SealedKeyring(environment: ProcessInfo.processInfo.environment).lock()
        case "churn": try churn()
        case "count": try await count()
        case "get", "store", "erase": try GitPasswords(PasswordStore(configuration: configuration)).run(arguments)
        default: exit(0)
        }
    }

    private var query: RecordQuery {
        RecordQuery(
            kinds: arguments["kind"].flatMap(CredentialKind.init).map { [$0] } ?? Set(CredentialKind.allCases),
            homeAccountID: arguments["home"], environments: arguments["environment"].map { [$0] } ?? [],
            clientID: arguments["client"], includesShared: arguments["shared"] != "no", realm: arguments["realm"])
    }

    private func show(_ records: StoredRecords) {
        print(String(decoding: UnifiedCache(records.all).json(), as: UTF8.self))
        for reason in records.unreadable { print("unreadable: \(reason)") }
    }

    /// Prints the duration of the first and the following calls in milliseconds.
    private func bench(_ store: RecordStore) throws {
        let clock = ContinuousClock()
        for _ in 0..<3 { print("records", try clock.measure { _ = try store.records(matching: query) }) }
        for _ in 0..<3 { print("state", clock.measure { _ = store.problem() }) }
    }

    /// Stores ever higher numbers as one of a few items each, and prints each one once it is stored.
    private func churn() throws {
        let first = arguments["first"].flatMap(Int.init) ?? 0
        for number in first..<first + (arguments["count"].flatMap(Int.init) ?? .max - first) {
            try configuration.keyring.run(configuration) { session throws(KeyringError) in
                try session.openForStoring()
                try session.store(
                    ["xdg:schema": "churn", "name": arguments["name"] ?? String(number % 5)], label: "",
                    secret: Array(String(number).utf8)
                        + [UInt8](repeating: 0x20, count: arguments["pad"].flatMap(Int.init) ?? 0),
                    contentType: "text/plain")
            }
            let line = Array("\(number)\n".utf8)
            write(STDOUT_FILENO, line, line.count)
        }
    }

    /// Increments the number in a file, slowly, with the lock held.
    private func count() async throws {
        let path = arguments["file"] ?? ""
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
        let flight = SingleFlight(in: runtime.map { [$0 + "/lanyard"] } ?? [])
        let deadline = arguments["deadline"].flatMap(Double.init) ?? 20
        try await flight.withLock(key: arguments["key"] ?? "", deadline: deadline) {
            let number = Int(String(decoding: try readFile(path), as: UTF8.self)) ?? 0
            try await Task.sleep(for: .milliseconds(arguments["hold"].flatMap(Int.init) ?? 1))
            if arguments["die"] == "yes" { kill(getpid(), SIGKILL) }
            try writeFile(path, String(number + 1))
        }
    }
}
