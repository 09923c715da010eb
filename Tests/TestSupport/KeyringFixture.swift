internal import FoundationEssentials
internal import Glibc
internal import Subprocess
internal import SystemPackage

// A release build of everything has no such module.
#if canImport(Testing)
    internal import Testing
#endif

/// A real gnome-keyring-daemon on a private bus, in a throwaway home.
///
/// ## States
/// Every state is real: a locked keyring has been locked through the Secret Service, and one that hangs is a stopped
/// daemon that still owns its name.
///
/// ## Lifetime
/// All started processes end with the body, whether it returns or throws. Fixtures share nothing, so tests can run
/// concurrently. libsecret keeps one connection per process, so operations on a fixture's keyring run in child
/// processes, with ``environment``.
package struct KeyringFixture: Sendable {
    /// The state of a keyring.
    package enum State: String, Sendable, CaseIterable {
        /// The login keyring exists and is unlocked.
        case unlocked
        /// It was unlocked and has been locked again.
        case locked
        /// It is on disk, but hasn't been unlocked since the daemon started.
        case neverUnlocked
        /// The daemon runs, but the user has never had a keyring.
        case noKeyring
        /// No bus address is set.
        case noBus
        /// There is no bus at the address.
        case staleBus
        /// There is a bus, but no provider of the Secret Service on it.
        case noProvider
        /// The daemon owns its name, but doesn't answer.
        case hung
        /// There is no bus, and lanyard's sealed keyring is unlocked.
        case sealed

        /// The one for tests of what only the Secret Service has: its calls, and other programs' items.
        package static let secretService: State = .unlocked
        /// Those with a keyring that can be used.
        package static let open: [State] = [.unlocked, .sealed]
        /// The one that tests use if it doesn't matter which; with `LANYARD_TEST_KEYRING=sealed` it is that one, and tests
        /// that name a state of their own are skipped, since they have nothing to do with it.
        package static let usual: State =
            ProcessInfo.processInfo.environment["LANYARD_TEST_KEYRING"] == "sealed" ? .sealed : .unlocked
    }

    /// The password of the login keyring.
    package static let password = "correct horse"

    /// The fixture's directory.
    package let scratch: ScratchDirectory
    /// The environment in which processes see only this keyring.
    package let environment: [String: String]
    /// The state that it began in.
    package let state: State

    /// Runs the body with a keyring in the given state.
    package static func with<Result: Sendable>(
        _ state: State, isolation: isolated (any Actor)? = #isolation,
        _ body: (KeyringFixture) async throws -> Result
    ) async throws -> Result {
        #if canImport(Testing) && compiler(>=6.3)
            if State.usual == .sealed, state != .sealed { try Test.cancel("its own keyring is \(state.rawValue)") }
        #endif
        return try await ScratchDirectory.with { scratch in
            let address = "unix:path=\(scratch.path)/bus"
            let announced = scratch.environment.merging(["DBUS_SESSION_BUS_ADDRESS": address]) { $1 }
            switch state {
            case .noBus:
                return try await body(KeyringFixture(scratch: scratch, environment: scratch.environment, state: state))
            case .sealed:
                let fixture = KeyringFixture(scratch: scratch, environment: scratch.environment, state: state)
                return try await fixture.withSealedKeyring { try await body(fixture) }
            case .staleBus:
                return try await body(KeyringFixture(scratch: scratch, environment: announced, state: state))
            case .unlocked, .locked, .neverUnlocked, .noKeyring, .noProvider, .hung:
                let fixture = KeyringFixture(scratch: scratch, environment: announced, state: state)
                return try await fixture.withBus(providers: state != .noProvider, at: address) {
                    try await fixture.bring(to: state)
                    return try await body(fixture)
                }
            }
        }
    }

    /// Runs a process with this keyring; see ``TestSupport/run(_:_:input:environment:folder:timeout:)``.
    package func run(
        _ executable: String, _ arguments: [String] = [], environment extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        try await TestSupport.run(
            executable, arguments, input: input, environment: environment.merging(extra) { $1 })
    }
}

