import Foundation
import TestSupport
import Testing

/// A server that is reached by ssh: a Debian with git, systemd, and nothing that lanyard needs besides.
@Suite(.enabled(if: !BareSystem.all.isEmpty, "there are no systems, or no namespaces: run script/test --with systems"))
struct BareMachineTests {
    private static let alice = "alice@contoso.example"

    private static func with(
        _ system: BareSystem, _ body: @Sendable (World, BareMachine) async throws -> Void
    ) async throws {
        try await World.with(.noBus) { world in
            try await BareMachine.with(system, in: world) { machine in try await body(world, machine) }
        }
    }

    @Test(arguments: BareSystem.all, [false, true])
    func `two commands sign in, and nothing is asked after a reboot`(system: BareSystem, hasTPM: Bool) async throws {
        try await Self.with(system) { world, machine in
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            try await machine.boot(hasTPM: hasTPM) {
                let ready = try await machine.run(
                    "lanyard keyring create && lanyard configure git \(url)",
                    answering: [("create the keyring with it? [Y/n]", ""), ("go on? [Y/n]", "")])
                #expect(ready.status == 0 && ready.output.contains("protector systemd: nothing is asked"), "\(ready)")
                let clone = try await machine.run(
                    "git clone --quiet \(url) hello", world.browser(as: Self.alice))
                #expect(clone.status == 0, "\(clone)")
            }
            let slot = try machine.slot("systemd")
            // A blob with a TPM's part is longer.
            #expect((slot.count > 600) == hasTPM, "\(slot)")

            try await world.sandbox.clearLog()
            try await machine.boot(hasTPM: hasTPM) {
                let fetch = try await machine.run("git -C hello fetch && git clone --quiet \(url) again")
                #expect(fetch.status == 0 && fetch.errors.isEmpty, "\(fetch)")
                #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 0)
            }
        }
    }

    @Test(arguments: BareSystem.all)
    func `a copy opens nowhere else, and a machine that has lost its secret says so`(system: BareSystem) async throws {
        try await Self.with(system) { world, machine in
            let files = FileManager.default
            @Sendable func get() async throws -> Ended {
                try await machine.run("printf 'protocol=https\\nhost=a\\n\\n' | lanyard get")
            }
            try await machine.boot(hasTPM: false) {
                let stored = try await machine.run(
                    "lanyard keyring create && printf 'protocol=https\\nhost=a\\nusername=u\\npassword=p\\n\\n' | lanyard store"
                )
                #expect(stored.status == 0, "\(stored)")
                #expect(try await get().output.contains("password=p\n"))
            }
            let secret = machine.folder + "/var/lib/systemd/credential.secret"
            try files.moveItem(atPath: secret, toPath: secret + ".kept")
            try await machine.boot(hasTPM: false) {
                let lost = try await get()
                #expect(
                    lost.output.isEmpty && lost.errors.contains("the sealed keyring's key can't be unwrapped"),
                    "\(lost)")
            }
            try? files.removeItem(atPath: secret)
            try files.moveItem(atPath: secret + ".kept", toPath: secret)
            try await machine.boot(hasTPM: false) {
                let found = try await get()
                #expect(found.output.contains("password=p\n"), "\(found)")
            }
            let id = machine.folder + "/etc/machine-id"
            try files.moveItem(atPath: id, toPath: id + ".kept")
            try await machine.boot(hasTPM: false) {
                let elsewhere = try await machine.run("lanyard keyring status")
                #expect(elsewhere.output.contains("none on this machine"), "\(elsewhere)")
            }
        }
    }

    /// The manual's recipes for commands that wrap the key, and what has to be there before.
    private static let recipes: [(name: String, setup: String, wrap: String, unwrap: String)] = [
        (
            "gpg", "gpg --batch --quiet --passphrase '' --quick-generate-key alice@example.com default default never",
            "gpg --batch --quiet --recipient alice@example.com --encrypt", "gpg --quiet --decrypt"
        ),
        (
            "age", "age-keygen -o ~/key.txt", "age --encrypt --identity $HOME/key.txt",
            "age --decrypt --identity $HOME/key.txt"
        ),
        (
            "tpm2-tools", "chmod 700 ~/tpm-wrap ~/tpm-unwrap", "$HOME/tpm-wrap",
            "$HOME/tpm-unwrap"
        ),
    ]

    /// Writes the manual's scripts for a TPM into a machine's home.
    private static func writeScripts(_ machine: BareMachine) throws {
        let page = try String(contentsOfFile: Built.checkout + "/man/lanyard-keyring.1", encoding: .utf8)
        let scripts = page.components(separatedBy: ".Bd -literal -offset indent\n").dropFirst()
            .map { $0.components(separatedBy: "\n.Ed")[0].replacing("\\e", with: "\\") + "\n" }
            // The kernel does this at /dev/tpmrm0.
            .map { $0.replacing("\ntpm2_", with: "\ntpm2_flushcontext --transient-object\ntpm2_") }
        for (name, script) in zip(["tpm-wrap", "tpm-unwrap"], scripts) {
            try script.write(toFile: "\(machine.home)/\(name)", atomically: true, encoding: .utf8)
        }
    }

    @Test(arguments: BareSystem.all, recipes.map(\.name))
    func `commands of the manual keep the key`(system: BareSystem, name: String) async throws {
        let recipe = try #require(Self.recipes.first { $0.name == name })
        try await Self.with(system) { world, machine in
            try Self.writeScripts(machine)
            try await machine.boot(hasTPM: true) {
                let made = try await machine.run(
                    """
                    \(recipe.setup) && lanyard keyring create command --wrap "\(recipe.wrap)" --unwrap "\(recipe.unwrap)"
                    gpgconf --kill all
                    """)
                #expect(made.errors.contains("was created"), "\(made)")
            }
            try await machine.boot(hasTPM: true) {
                let status = try await machine.run("lanyard keyring status; gpgconf --kill all")
                #expect(status.output.contains("state: unlocked, 0 items"), "\(status)")
            }
        }
    }
}
