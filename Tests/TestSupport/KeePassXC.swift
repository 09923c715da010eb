import Foundation

/// A real KeePassXC with its own database, which provides the Secret Service on a world's bus; it needs no display.
package struct KeePassXC {
    private let world: World
    /// The password of its database.
    package static let password = "staple"
    private static let collection = "/org/freedesktop/secrets/collection/secrets"

    /// Runs the bodies one after the other, each while a KeePassXC of its own serves the same open database in a world
    /// without another provider.
    ///
    /// With `accessAsks` or `deletionsAsk`, a window asks for each access or deletion; `display` is where it opens, or
    /// nowhere. 2.7.4 crashes now and then while it saves, which is no fault of its callers: then all is done anew.
    package static func with(
        accessAsks: Bool = false, deletionsAsk: Bool = false, display: String? = nil,
        _ bodies: [@Sendable (World, KeePassXC) async throws -> Void]
    ) async throws {
        for _ in 1...3 {
            do {
                return try await once(accessAsks, deletionsAsk, display, bodies)
            } catch is KeePassXCCrash {}
        }
        throw KeePassXCError("KeePassXC crashed three times")
    }

    private static func once(
        _ accessAsks: Bool, _ deletionsAsk: Bool, _ display: String?,
        _ bodies: [@Sendable (World, KeePassXC) async throws -> Void]
    ) async throws {
        try await World.with(.noProvider) { world in
            let provider = KeePassXC(world: world)
            let database = try await makeDatabase(in: world, accessAsks: accessAsks, deletionsAsk: deletionsAsk)
            // It doesn't start if its temporary directory shows another instance of the same user.
            let place = display.map { ["DISPLAY": $0] } ?? ["QT_QPA_PLATFORM": "offscreen"]
            let further = place.merging(["TMPDIR": world.folder + "/keepassxc"]) { $1 }
            for (number, body) in bodies.enumerated() {
                let ended = try await TestSupport.with(
                    "/usr/bin/keepassxc", ["--pw-stdin", database], input: "\(Self.password)\n",
                    environment: world.environment.merging(further) { $1 }
                ) {
                    // It first shows the database and then opens it.
                    try await provider.eventually("KeePassXC serves its open database") {
                        try await provider.property("Locked", of: Self.collection).contains("boolean false")
                    }
                    try await body(world, provider)
                    guard provider.isRunning else { throw KeePassXCCrash() }
                    try await quit(world.keyring)
                }
                // At the end it matters only to what comes.
                if ended.status == -SIGSEGV, number < bodies.count - 1 { throw KeePassXCCrash() }
            }
        }
    }

    /// Whether it runs, and hasn't crashed.
    package var isRunning: Bool {
        let database = Data(" \(world.folder)/keepassxc/secrets.kdbx".utf8)
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.contains { process in
            let words = try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline"))
            return words?.starts(with: Data("/usr/bin/keepassxc".utf8)) == true
                && Data((words ?? Data()).map { $0 == 0 ? 0x20 : $0 }).range(of: database) != nil
        }
    }

    /// Has it end as its menu does, so that everything is saved.
    ///
    /// It takes no notice of this, nor of a signal, while it saves.
    package static func quit(_ keyring: KeyringFixture) async throws {
        let window = "org.keepassxc.KeePassXC.MainWindow"
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let asked = try await keyring.run(
                "dbus-send",
                [
                    "--session", "--print-reply", "--reply-timeout=5000", "--dest=\(window)", "/keepassxc",
                    "\(window).appExit",
                ])
            if asked.errors.contains("ServiceUnknown") { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw KeePassXCError("KeePassXC doesn't end")
    }

    /// Runs the body with an X server of its own, and its name.
    package static func withDisplay(_ body: @Sendable (String) async throws -> Void) async throws {
        try await ScratchDirectory.with { scratch in
            let file = scratch.path + "/display"
            _ = try await TestSupport.with(
                "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"], output: file,
                environment: scratch.environment, endedBy: SIGTERM
            ) {
                for _ in 0..<1200 {
                    let number = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                    if number.hasSuffix("\n") { return try await body(":" + number.dropLast()) }
                    try await Task.sleep(for: .milliseconds(50))
                }
                throw KeePassXCError("no display")
            }
        }
    }

    /// Waits for a window whose title has this text, and presses keys in it.
    package func press(_ keys: [String], in title: String, at display: String) async throws {
        let place = ["DISPLAY": display]
        try await eventually("the window \(title)") {
            try await world.keyring.run(
                "xdotool", ["search", "--onlyvisible", "--name", title, "windowfocus"], environment: place
            ).status == 0
        }
        // To the window in focus, like a keyboard: the window may close with the first key.
        _ = try await world.keyring.run("xdotool", ["key", "--delay", "100"] + keys, environment: place)
    }

    /// Locks the database as its lock button does.
    package func lock() async throws {
        let asked = try await call("Service.Lock", "array:objpath:\(Self.collection)")
        guard let prompt = asked.output.split(separator: "\"").last(where: { $0.contains("/prompt/") }) else {
            throw KeePassXCError("no prompt: \(asked.errors)")
        }
        try await call(at: String(prompt), "Prompt.Prompt", "string:")
        try await eventually("the database is locked") {
            let state = try await property("Locked", of: Self.collection)
            return !state.contains("boolean false")
        }
    }

    /// Closes the database, as a user does.
    package func close() async throws {
        _ = try await world.keyring.run(
            "dbus-send",
            [
                "--session", "--print-reply", "--dest=org.keepassxc.KeePassXC.MainWindow", "/keepassxc",
                "org.keepassxc.KeePassXC.MainWindow.closeAllDatabases",
            ])
        try await eventually("the database is closed") {
            try await !call("Service.ReadAlias", "string:default").output.contains("/collection/")
        }
    }

    /// Creates the database and KeePassXC's configuration; returns the database's path.
    package static func makeDatabase(
        in world: World, accessAsks: Bool = false, deletionsAsk: Bool = false
    ) async throws -> String {
        let folder = world.folder + "/keepassxc"
        let settings = world.folder + "/config/keepassxc"
        for path in [folder, settings] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let text = Self.settings(accessAsks: accessAsks, deletionsAsk: deletionsAsk)
        try text.write(toFile: settings + "/keepassxc.ini", atomically: true, encoding: .utf8)
        try Self.database.write(toFile: folder + "/secrets.xml", atomically: true, encoding: .utf8)
        let made = try await world.keyring.run(
            "keepassxc-cli", ["import", "--set-password", folder + "/secrets.xml", folder + "/secrets.kdbx"],
            input: "\(Self.password)\n\(Self.password)\n")
        guard made.status == 0 else { throw KeePassXCError("no database: \(made.errors)") }
        return folder + "/secrets.kdbx"
    }

    @discardableResult
    private func call(
        at path: String = "/org/freedesktop/secrets", _ method: String, _ arguments: String...
    ) async throws -> Ended {
        try await world.keyring.run(
            "dbus-send",
            ["--session", "--print-reply", "--dest=org.freedesktop.secrets", path, "org.freedesktop.Secret." + method]
                + arguments)
    }

    private func property(_ name: String, of path: String) async throws -> String {
        try await world.keyring.run(
            "dbus-send",
            [
                "--session", "--print-reply", "--dest=org.freedesktop.secrets", path,
                "org.freedesktop.DBus.Properties.Get", "string:org.freedesktop.Secret.Collection", "string:\(name)",
            ]
        ).output
    }

    private func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        for _ in 0..<1200 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw KeePassXCError("waited in vain: \(what)")
    }

    /// The settings that turn on the Secret Service, and suppress other dialogs than these.
    private static func settings(accessAsks: Bool, deletionsAsk: Bool) -> String {
        """
        [General]
        ConfigVersion=2
        [FdoSecrets]
        Enabled=true
        ShowNotification=false
        ConfirmAccessItem=\(accessAsks)
        ConfirmDeleteItem=\(deletionsAsk)
        UnlockBeforeSearch=false
        [GUI]
        CheckForUpdates=false
        """
    }

    /// An empty database, whose only group is exposed to the Secret Service.
    private static let database = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <KeePassFile>
          <Meta>
            <DatabaseName>secrets</DatabaseName>
            <RecycleBinEnabled>False</RecycleBinEnabled>
            <CustomData>
              <Item>
                <Key>FDO_SECRETS_EXPOSED_GROUP</Key>
                <Value>{00112233-4455-6677-8899-aabbccddeeff}</Value>
              </Item>
            </CustomData>
          </Meta>
          <Root><Group><UUID>ABEiM0RVZneImaq7zN3u/w==</UUID><Name>Root</Name></Group></Root>
        </KeePassFile>
        """
}

/// KeePassXC has crashed.
private struct KeePassXCCrash: Error {}

/// KeePassXC didn't do what a test requires.
package struct KeePassXCError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
