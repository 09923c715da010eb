import Foundation
import Glibc

/// A keyring service of one of Debian's suites, which script/get keyrings gets.
package struct TestedProvider: Sendable, CustomStringConvertible {
    /// The service, and how it is set up.
    package enum Service: String, Sendable, CaseIterable {
        case gnomeKeyring = "gnome-keyring"
        /// gnome-keyring whose keyring has no password, so that its file is text.
        case plainGnomeKeyring = "gnome-keyring without a password"
        /// gnome-keyring whose socket is another program's; lanyard makes and opens its keyring.
        case listenedGnomeKeyring = "gnome-keyring that another program listens for"
        case keePassXC = "KeePassXC"
        case kWallet = "KWallet"
    }

    /// The service.
    package let service: Service
    /// The name of the suite.
    package let suite: String

    /// The folder that script/get keyrings creates; nil unless `script/test --with keyrings` runs the tests.
    package static let folder = ProcessInfo.processInfo.environment["LANYARD_PROVIDERS"]

    /// All of them; packages in Debian sid come and go.
    package static let all = ["bookworm", "trixie", "sid"].flatMap { suite in
        let isThere = folder.map { FileManager.default.fileExists(atPath: "\($0)/\(suite)/complete") } ?? false
        return isThere ? Service.allCases.map { TestedProvider(service: $0, suite: suite) } : []
    }

    package var description: String { "\(suite)'s \(service.rawValue)" }
}

/// A real keyring service of a suite, on a world's bus, with an open keyring.
///
/// It runs within its suite, and everything else outside of it; they share processes and the world's folder.
package struct RunningProvider: Sendable {
    /// The service.
    package let provider: TestedProvider
    /// Its world.
    package let world: World
    /// The variable that names the screen of its windows; empty if it has none.
    package let display: [String: String]

    private static let password = KeyringFixture.password

    /// Runs the body with the service, which may have a screen for its windows.
    ///
    /// With `confirms`, KeePassXC asks before each access and deletion.
    package static func with(
        _ provider: TestedProvider, confirms: Bool = false, hasDisplay: Bool = false,
        _ body: @Sendable (RunningProvider) async throws -> Void
    ) async throws {
        try await World.with(.noProvider) { world in
            let display = hasDisplay ? try await screen(in: world) : [:]
            let running = RunningProvider(provider: provider, world: world, display: display)
            let result: Result<Void, any Error>
            do {
                try await running.prepare(confirms: confirms)
                try await running.start()
                result = .success(try await body(running))
            } catch {
                result = .failure(error)
            }
            for name in ["provider", "screen"] { kill(name, in: world) }
            try result.get()
        }
    }

    /// Ends the service as a logout does, and starts it again.
    package func restart() async throws {
        switch provider.service {
        case .keePassXC:
            try await KeePassXC.quit(world.keyring)
        case .kWallet:
            // This is what makes it write.
            try await lock()
            Self.kill("provider", in: world)
        case .gnomeKeyring, .plainGnomeKeyring, .listenedGnomeKeyring: Self.kill("provider", in: world)
        }
        try await eventually("\(provider) has ended") { try await owner.isEmpty }
        try await start()
    }

    /// Runs a program that changes what it keeps, and waits until that is on disk if it succeeds.
    ///
    /// KeePassXC saves after it has answered, and now and then it crashes if more clients come and go meanwhile.
    package func saving(_ body: () async throws -> Ended) async throws -> Ended {
        let file = world.folder + "/keepassxc/secrets.kdbx"
        func modified() -> Date? {
            (try? FileManager.default.attributesOfItem(atPath: file))?[.modificationDate] as? Date
        }
        let before = modified()
        let result = try await body()
        if let before, result.status == 0 {
            try await eventually("\(provider) has saved") { modified() != before }
        }
        return result
    }

    /// Kills the service.
    package func kill() { Self.kill("provider", in: world) }

    /// Locks its keyring.
    package func lock() async throws {
        try await change("Lock", try await defaultCollection())
        try await eventually("\(provider) is locked") { try await !isUnlocked() }
    }

    /// Waits for a window whose title matches, and then presses keys in it.
    package func press(_ keys: String..., inWindow title: String) async throws {
        let number = try await window(title)
        for key in keys {
            try await xdotool("windowfocus", "--sync", number)
            try await xdotool("key", key)
        }
    }

    /// Waits for a window whose title matches, and types a line in it.
    package func type(_ text: String, inWindow title: String) async throws {
        let number = try await window(title)
        try await xdotool("windowfocus", "--sync", number)
        try await xdotool("type", text)
        try await xdotool("key", "Return")
    }

    /// Waits for a window whose title matches, and returns its number.
    @discardableResult
    package func window(_ title: String) async throws -> String {
        let found = Found()
        try await eventually("a window \(title)") {
            let numbers = try await xdotool("search", "--onlyvisible", "--name", title).lines
            await found.set(numbers.first)
            return !numbers.isEmpty
        }
        return await found.text ?? ""
    }

    /// The titles of all windows.
    package func windows() async throws -> [String] {
        var titles: [String] = []
        for number in try await xdotool("search", "--onlyvisible", "--name", ".").lines {
            titles.append(try await xdotool("getwindowname", number).output)
        }
        return titles
    }
}

