import Foundation
import TestSupport
import Testing

/// Identities that a plugin of one's own finds on the machine (`plugin` in an `[[identity]]`).
@Suite struct FoundIdentityTests {
    /// A plugin that finds whoever `ACME_PROFILE` names, and exchanges that token for a registry's.
    private static let script = """
        folder=$(dirname "$0")
        operation= who=nobody token=
        while IFS= read -r line && [ -n "$line" ]; do
            case $line in
                operation=*) operation=${line#operation=} ;;
                variable\\[\\]=ACME_PROFILE=*) who=${line#*=ACME_PROFILE=} ;;
                variable\\[\\]=HOME=*) file=${line#*=HOME=}/.acme/account && [ -f "$file" ] && who=$(cat "$file") ;;
                access_token=*) token=${line#access_token=} ;;
            esac
        done
        echo "$operation" >>"$folder/operations"
        case $operation in
            authenticate)
                printf 'event=result\\naccess_token=AT-%s\\nexpires_in=3600\\nenvironment=localhost\\nrealm=managed_identity\\n\\n' "$who" ;;
            exchange) printf 'event=result\\nusername=acme\\nsecret=EX-%s\\nexpires_in=3600\\n\\n' "$token" ;;
            probe) printf 'event=result\\n\\n' ;;
            *) printf 'event=error\\ncode=unsupported\\nmessage=no\\n\\n' ;;
        esac
        """
    private static let manifest = """
        identities = ["managed"]
        variables = ["ACME_PROFILE", "HOME", "HOME/.acme/account"]
        [[exchange]]
        name = "acme-registry"
        hosts = ["registry.acme.example"]
        """

    private static func with(
        _ body: @escaping @Sendable (World, _ environment: [String: String]) async throws -> Void
    ) async throws {
        try await World.with(ownKernelKeys: true) { world in
            let environment = try world.install(plugin: "acme", script: script, manifest: manifest)
            let added = try await world.lanyard(["identity", "add", "found", "--plugin", "acme"], environment)
            let same = try await world.lanyard(["identity", "add", "found", "--plugin", "acme"], environment)
            #expect(same.status == 0 && same.errors.contains("the identity found is there already"), "\(same)")
            try #require(added.status == 0, "\(added)")
            try world.configure(
                after: """
                    [[rule]]
                    url = "https://git.acme.example"
                    identity = "found"

                    [[rule]]
                    url = "https://registry.acme.example"
                    identity = "found"
                    """)
            try await body(world, environment)
        }
    }

    private static func operations(_ world: World) throws -> [Substring] {
        try String(contentsOfFile: "\(world.folder)/plugins/acme/operations", encoding: .utf8).split(separator: "\n")
    }

    @Test func `its plugin is asked once for each value of its variables, and exchanges what it found`() async throws {
        try await Self.with { world, environment in
            for _ in 1...2 {
                for who in ["carol", "dave"] {
                    let there = environment.merging(["ACME_PROFILE": who]) { $1 }
                    let got = try await world.lanyard(["get"], there, input: "url=https://git.acme.example/x\n")
                    #expect(got.status == 0 && got.output.contains("password=AT-\(who)\n"), "\(got)")
                    let exchanged = try await world.lanyard(
                        ["get"], there, input: "url=https://registry.acme.example\n")
                    #expect(exchanged.output.contains("username=acme\npassword=EX-AT-\(who)\n"), "\(exchanged)")
                }
            }
            let asked = try Self.operations(world)
            #expect(asked.count { $0 == "authenticate" } == 2 && asked.count { $0 == "exchange" } == 2, "\(asked)")
        }
    }

    @Test func `a file that decides who it is counts at once, changed or gone, and until then its plugin isn't asked`()
        async throws
    {
        try await Self.with { world, environment in
            let folder = "\(world.folder)/home/.acme"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let accounts = ["carol", "dave", nil, "carol"]
            for who in accounts {
                if let who {
                    try who.write(toFile: "\(folder)/account", atomically: true, encoding: .utf8)
                } else {
                    try FileManager.default.removeItem(atPath: "\(folder)/account")
                }
                for _ in 1...2 {
                    let token = "AT-\(who ?? "nobody")"
                    let got = try await world.lanyard(["get"], environment, input: "url=https://git.acme.example/x\n")
                    #expect(got.value("password") == token, "\(got)")
                    let exchanged = try await world.lanyard(
                        ["get"], environment, input: "url=https://registry.acme.example\n")
                    #expect(exchanged.value("password") == "EX-\(token)", "\(exchanged)")
                }
            }
            let asked = try Self.operations(world)
            #expect(asked.count { $0 == "authenticate" } == accounts.count, "\(asked)")
            #expect(asked.count { $0 == "exchange" } == accounts.count, "\(asked)")
        }
    }

    @Test func `it is checked, listed, explained and examined as the plugin's`() async throws {
        try await Self.with { world, environment in
            let checked = try await world.lanyard(["identity", "check", "found"], environment)
            let words = "what the plugin acme finds on this machine"
            #expect(checked.status == 0 && checked.output.contains(words), "\(checked)")
            let listed = try await world.lanyard(["identity", "list", "--json"], environment)
            #expect(listed.output.contains("\"plugin\" : \"acme\""), "\(listed)")
            let explained = try await world.lanyard(["explain", "https://registry.acme.example"], environment)
            #expect(explained.output.contains(words) && explained.output.contains("acme-registry"), "\(explained)")
            let examined = try await world.lanyard(["doctor", "--online", "--all"], environment)
            #expect(examined.output.contains("\(words) answers"), "\(examined)")
        }
    }

    @Test func `without its plugin, no other is asked, and that is said`() async throws {
        try await Self.with { world, _ in
            for arguments in [["get"], ["identity", "check", "found"], ["doctor"]] {
                let ended = try await world.lanyard(arguments, input: "url=https://git.acme.example/x\n")
                #expect(
                    ended.status == 1
                        && (ended.output + ended.errors).contains("no plugin acme that finds identities"), "\(ended)")
            }
            let added = try await world.lanyard(["identity", "add", "more", "--plugin", "acme"])
            #expect(added.status == 64 && added.errors.contains("no plugin acme"), "\(added)")
        }
    }
}