extension KeyringFixture {
    /// Runs the body with a new sealed keyring, whose key is in the user's kernel keyring until then.
    private func withSealedKeyring<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        let made = try await run(Built.storeProbe, ["seal"])
        guard made.status == 0 else { throw KeyringFixtureError(made.output) }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        // The kernel limits the number of a user's keys.
        _ = try? await run(Built.storeProbe, ["forget"])
        return try result.get()
    }

    /// Runs secret-tool(1), or what does the same with the sealed keyring.
    package func secretTool(_ arguments: [String], input: String = "") async throws -> Ended {
        try await TestSupport.secretTool(arguments, input: input, environment: environment)
    }

    /// Locks the keyring, as a user or a screen saver does; ``password`` unlocks it.
    package func lock() async throws {
        if state == .sealed {
            let locked = try await run(Built.storeProbe, ["lock"], input: Self.password)
            guard locked.status == 0 else { throw KeyringFixtureError(locked.output) }
            return
        }
        let result = try await send(
            to: "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/collection/login")
        guard result.status == 0 else { throw KeyringFixtureError(result.errors) }
    }

    /// Gives each item an attribute `later` that this version doesn't know, as a later one may.
    package func addAttributes() async throws {
        let script = """
            import dbus
            bus = dbus.SessionBus()
            def object(path):
                return bus.get_object("org.freedesktop.secrets", path)
            found = object("/org/freedesktop/secrets").SearchItems(
                dbus.Dictionary({}, signature="ss"), dbus_interface="org.freedesktop.Secret.Service")[0]
            for path in found:
                item = dbus.Interface(object(path), dbus.PROPERTIES_IFACE)
                attributes = item.Get("org.freedesktop.Secret.Item", "Attributes")
                attributes["later"] = "x"
                item.Set("org.freedesktop.Secret.Item", "Attributes", attributes)
            """
        let result = try await run("/usr/bin/python3", ["-c", script])
        guard result.status == 0 else { throw KeyringFixtureError(result.errors) }
    }

    /// Returns the secrets of the items with the attribute of ``addAttributes()``, one per line.
    package func secretsWithAddedAttributes() async throws -> [String] {
        let found = try await run("secret-tool", ["search", "--all", "later", "x"])
        return found.output.split(separator: "\n").filter { $0.hasPrefix("secret = ") }.map { String($0.dropFirst(9)) }
    }

    /// Kills the daemon; on the next call, the bus starts another one, which has never been unlocked.
    package func endProvider() async throws {
        guard let provider = try await provider() else { throw KeyringFixtureError("no provider runs") }
        kill(provider, SIGKILL)
        try await eventually("the end of the provider") { try await self.provider() != provider }
    }

    /// Waits for a provider of the Secret Service.
    package func awaitProvider() async throws {
        try await eventually("a provider") { try await provider() != nil }
    }

    private var sealedFolder: String { scratch.path + "/home/.local/state/lanyard/keyring" }

    /// Makes the keyring unusable until ``resume()``: suspends the daemon, which keeps its name, or hides the files.
    package func suspend() async throws {
        if state == .sealed { return _ = rename(sealedFolder, sealedFolder + ".hidden") }
        guard let provider = try await provider() else { throw KeyringFixtureError("no provider runs") }
        kill(provider, SIGSTOP)
    }

    /// Makes a suspended keyring usable.
    package func resume() async throws {
        if state == .sealed { return _ = rename(sealedFolder + ".hidden", sealedFolder) }
        if let provider = try await provider() { kill(provider, SIGCONT) }
    }

    /// Runs the body with a daemon that somebody else listens for, as systemd does where a package has enabled
    /// gnome-keyring-daemon.socket; in place of the one that runs.
    package func listening<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        if try await provider() != nil { try await endProvider() }
        unlink(scratch.path + "/run/keyring/control")
        return try await TestSupport.with(
            Built.checkout + "/Tests/TestSupport/Scripts/listening-keyring", environment: environment
        ) {
            try await eventually("the socket") { access(scratch.path + "/run/keyring/control", F_OK) == 0 }
            return try await body()
        }.result
    }

    /// Makes the default keyring one without a password, as an automatic login leaves it, before a daemon starts.
    package func makePlain() throws {
        let folder = scratch.path + "/data/keyrings"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = "\n[keyring]\ndisplay-name=Default\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        _ = try scratch.write(text, to: "data/keyrings/Default.keyring")
        _ = try scratch.write("Default", to: "data/keyrings/default")
    }

    /// Runs the body with a provider that does what the settings say, in a fixture without another.
    ///
    /// Scripts/scripted-keyring has the settings. The body gets the path of its log.
    package func scripted<Result: Sendable>(
        _ settings: [String], isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
    ) async throws -> Result {
        let log = try scratch.write("", to: "keyring.log")
        return try await TestSupport.with(
            Built.checkout + "/Tests/TestSupport/Scripts/scripted-keyring", [log] + settings, environment: environment
        ) {
            try await awaitProvider()
            return try await body(log)
        }.result
    }

    /// Starts a daemon that creates or unlocks the login keyring.
    package func unlock() async throws {
        // Very rarely, a daemon starts without unlocking anything.
        for replacing in [[], ["--replace"]] {
            // The password must not end with a line feed, which would be part of it.
            _ = try await Subprocess.run(
                .path("/usr/bin/timeout"),
                arguments: Arguments(
                    ["60", "/usr/bin/gnome-keyring-daemon"] + replacing + ["--unlock", "--components=secrets"]),
                environment: .exactly(environment),
                input: .string(Self.password), output: .discarded, error: .discarded)
            try await awaitProvider()
            if try await isUnlocked() { return }
        }
        throw KeyringFixtureError("the keyring can't be unlocked")
    }

    private func isUnlocked() async throws -> Bool {
        let state = try await send(
            to: "org.freedesktop.secrets", "/org/freedesktop/secrets/collection/login",
            "org.freedesktop.DBus.Properties.Get", "string:org.freedesktop.Secret.Collection", "string:Locked")
        return state.output.contains("boolean false")
    }

    private func bring(to state: State) async throws {
        switch state {
        case .unlocked: try await unlock()
        case .locked:
            try await unlock()
            try await lock()
        case .neverUnlocked:
            try await unlock()
            try await endProvider()
        case .hung:
            try await unlock()
            try await suspend()
        case .noKeyring, .noBus, .staleBus, .noProvider, .sealed: return
        }
    }

    /// Returns the process that provides the Secret Service; nil if none does.
    private func provider() async throws -> pid_t? {
        let result = try await send(
            to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
            "string:org.freedesktop.secrets")
        return result.output.split(separator: " ").last.flatMap { pid_t($0.filter(\.isNumber)) }
    }

    private func send(to name: String, _ arguments: String...) async throws -> Ended {
        try await run("/usr/bin/dbus-send", ["--session", "--print-reply", "--dest=" + name] + arguments)
    }
}