/// What a condition found.
private actor Found {
    private(set) var text: String?

    func set(_ text: String?) { self.text = text }
}

extension RunningProvider {
    private func prepare(confirms: Bool) async throws {
        switch provider.service {
        case .gnomeKeyring: break
        case .listenedGnomeKeyring:
            // What starts the daemon for the bus is the daemon's own program, which only connects to the socket.
            let start = within("/usr/bin/gnome-keyring-daemon", "--start", "--foreground", "--components=secrets")
            let text = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(start.joined(separator: " "))\n"
            try write(text, to: "services/org.freedesktop.secrets.service")
        case .plainGnomeKeyring:
            let text = """
                [keyring]
                display-name=Default
                ctime=0
                mtime=0
                lock-on-idle=false
                lock-after=false

                """
            try write(text, to: "data/keyrings/Default.keyring")
            try write("Default", to: "data/keyrings/default")
        case .keePassXC:
            _ = try await KeePassXC.makeDatabase(
                in: world, accessAsks: confirms, deletionsAsk: confirms)
        case .kWallet:
            let text = """
                [Wallet]
                Enabled=true
                First Use=false
                Default Wallet=kdewallet
                [org.freedesktop.secrets]
                apiEnabled=true

                """
            try write(text, to: "config/kwalletrc")
            // KWallet 5 shows a wallet to others only after its next start.
            try await launch()
            try await eventually("\(provider) has made a wallet") {
                FileManager.default.fileExists(atPath: "\(world.folder)/data/kwalletd/kdewallet.kwl")
            }
            Self.kill("provider", in: world)
            try await eventually("\(provider) has ended") { try await owner.isEmpty }
        }
        try write(Self.password, to: "password")
        // The bus starts the program that shows gnome-keyring's windows.
        for name in display.isEmpty ? [] : ["SystemPrompter", "PrivatePrompter"] {
            let command =
                ["/usr/bin/env"] + display.map { "\($0.key)=\($0.value)" } + within("/usr/libexec/gcr-prompter")
            let text = "[D-BUS Service]\nName=org.gnome.keyring.\(name)\nExec=\(command.joined(separator: " "))\n"
            try write(text, to: "services/org.gnome.keyring.\(name).service")
        }
        try await call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.ReloadConfig")
    }

    /// Starts the service, and waits until its keyring is open.
    package func start() async throws {
        try await launch()
        if provider.service == .keePassXC {
            let window = "org.keepassxc.KeePassXC.MainWindow"
            try await eventually("\(provider) is there") { try await has(name: window) }
            try await call(
                window, "/keepassxc", "org.keepassxc.KeePassXC.MainWindow.openDatabase",
                "string:\(world.folder)/keepassxc/secrets.kdbx", "string:\(KeePassXC.password)")
        }
        if provider.service == .listenedGnomeKeyring {
            let socket = "\(world.folder)/run/keyring/control"
            try await eventually("\(provider) has a socket") { FileManager.default.fileExists(atPath: socket) }
            let ended = try await world.lanyard(["unlock"], input: Self.password)
            guard ended.status == 0 else { throw ProviderError("\(ended)") }
        }
        try await eventually("\(provider) has an open keyring") {
            switch provider.service {
            case .gnomeKeyring, .listenedGnomeKeyring, .keePassXC: return try await isUnlocked()
            // It counts as locked until a client asks, which needs no password.
            case .plainGnomeKeyring: return try await defaultCollection() != "/"
            // So does this, but shows a prompt without a window.
            case .kWallet:
                let path = try await defaultCollection()
                if path != "/", try await !isUnlocked() { try await change("Unlock", path) }
                return try await isUnlocked()
            }
        }
    }

