import Foundation
import TestSupport
import Testing

/// A registry, and skopeo, which uses docker's protocol.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct DockerTests {
    private static let notFound = "credentials not found in native keychain\n"

    @Test func `a login is kept, serves skopeo and git's helpers, and ends with a logout`() async throws {
        try await ImageRegistry.with(.password) { registry in
            let world = registry.world
            // The password is git's, and must not appear in the list, which docker sends to its daemon.
            let lines = "url=https://git.example\nusername=alice\npassword=secret\n"
            #expect(try await world.lanyard(["store"], input: lines).status == 0)
            #expect(try await registry.helper("list", "unused").output == "{}\n")
            let place = "docker://\(registry.name)/hello"
            let refused = try await registry.skopeo("list-tags", [place])
            #expect(refused.status == 1 && refused.errors.contains("authentication required"), "\(refused)")

            let login = try await registry.skopeo(
                "login", [registry.name, "--username", "alice", "--password-stdin"], input: ImageRegistry.password)
            #expect(login.status == 0, "\(login)")
            // The registry has no such image, which it reveals only to authorized users.
            let tags = try await registry.skopeo("list-tags", [place])
            #expect(tags.status == 1 && tags.errors.contains("404"), "\(tags)")
            #expect(try await registry.helper("list", "unused").output == #"{"\#(registry.name)":"alice"}"# + "\n")
            let got = try await world.get(of: "https://\(registry.name)")
            #expect(got.value("password") == ImageRegistry.password, "\(got)")

            let logout = try await registry.skopeo("logout", [registry.name])
            #expect(logout.status == 0, "\(logout)")
            #expect(try await registry.helper("list", "unused").output == "{}\n")
            let after = try await registry.helper("get", registry.name)
            #expect(after.status == 1 && after.output == Self.notFound && after.errors.isEmpty, "\(after)")
            #expect(try await world.get(of: "https://git.example").value("password") == "secret")
        }
    }

    @Test func `git's own helper finds what docker stored, and puts its own in its place`() async throws {
        try await World.with(.secretService) { world in
            try world.link("docker-credential-lanyard")
            let helper = "\(world.folder)/bin/docker-credential-lanyard"
            let git = try await GitLibsecretHelper.gitSchema.build(in: world.keyring.scratch)
            let login = #"{"ServerURL":"registry.example:5000","Username":"u","Secret":"one"}"#
            #expect(try await world.runInside(helper, ["store"], input: login).status == 0)
            let place = "protocol=https\nhost=registry.example:5000\n"
            #expect(try await world.runInside(git, ["get"], input: place).value("password") == "one")
            let stored = try await world.runInside(git, ["store"], input: place + "username=u\npassword=two\n")
            #expect(stored.status == 0, "\(stored)")
            let got = try await world.runInside(helper, ["get"], input: "registry.example:5000")
            #expect(got.output.contains(#""Secret":"two""#), "\(got)")
            // Now it is git's.
            #expect(try await world.runInside(helper, ["list"]).output == "{}\n")
        }
    }

    @Test func `a logout leaves what git stored, and a token of terraform's is none of docker's`() async throws {
        try await World.with { world in
            for program in ["docker-credential-lanyard", "terraform-credentials-lanyard"] { try world.link(program) }
            let helper = "\(world.folder)/bin/docker-credential-lanyard"
            let server = "registry.example"
            let git = "url=https://\(server)\nusername=git\npassword=one\n"
            #expect(try await world.lanyard(["store"], input: git).status == 0)
            let login = #"{"ServerURL":"registry.example","Username":"docker","Secret":"two"}"#
            let stored = try await world.runInside(helper, ["store"], input: login)
            #expect(stored.status == 0 && stored.errors.isEmpty, "\(stored)")
            #expect(try await world.runInside(helper, ["get"], input: server).output.contains(#""Secret":"two""#))
            #expect(try await world.runInside(helper, ["erase"], input: server).status == 0)
            #expect(try await world.runInside(helper, ["list"]).output == "{}\n")
            #expect(try await world.get(of: "https://\(server)").value("password") == "one")

            let terraform = "\(world.folder)/bin/terraform-credentials-lanyard"
            let token = #"{"token":"t"}"#
            #expect(try await world.runInside(terraform, ["store", "tf.example"], input: token).status == 0)
            #expect(try await world.runInside(helper, ["get"], input: "tf.example").output == Self.notFound)
            #expect(try await world.runInside(terraform, ["get", "tf.example"]).output == token + "\n")
        }
    }

    @Test func `a password of several lines is docker's, and no other tool gets a part of it`() async throws {
        try await World.with { world in
            try world.link("docker-credential-lanyard")
            let helper = "\(world.folder)/bin/docker-credential-lanyard"
            let server = "https://europe-docker.pkg.dev"
            func login(_ secret: String) async throws {
                let login = ["ServerURL": server, "Username": "_json_key", "Secret": secret]
                let input = String(decoding: try JSONEncoder().encode(login), as: UTF8.self)
                let stored = try await world.runInside(helper, ["store"], input: input)
                #expect(stored.status == 0 && stored.output.isEmpty && stored.errors.isEmpty, "\(stored)")
            }
            func kept() async throws -> String? {
                let got = try await world.runInside(helper, ["get"], input: server)
                return try? JSONDecoder().decode([String: String].self, from: Data(got.output.utf8))["Secret"]
            }
            for key in ["{\n  \"type\": \"service_account\",\n  \"key\": \"a\\\\nb\\t\"\n}\n", "\n", "a\r\nb=c\nd\\s"] {
                try await login(key)
                #expect(try await kept() == key)
                let listed = try await world.runInside(helper, ["list"])
                #expect(listed.output.contains(#"":"_json_key""#), "\(listed)")
                for lines in ["", "capability[]=authtype\n"] {
                    let got = try await world.lanyard(["get"], input: "\(lines)url=\(server)\n")
                    #expect(got.output.isEmpty, "\(got)")
                }
            }
            // What is stored last counts, and nothing is left of it after a logout.
            try await login("one line")
            #expect(try await kept() == "one line")
            try await login("two\nlines")
            #expect(try await kept() == "two\nlines")
            #expect(try await world.runInside(helper, ["erase"], input: server).status == 0)
            #expect(try await kept() == nil)
            #expect(try await world.runInside(helper, ["list"]).output == "{}\n")
        }
    }

    @Test func `docker's ways to write a server are one place, and what is beside it gets nothing`() async throws {
        try await World.with { world in
            try world.link("docker-credential-lanyard")
            let helper = "\(world.folder)/bin/docker-credential-lanyard"
            let login = #"{"ServerURL":"registry.example/contoso","Username":"u","Secret":"p"}"#
            let stored = try await world.runInside(helper, ["store"], input: login)
            #expect(stored.status == 0 && stored.output.isEmpty, "\(stored)")
            for server in ["registry.example/contoso/image", "https://registry.example/contoso", "registry.example"] {
                let got = try await world.runInside(helper, ["get"], input: server)
                let answer = try JSONDecoder().decode([String: String].self, from: Data(got.output.utf8))
                #expect(answer == ["ServerURL": server, "Username": "u", "Secret": "p"])
            }
            for server in [
                "registry.example:444/contoso", "http://registry.example/contoso", "registry.example/contoso2",
            ] {
                let got = try await world.runInside(helper, ["get"], input: server)
                #expect(got.status == 1 && got.output == Self.notFound, "\(server) \(got)")
            }
        }
    }
}

extension ImageRegistry {
    /// Runs skopeo with lanyard as the helper for this registry.
    fileprivate func skopeo(_ command: String, _ arguments: [String], input: String = "") async throws -> Ended {
        let settings = world.folder + "/auth.json"
        try #"{"credHelpers":{"\#(name)":"lanyard"}}"#.write(toFile: settings, atomically: true, encoding: .utf8)
        return try await world.tool(
            Clients.program("skopeo"), [command, "--tls-verify=false"] + arguments, ["REGISTRY_AUTH_FILE": settings],
            input: input)
    }
}

extension World {
    fileprivate func get(of url: String) async throws -> Ended {
        try await lanyard(["get"], input: "url=\(url)\n")
    }
}
