import Foundation
import TestSupport
import Testing

/// What is undone before lanyard is uninstalled, and what the uninstaller says.
@Suite struct UnconfigureAllTests {
    private static let tools = [["docker"], ["docker", "https://localhost:9006"], ["cargo"], ["pip"]]

    @Test func `every tool and git stop asking lanyard at once`() async throws {
        try await Home.with { home in
            let docker = home.folder + "/home/.docker/config.json"
            try home.write("{\n  \"auths\": {}\n}\n", to: docker)
            for tool in Self.tools {
                #expect(try await home.lanyard(["configure"] + tool + ["--yes"]).status == 0)
            }
            #expect(try await home.lanyard(["configure", "git", "--yes"]).status == 0)
            let unasked = try await home.lanyard(["unconfigure", "--all"])
            #expect(
                unasked.status == 64
                    && unasked.errors == """
                        lanyard: error: there is no terminal to ask you whether to change the tools' settings
                        lanyard: hint: to change them without being asked: lanyard unconfigure --all --yes
                        lanyard: hint: only to look: lanyard unconfigure --all --dry-run

                        """,
                "\(unasked)")
            let shown = try await home.lanyard(["unconfigure", "--all", "--dry-run"])
            #expect(shown.status == 0 && shown.errors.contains("would be removed"), "\(shown)")
            #expect(try home.text(docker).contains("lanyard"))
            let undone = try await home.lanyard(["unconfigure", "--all", "--yes"])
            #expect(undone.status == 0, "\(undone)")
            #expect(try home.text(docker) == "{\n  \"auths\": {}\n}\n")
            let list = try await home.lanyard(["configure", "--list"])
            #expect(!list.output.contains("  uses lanyard"), "\(list)")
            let files = FileManager.default
            for path in [".gitconfig", ".local/bin/keyring", ".config/pip/pip.conf", ".cargo/config.toml"] {
                let place = "\(home.folder)/home/\(path)"
                #expect((try? files.attributesOfItem(atPath: place)) == nil, "\(path)")
            }
            let again = try await home.lanyard(["unconfigure", "--all", "--yes"])
            #expect(again.status == 0 && !again.errors.contains("docker"), "\(again)")
        }
    }

    @Test func `a tool whose file can't be read keeps no other from being undone`() async throws {
        try await Home.with { home in
            let docker = home.folder + "/home/.docker/config.json"
            for tool in ["docker", "cargo"] {
                #expect(try await home.lanyard(["configure", tool, "--yes"]).status == 0)
            }
            try home.write("{", to: docker)
            let undone = try await home.lanyard(["unconfigure", "--all", "--yes"])
            #expect(undone.status == 1 && undone.errors.contains("config.json"), "\(undone)")
            #expect(!FileManager.default.fileExists(atPath: home.folder + "/home/.cargo/config.toml"), "\(undone)")
        }
    }

    @Test func `without a record, what makes a tool ask lanyard is named`() async throws {
        try await Home.with { home in
            for tool in Self.tools {
                #expect(try await home.lanyard(["configure"] + tool + ["--yes"]).status == 0)
            }
            try FileManager.default.removeItem(atPath: home.folder + "/home/.local/state/lanyard")
            let docker = try await home.lanyard(["unconfigure", "docker"])
            #expect(docker.errors.contains("this stays in ~/.docker/config.json"), "\(docker)")
            #expect(
                docker.errors.contains("\n  \"credsStore\": \"lanyard\"")
                    || docker.errors.contains("\"credsStore\": \"lanyard\""))
            #expect(docker.errors.contains("\"localhost:9006\": \"lanyard\""), "\(docker)")
            let all = try await home.lanyard(["unconfigure", "--all"])
            for file in ["~/.docker/config.json", "~/.cargo/config.toml", "pip.conf", "rm "] {
                #expect(all.errors.contains(file), "\(file): \(all)")
            }
        }
    }

    @Test func `while tools ask lanyard, the uninstaller asks, and without a terminal removes nothing`() async throws {
        try await Home.with { home in
            let prefix = home.folder + "/prefix"
            let program = prefix + "/bin/lanyard"
            let files = FileManager.default
            let installer = "\(Built.checkout)/script/installer"
            func install() throws {
                for folder in ["bin", "lib/lanyard"] {
                    try files.createDirectory(atPath: "\(prefix)/\(folder)", withIntermediateDirectories: true)
                }
                try files.createSymbolicLink(atPath: program, withDestinationPath: Built.lanyard)
                try home.write("bin/lanyard\n", to: prefix + "/lib/lanyard/installed")
            }
            func uninstall(_ options: [String] = []) async throws -> Ended {
                try await run(
                    "/bin/sh", [installer, "--uninstall"] + options + [prefix], environment: home.environment)
            }
            var isInstalled: Bool {
                files.isExecutableFile(atPath: program) && files.fileExists(atPath: prefix + "/lib/lanyard/installed")
            }
            try install()
            #expect(try await home.lanyard(["configure", "docker", "--yes"]).status == 0)
            let refused = try await uninstall()
            #expect(
                refused.errors == """
                    install: error: these tools still ask lanyard, and will fail without it: docker
                    install: hint: undo that first: '\(program)' unconfigure --all --yes
                    install: hint: or uninstall it nevertheless: \(installer) --uninstall --yes '\(prefix)'

                    """)
            #expect(refused.status == 1 && isInstalled, "\(refused)")
            for (answer, status) in [("", Int32(1)), ("no", 1), ("y", 0)] {
                let terminal = try PseudoTerminal()
                let ended = try await terminal.run(
                    "/bin/sh", ["-c", #"exec "$@" </dev/tty"#, "sh", installer, "--uninstall", prefix],
                    environment: home.environment
                ) { terminal in
                    try await terminal.sees("uninstall it nevertheless? [y/N] ")
                    try terminal.type(answer + "\r")
                }
                #expect(ended.status == status && isInstalled == (status == 1), "\(answer): \(terminal.text)")
            }
            try install()
            let forced = try await uninstall(["--yes"])
            #expect(forced.status == 0 && forced.errors.contains("will fail without it: docker\n"), "\(forced)")
            #expect(!files.fileExists(atPath: prefix + "/lib/lanyard/installed"))

            try install()
            #expect(try await home.lanyard(["unconfigure", "--all", "--yes"]).status == 0)
            let silent = try await uninstall()
            #expect(silent.status == 0 && !silent.errors.contains("warning") && !isInstalled, "\(silent)")
        }
    }
}