    private func launch() async throws {
        let opening = Built.checkout + "/Tests/TestSupport/Scripts/open-wallet"
        let command: [String]
        switch provider.service {
        case .gnomeKeyring:
            command = within("/usr/bin/gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
        case .plainGnomeKeyring:
            command = within("/usr/bin/gnome-keyring-daemon", "--foreground", "--start", "--components=secrets")
        case .listenedGnomeKeyring:
            unlink("\(world.folder)/run/keyring/control")
            command = [Built.checkout + "/Tests/TestSupport/Scripts/listening-keyring"] + within()
        case .keePassXC: command = within("/usr/bin/keepassxc")
        case .kWallet:
            let names = ["ksecretd", "kwalletd6", "kwalletd5"]
            let name = names.first {
                FileManager.default.fileExists(atPath: "\(folder)/\(provider.suite)/usr/bin/\($0)")
            }
            command = [opening] + within("/usr/bin/\(name ?? "kwalletd5")")
        }
        // KeePassXC doesn't start if its temporary directory shows another instance of the same user.
        let platform = display.isEmpty ? "offscreen" : "xcb"
        try await Self.launch(
            "provider", command, world, ["QT_QPA_PLATFORM": platform, "TMPDIR": world.folder].merging(display) { $1 })
    }

    /// Starts a program in the background, with its process ID and output in files of this name.
    private static func launch(
        _ name: String, _ command: [String], _ world: World, _ extra: [String: String] = [:]
    ) async throws {
        let script = """
            name=$1; shift
            [ -e password ] && input=password
            "$@" <${input:-/dev/null} >$name.output 2>$name.errors &
            echo $! >$name.pid
            """
        let ended = try await TestSupport.run(
            "/bin/sh", ["-c", script, "sh", name] + command, environment: world.environment.merging(extra) { $1 },
            folder: world.folder)
        guard ended.status == 0 else { throw ProviderError("\(command): \(ended)") }
    }

    private static func kill(_ name: String, in world: World) {
        let text = try? String(contentsOfFile: "\(world.folder)/\(name).pid", encoding: .utf8)
        if let number = text.flatMap({ pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }), number > 0 {
            Glibc.kill(number, SIGKILL)
        }
    }

    private static func screen(in world: World) async throws -> [String: String] {
        let folder = TestedProvider.folder ?? ""
        try await launch(
            "screen",
            [
                "\(folder)/bin/bookworm", "/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24",
                "-nolisten",
                "tcp",
            ], world)
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let text = (try? String(contentsOfFile: "\(world.folder)/screen.output", encoding: .utf8)) ?? ""
            if text.hasSuffix("\n") { return ["DISPLAY": ":" + text.trimmingCharacters(in: .whitespacesAndNewlines)] }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ProviderError("no screen")
    }

    private var folder: String { TestedProvider.folder ?? "" }

    private func within(_ command: String...) -> [String] { ["\(folder)/bin/\(provider.suite)"] + command }

    @discardableResult
    private func xdotool(_ arguments: String...) async throws -> Ended {
        try await TestSupport.run(
            "\(folder)/bin/bookworm", ["/usr/bin/xdotool"] + arguments,
            environment: world.environment.merging(display) { $1 })
    }

    private func write(_ text: String, to name: String) throws {
        let file = URL(filePath: "\(world.folder)/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// Locks or unlocks a collection, with the prompt that this may take.
    private func change(_ method: String, _ path: String) async throws {
        let asked = try await call(
            "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service." + method,
            "array:objpath:" + path)
        guard let prompt = asked.output.split(separator: "\"").last(where: { $0.contains("/prompt") }) else { return }
        try await call("org.freedesktop.secrets", String(prompt), "org.freedesktop.Secret.Prompt.Prompt", "string:")
    }

    /// The process that provides the Secret Service; empty if there is none.
    private var owner: String {
        get async throws {
            let ended = try await call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetNameOwner",
                "string:org.freedesktop.secrets")
            return ended.status == 0 ? ended.output : ""
        }
    }

    private func has(name: String) async throws -> Bool {
        try await call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetNameOwner", "string:\(name)"
        ).status == 0
    }

    private func defaultCollection() async throws -> String {
        let ended = try await call(
            "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.ReadAlias",
            "string:default")
        return ended.output.split(separator: "\"").dropFirst().first.map(String.init) ?? "/"
    }

    private func isUnlocked() async throws -> Bool {
        let path = try await defaultCollection()
        guard path != "/" else { return false }
        let ended = try await call(
            "org.freedesktop.secrets", path, "org.freedesktop.DBus.Properties.Get",
            "string:org.freedesktop.Secret.Collection", "string:Locked")
        return ended.output.contains("boolean false")
    }

    @discardableResult
    private func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) async throws -> Ended {
        try await world.keyring.run(
            "dbus-send", ["--session", "--print-reply", "--dest=\(name)", path, method] + arguments)
    }

    private func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        let errors = (try? String(contentsOfFile: "\(world.folder)/provider.errors", encoding: .utf8)) ?? ""
        throw ProviderError("waited in vain: \(what)\n\(errors)")
    }
}

/// A service didn't do what a test requires.
package struct ProviderError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
