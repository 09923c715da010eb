import Foundation
import TestSupport
import Testing

/// git's requests besides names and plain hosts: the passphrase of a client certificate, and IPv6 addresses with a
/// zone.
@Suite struct CertificateTests {
    private static let file = "protocol=cert\nhost=\npath=/home/alice/client.pem\n"
    private static let zone = "protocol=https\nhost=[fe80::1%eth0]:8443\n"

    @Test(arguments: [(file, ""), (zone, "alice")])
    func `it is kept, found and erased as git's own helper does`(place: String, user: String) async throws {
        try await World.with(.secretService) { world in
            let helper = try await GitLibsecretHelper.gitSchema.build(in: world.keyring.scratch)
            let asked = place + "username=\(user)\n"
            func theirs(_ verb: String, _ lines: String = "") async throws -> Ended {
                try await world.keyring.run(helper, [verb], input: asked + lines)
            }
            func ours(_ verb: String, _ lines: String = "") async throws -> Ended {
                try await world.lanyard([verb], input: asked + lines)
            }
            let stored = try await ours("store", "password=one\n")
            #expect(stored.status == 0 && stored.errors.isEmpty, "\(stored)")
            #expect(try await theirs("get").output.contains("password=one\n"))
            #expect(try await theirs("store", "password=two\n").status == 0)
            let found = try await ours("get")
            #expect(found.value("password") == "two" && found.value("username") == user, "\(found)")
            let erased = try await ours("erase", "password=two\n")
            #expect(erased.status == 0 && erased.errors.isEmpty, "\(erased)")
            #expect(try await theirs("get").output.contains("password=") == false)
            #expect(try await ours("get").output.isEmpty)
        }
    }

    @Test func `git itself gets the passphrase of a file, and of no other`() async throws {
        try await World.with { world in
            let asked = Self.file + "username=\n"
            #expect(try await world.git(["credential", "approve"], input: asked + "password=one\n").status == 0)
            let filled = try await world.git(["credential", "fill"], input: asked)
            #expect(filled.value("password") == "one", "\(filled)")
            let other = Self.file.replacing("client", with: "other") + "username=\n"
            #expect(try await world.lanyard(["get"], input: other).output.isEmpty)
            try await world.git(["credential", "reject"], input: asked + "password=one\n")
            #expect(try await world.lanyard(["get"], input: asked).output.isEmpty)
        }
    }

    // CVE-2020-11008: an empty host isn't any host.
    @Test(arguments: [
        "protocol=https\nhost=\npath=x\n", "protocol=cert\nhost=\n", "protocol=cert\nhost=\npath=\n", "host=\npath=x\n",
        "protocol=cert\nhost=\npath=x\nscope[]=User.Read\n",
    ])
    func `nothing else goes without a host`(asked: String) async throws {
        try await World.with { world in
            #expect(try await world.lanyard(["store"], input: Self.file + "username=\npassword=one\n").status == 0)
            let ended = try await world.lanyard(["get"], input: asked)
            #expect(ended.status != 0 && ended.output.isEmpty, "\(ended)")
            #expect(try await world.lanyard(["erase"], input: asked).output.isEmpty)
            #expect(try await world.lanyard(["get"], input: Self.file).value("password") == "one")
        }
    }
}
