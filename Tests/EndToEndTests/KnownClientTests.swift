import Foundation
import TestSupport
import Testing

/// Named clients in manifests, with which users need not register an app.
@Suite struct KnownClientTests {
    private static let id = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"

    private static func configure(_ world: World) throws -> String {
        let url = "\(world.sandbox.resource)/contoso/hello.git"
        try world.configure(rule: url, at: "contoso.example", client: "azure-cli")
        return url
    }

    @Test func `git gets a token by a client's name, from browser to logout`() async throws {
        try await World.with { world in
            let url = try Self.configure(world)
            let cloned = try await world.git(["clone", url], world.browser(as: "alice@contoso.example"))
            #expect(cloned.status == 0, "\(cloned)")
            let pages = try await world.sandbox.authorityRequests().signIns
            #expect(pages.map { $0["client_id"] } == [Self.id], "\(pages)")
            #expect(pages.first?["redirect_uri"]?.hasPrefix("http://localhost:") == true, "\(pages)")

            let explained = try await world.lanyard(["explain", url])
            #expect(explained.output.contains("  client ID  azure-cli, \(Self.id) ("), "\(explained)")
            let json = try await world.lanyard(["explain", "--json", url])
            #expect(json.output.contains("\"clientName\" : \"azure-cli\""), "\(json)")
            let listed = try await world.lanyard(["rule", "list"]).output
            #expect(listed.contains("client ID  azure-cli\n"), "\(listed)")

            let other = try await world.lanyard(["cache", "clear", "--client-id", "visual-studio", "--yes"])
            #expect(other.errors.contains("there is nothing to remove"), "\(other)")
            let out = try await world.lanyard(["logout", "--client-id", "azure-cli"])
            #expect(out.status == 0 && out.errors.contains("signed out alice@contoso.example\n"), "\(out)")
        }
    }

    @Test func `a rule's client by name is one of the configuration's`() async throws {
        try await World.with { world in
            let url = try Self.configure(world)
            let login = try await world.lanyard(["login", url], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let out = try await world.lanyard(["logout"])
            #expect(out.status == 0 && out.errors == "lanyard: signed out alice@contoso.example\n", "\(out)")
        }
    }

    @Test func `a code on another device will do, and a request may name the client`() async throws {
        try await World.with { world in
            let named = try await world.lanyard(
                [
                    "login", "--authority", "\(world.sandbox.authority)/common", "--client-id", "azure-cli", "--scope",
                    "https://graph.microsoft.com/User.Read",
                ], world.browser(as: "alice@contoso.example"))
            #expect(named.status == 0, "\(named)")
            let again = try await world.get(
                at: "common", scopes: ["https://graph.microsoft.com/User.Read"], client: "azure-cli")
            #expect(again.status == 0 && again.value("password") != nil, "\(again)")
        }
    }

    @Test(arguments: [
        ("azur-cli", "did you mean azure-cli?"), ("abc", "it is a GUID, shown by the app's registration, or the name"),
    ])
    func `what is neither an id nor a name is refused wherever it stands`(client: String, hint: String) async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/contoso/x.git"
            try world.configure(rule: url, at: "contoso.example", client: client)
            let ended = try await world.lanyard(["get"], input: "url=\(url)\n")
            #expect(ended.status == 1 && ended.hasNoCredential, "\(ended)")
            #expect(ended.errors.hasPrefix("lanyard: error: \(client) is not a client ID\n"), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: \(hint)"), "\(ended)")
            let doctor = try await world.lanyard(["doctor"])
            #expect(doctor.output.contains("\(client) is not a client ID"), "\(doctor)")
            #expect(try await world.get(at: "common", client: client).errors.contains("\(client) is not a client ID"))
        }
    }

    @Test(arguments: [("[]", true), ("[\"visual-studio\"]", true), ("[\"azure-cli\"]", false)])
    func `a policy says which may be used, by name or by id`(allowed: String, isForbidden: Bool) async throws {
        try await World.with { world in
            let url = try Self.configure(world)
            let policy = "[policy]\nwell-known-clients = \(allowed)\n"
            let browser = world.browser(as: "alice@contoso.example")
            for explicit in [
                "url=\(url)\n",
                "authority=\(world.sandbox.authority)/common\nclient_id=\(Self.id)\nscope[]=api://sandbox-git/.default\n",
            ] {
                let ended = try await world.lanyard(["get"], system: policy, browser, input: explicit)
                #expect((ended.status == 0) == !isForbidden, "\(ended)")
                let refusal = "lanyard: error: the app azure-cli is forbidden by /etc/lanyard/config.toml\n"
                #expect(ended.errors.hasPrefix(refusal) == isForbidden, "\(ended)")
            }
            let doctor = try await world.lanyard(["doctor", "--all"], system: policy)
            #expect(doctor.output.contains("forbids well-known apps"), "\(doctor)")
            #expect(doctor.output.contains("the app azure-cli is forbidden") == isForbidden, "\(doctor)")
            let own = try await world.lanyard(
                ["get"], system: policy, browser, input: "url=\(world.sandbox.resource)/common/hello.git\n")
            #expect(own.status == 0, "an app of one's own is none of these: \(own)")
        }
    }

    @Test func `the hint of a missing client ID names one that everybody has`() async throws {
        try await Home.with { home in
            let rule = ["--authority", "contoso.com"]
            let ended = try await home.lanyard(["rule", "add", "https://dev.azure.com/contoso"] + rule)
            #expect(ended.status == 1 && ended.errors.contains("--client-id azure-cli\n"), "\(ended)")
        }
    }
}