extension KeyringFixture {
    /// Runs the body with a bus; then ends the bus and the provider that it started.
    private func withBus<Result: Sendable>(
        providers: Bool, at address: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        // Services started by the bus inherit the bus's environment.
        let configuration = providers ? "--session" : "--config-file=" + (try emptyConfiguration())
        return try await TestSupport.with(
            "/usr/bin/dbus-daemon", [configuration, "--nofork", "--nopidfile", "--address=" + address],
            environment: environment
        ) {
            let result: Swift.Result<Result, any Error>
            do {
                try await eventually("the bus") { access(scratch.path + "/bus", R_OK) == 0 }
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            // Asking the bus runs a program.
            if let provider = LocalConnection.listener(at: scratch.path + "/run/keyring/control") {
                kill(provider, SIGKILL)
            } else if let provider = try? await provider() {
                kill(provider, SIGKILL)
            }
            return try result.get()
        }.result
    }

    /// Creates the configuration of a bus without services, but those that a test puts into the folder `services`.
    private func emptyConfiguration() throws -> String {
        mkdir(scratch.path + "/services", 0o700)
        return try scratch.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(scratch.path)/bus</listen>
              <servicedir>\(scratch.path)/services</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
              </policy>
            </busconfig>
            """, to: "bus.conf")
    }

    private func eventually(
        _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw KeyringFixtureError("waited in vain: \(what)")
    }
}

/// Runs secret-tool(1) in an environment or, if that has no bus, what does the same with the sealed keyring.
package func secretTool(
    _ arguments: [String], input: String = "", environment: [String: String]
) async throws -> Ended {
    if environment["DBUS_SESSION_BUS_ADDRESS"] != nil {
        return try await run("secret-tool", arguments, input: input, environment: environment)
    }
    return try await run(Built.storeProbe, ["secret-tool"] + arguments, input: input, environment: environment)
}

/// The reason why a fixture couldn't be set up.
package struct KeyringFixtureError: Error, CustomStringConvertible {
    /// The reason.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
