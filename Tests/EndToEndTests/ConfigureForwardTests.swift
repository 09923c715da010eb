import Foundation
import TestSupport
import Testing

/// `configure ssh` and `configure container`, which forward an agent's socket to the other side.
@Suite struct ConfigureForwardTests {
    @Test func `ssh forwards the socket for one host, and is as it was afterwards`() async throws {
        try await Home.with { home in
            let folder = home.folder + "/home/.ssh"
            let before = "Host devbox\n    User alice\n\nHost *\n    Compression yes"
            try home.write(before, to: folder + "/config")
            let shown = try await home.lanyard(["configure", "ssh", "devbox", "--dry-run"])
            #expect(shown.status == 0 && shown.errors.contains("RemoteForward /home/alice/.ssh/lanyard-"), "\(shown)")
            #expect(try home.text(folder + "/config") == before)
            let done = try await home.lanyard(["configure", "ssh", "devbox", "--yes"])
            #expect(done.status == 0, "\(done)")
            for part in [
                "lanyard forward add devbox URL", "lanyard config set agent /home/alice/.ssh/lanyard-",
                "StreamLocalBindUnlink yes", "ssh -o ClearAllForwardings=yes devbox rm -f .ssh/lanyard-",
            ] {
                #expect(done.errors.contains(part), "\(done)")
            }
            #expect(try home.text(folder + "/config") == "Include lanyard-devbox.conf\n\(before)")
            let settings = try await home.ssh(["-F", folder + "/lanyard-devbox.conf", "-G", "devbox"])
            let socket = (home.environment["XDG_RUNTIME_DIR"] ?? "") + "/lanyard/agents/devbox"
            #expect(
                settings.isEmpty
                    || settings.contains { $0.hasPrefix("remoteforward /home/alice/.ssh/") && $0.hasSuffix(socket) })
            let variable = "setenv LANYARD_AGENT=/home/alice/.ssh/lanyard-"
            #expect(settings.isEmpty || settings.contains { $0.hasPrefix(variable) })
            let again = try await home.lanyard(["configure", "ssh", "devbox", "--yes"])
            #expect(again.errors.contains("nothing has to be changed"), "\(again)")
            let undone = try await home.lanyard(["unconfigure", "ssh", "--yes"])
            #expect(undone.status == 0, "\(undone)")
            #expect(try home.text(folder + "/config") == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["config"])
        }
    }

    @Test func `root's socket on the host is in root's folder`() async throws {
        try await Home.with { home in
            try home.write("Host *\n    User root\n", to: home.folder + "/home/.ssh/config")
            let shown = try await home.lanyard(["configure", "ssh", "devbox", "--dry-run"])
            #expect(shown.errors.contains("RemoteForward /root/.ssh/lanyard-"), "\(shown)")
        }
    }

    @Test func `doctor warns of what was configured for a forward only if there is no such forward`() async throws {
        try await Home.with { home in
            try home.write("{}\n", to: home.folder + "/home/.devcontainer.json")
            for tool in ["ssh", "container"] {
                #expect(try await home.lanyard(["configure", tool, "devbox", "--yes"]).status == 0)
            }
            func checks() async throws -> [String: String] {
                let doctor = try await home.lanyard(["doctor", "--all", "--json"])
                let json = try JSONSerialization.jsonObject(with: Data(doctor.output.utf8)) as? [String: Any]
                let checks = json?["checks"] as? [[String: Any]] ?? []
                return Dictionary(
                    checks.compactMap { check in
                        guard let name = check["check"] as? String, let level = check["level"] as? String else {
                            return nil
                        }
                        return (name, "\(level) \(check["remedies"] ?? "")")
                    }
                ) { $1 }
            }
            let without = try await checks()
            for tool in ["ssh", "container"] {
                let found = without["tools.\(tool)"] ?? ""
                #expect(found.hasPrefix("warn") && found.contains("lanyard forward add devbox URL"), "\(found)")
            }
            #expect(try await home.lanyard(["forward", "add", "devbox", "https://git.example"]).status == 0)
            let with = try await checks()
            for tool in ["ssh", "container"] {
                #expect(with["tools.\(tool)"]?.hasPrefix("pass") == true, "\(with)")
            }
        }
    }

    @Test func `without a runtime folder a container mounts the socket from the cache`() async throws {
        try await Home.with { home in
            let file = home.folder + "/home/.devcontainer.json"
            try home.write("{}\n", to: file)
            let cache = home.folder + "/home/.cache"
            let bare = home.with(["XDG_RUNTIME_DIR": "/nonexistent", "XDG_CACHE_HOME": cache])
            let done = try await bare.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(done.errors.contains("--volume \"${HOME}/.cache/lanyard/agents/devbox:"), "\(done)")
            #expect(try home.text(file).contains("source=${localEnv:HOME}/.cache/lanyard/agents/devbox,"))
        }
    }

    @Test func `a machine that asks an agent isn't asked for a rule`() async throws {
        try await Home.with { home in
            #expect(try await home.lanyard(["config", "set", "agent", "/nonexistent/agent.sock"]).status == 0)
            let ended = try await home.lanyardAtTerminal(
                ["configure", "git", "https://dev.azure.com/contoso"], [("go on? ", "")])
            #expect(ended.status == 0 && !ended.output.contains("rule"), "\(ended)")
        }
    }

    @Test func `a SetEnv of the user's own stays the one that counts`() async throws {
        try await Home.with { home in
            let folder = home.folder + "/home/.ssh"
            try home.write("Host *\n  SetEnv A=b\n", to: folder + "/config")
            #expect(try await home.lanyard(["configure", "ssh", "devbox", "--yes"]).status == 0)
            #expect(try !home.text(folder + "/lanyard-devbox.conf").contains("SetEnv"))
        }
    }

    @Test(arguments: ["dev box", "devbox:22", "https://devbox/path", "-v", "[::1]", ""])
    func `what is no host's name is refused`(_ host: String) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["configure", "ssh", "--yes", host])
            #expect(ended.status == 64, "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.folder + "/home/.ssh"))
        }
    }

    @Test func `a dev container mounts the socket besides what it mounts already`() async throws {
        try await Home.with { home in
            let file = home.folder + "/home/.devcontainer/devcontainer.json"
            let before = """
                {
                  "image": "debian",
                  "mounts": ["source=a,target=/a,type=volume"],
                  "containerEnv": { "A": "b" }
                }

                """
            try home.write(before, to: file)
            let done = try await home.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(done.status == 0 && done.errors.contains("--volume"), "\(done)")
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(home.text(file).utf8)) as? [String: Any])
            #expect((json["containerEnv"] as? [String: String])?["LANYARD_AGENT"] == "/run/lanyard.sock")
            let mounts = try #require(json["mounts"] as? [String])
            #expect(mounts.count == 2 && mounts[0].contains("/lanyard/agents/devbox,target=/run/lanyard.sock"))
            #expect(try await home.lanyard(["unconfigure", "container", "--yes"]).status == 0)
            #expect(try home.text(file) == before)
        }
    }

    @Test(arguments: [
        """
        // For format details, see https://aka.ms/devcontainer.json.
        {
        \t"name": "app", // "quoted"
        \t"mounts": [
        \t\t// caches
        \t\t"source=a,target=/a,type=volume",
        \t],
        \t/* "containerEnv": {}, */
        \t"image": "debian", // the last
        }

        """,
        "{\n  \"image\": \"debian\",\n  \"containerEnv\": { // none yet\n  },\n  \"mounts\": [],\n}\n",
        "{ /* nothing */ }\n",
    ])
    func `a dev container's comments stay where they are`(before: String) async throws {
        try await Home.with { home in
            let file = home.folder + "/home/.devcontainer.json"
            try home.write(before, to: file)
            let done = try await home.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(done.status == 0, "\(done)")
            let after = try home.text(file)
            #expect(after.contains("/lanyard/agents/devbox,target=/run/lanyard.sock,type=bind\""), "\(after)")
            #expect(after.contains("\"LANYARD_AGENT\": \"/run/lanyard.sock\""), "\(after)")
            let again = try await home.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(again.errors.contains("configured already"), "\(again)")
            #expect(try await home.lanyard(["unconfigure", "container", "--yes"]).status == 0)
            #expect(try home.text(file) == before)
        }
    }

    @Test(arguments: [
        "services:\n  devbox: # where we work\n    image: x\n", "services: {devbox: {image: x}}\n",
        "{\"services\": {\"devbox\": {\"image\": \"x\"}}}", "x-a: &a {image: x}\nservices:\n    'devbox': *a\n",
        "---\nservices:\n      db:\n        image: x\n      \"devbox\" :\n        <<: {image: x}\n",
        "services: &s\n  devbox: !override {image: x}\n",
    ])
    func `a service is found however it is written`(compose: String) async throws {
        try await Home.with { home in
            let own = home.folder + "/home"
            try home.write(compose, to: own + "/docker-compose.yml")
            let done = try await home.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(done.status == 0 && !done.errors.contains("nothing is written"), "\(done)")
            let override = try home.text(own + "/compose.override.yaml")
            #expect(override.contains("  devbox:\n    volumes:\n"), "\(override)")
            #expect(try await home.lanyard(["unconfigure", "container", "--yes"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: own + "/compose.override.yaml"))
        }
    }

    @Test(arguments: [
        (["compose.yaml": "services:\n  db:\n    devbox: x\n"], "has no service devbox"),
        (["compose.yaml": "services:\n  devbox: !reset null\n"], "has no service devbox"),
        (["compose.yaml": "services: [\n"], "can't read ~/compose.yaml"),
        (
            ["compose.yaml": "services:\n  devbox: {}\n", ".env": "COMPOSE_FILE=a.yaml\n"],
            "COMPOSE_FILE names the files"
        ),
        (
            ["compose.yaml": "services:\n  devbox: {}\n", "compose.override.yml": "{}"],
            "an override of ~/compose.yaml exists"
        ),
        (
            [".devcontainer/a/devcontainer.json": "{}", ".devcontainer/b/devcontainer.json": "{}"],
            "several dev containers"
        ),
    ])
    func `why nothing is written is said`(files: [String: String], reason: String) async throws {
        try await Home.with { home in
            for (file, text) in files { try home.write(text, to: "\(home.folder)/home/\(file)") }
            let done = try await home.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(done.status == 0 && done.errors.contains("nothing is written"), "\(done)")
            #expect(done.errors.contains(reason) && done.errors.contains("--volume"), "\(done)")
            for (file, text) in files { #expect(try home.text("\(home.folder)/home/\(file)") == text) }
        }
    }

    @Test func `a dev container in a folder of its own is found`() async throws {
        try await Home.with { home in
            let file = home.folder + "/home/.devcontainer/app/devcontainer.json"
            try home.write("{\n\t\"image\": \"x\"\n}\n", to: file)
            #expect(try await home.lanyard(["configure", "container", "devbox", "--yes"]).status == 0)
            #expect(try home.text(file).contains("\"LANYARD_AGENT\""))
            #expect(try await home.lanyard(["unconfigure", "container", "--yes"]).status == 0)
            #expect(try home.text(file) == "{\n\t\"image\": \"x\"\n}\n")
        }
    }

    /// A project's files: links, with their targets, and the file that is configured.
    private static let links: [(links: [String: String], file: String)] = [
        (["project/compose.override.yaml": "../elsewhere/new.desktop"], "elsewhere/new.desktop"),
        (["project/compose.override.yaml": "HOME/elsewhere/new.desktop"], "elsewhere/new.desktop"),
        (["project/.devcontainer/devcontainer.json": "../../elsewhere/there.json"], "elsewhere/there.json"),
        (["project/.devcontainer.json": "again", "project/again": "../elsewhere/there.json"], "elsewhere/there.json"),
        (["project/.devcontainer": "../elsewhere/folder"], "elsewhere/folder/devcontainer.json"),
        (["project/.devcontainer/app": "../../elsewhere/folder"], "elsewhere/folder/devcontainer.json"),
        (["project/compose.override.yaml": "missing/../../elsewhere/new.desktop"], "elsewhere/new.desktop"),
    ]

    @Test(arguments: links) func `a project's links lead nothing out of it`(
        links: [String: String], file: String
    ) async throws {
        try await Home.with { home in
            let own = home.folder + "/home"
            try home.write("{ \"a\": 1 }\n", to: own + "/elsewhere/there.json")
            try home.write("{ \"a\": 1 }\n", to: own + "/elsewhere/folder/devcontainer.json")
            try home.write("services:\n  devbox:\n    image: debian\n", to: own + "/project/compose.yaml")
            let before = try? home.text("\(own)/\(file)")
            for (link, target) in links {
                let parent = ("\(own)/\(link)" as NSString).deletingLastPathComponent
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(
                    atPath: "\(own)/\(link)", withDestinationPath: target.replacingOccurrences(of: "HOME", with: own))
            }
            for option in ["--yes", "--dry-run"] {
                let ended = try await run(
                    "\(home.folder)/bin/lanyard", ["configure", "container", "devbox", option],
                    environment: home.environment, folder: own + "/project")
                #expect(ended.status == 1 && ended.errors.contains("leads out of the project's folder"), "\(ended)")
            }
            #expect((try? home.text("\(own)/\(file)")) == before)
        }
    }

    @Test func `a link inside of a project stays, and one that replaced its file later leads nothing out of it`()
        async throws
    {
        try await Home.with { home in
            let own = home.folder + "/home"
            let (link, file) = (own + "/project/.devcontainer.json", own + "/project/settings/container.json")
            try home.write("{ \"image\": \"debian\" }\n", to: file)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "settings/container.json")
            func lanyard(_ words: String...) async throws -> Ended {
                try await run(
                    "\(home.folder)/bin/lanyard", words + ["--yes"], environment: home.environment,
                    folder: own + "/project")
            }
            #expect(try await lanyard("configure", "container", "devbox").status == 0)
            let written = try home.text(file)
            #expect(written.contains("lanyard.sock"))
            try FileManager.default.moveItem(atPath: file, toPath: own + "/moved.json")
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: own + "/moved.json")
            let back = try await lanyard("unconfigure", "container")
            #expect(back.status == 1 && back.errors.contains("leads out of the project's folder"), "\(back)")
            #expect(try home.text(own + "/moved.json") == written)
        }
    }

    @Test func `a compose project gets an override for the service of the name`() async throws {
        try await Home.with { home in
            let folder = home.folder + "/home"
            try home.write(
                "services:\n  devbox:\n    image: debian\n  db:\n    image: x\n", to: folder + "/compose.yaml")
            let other = try await home.lanyard(["configure", "container", "web", "--yes"])
            #expect(other.status == 0 && other.errors.contains("volumes: - ${XDG_RUNTIME_DIR}"), "\(other)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/compose.override.yaml"))
            let done = try await home.lanyard(["configure", "container", "devbox", "--yes"])
            #expect(done.status == 0, "\(done)")
            #expect(
                try home.text(folder + "/compose.override.yaml") == """
                    services:
                      devbox:
                        volumes:
                          - ${XDG_RUNTIME_DIR}/lanyard/agents/devbox:/run/lanyard.sock
                        environment:
                          LANYARD_AGENT: /run/lanyard.sock

                    """)
            #expect(try await home.lanyard(["unconfigure", "container", "--yes"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: folder + "/compose.override.yaml"))
        }
    }
}

extension Home {
    /// Returns the lines that ssh prints; empty if ssh isn't installed.
    fileprivate func ssh(_ arguments: [String]) async throws -> [String] {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/ssh") else { return [] }
        return try await run("/usr/bin/ssh", arguments, environment: environment).lines
    }
}
