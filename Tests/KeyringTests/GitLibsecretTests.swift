import TestSupport
import Testing

/// The password store and git's own helper on the same keyring.
@Suite struct GitLibsecretTests {
    static let addresses = [
        "protocol=https\nhost=example.com\n", "protocol=https\nhost=example.com:8443\n",
        "protocol=https\nhost=example.com\npath=org/repo.git\n", "protocol=http\nhost=[2001:db8::1]:80\n",
        "protocol=https\nhost=[fe80::1%eth0]:8443\n", "protocol=cert\nhost=\npath=/home/alice/client.pem\n",
    ]

    @Test(arguments: GitLibsecretHelper.allCases, addresses)
    func `what git's helper stored is found, replaced and erased`(
        _ helper: GitLibsecretHelper, _ address: String
    ) async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let path = try await helper.build(in: keyring.scratch)
            let query = address + "username=alice\n"
            try await keyring.run(path, ["store"], input: query + "password=one\n").expectSuccess()
            #expect(try await keyring.probe("get", input: address).output == "username=alice\npassword=one\n")
            try await keyring.probe("store", input: query + "password=two\n").expectSilence()
            let seen = try await keyring.run(path, ["get"], input: address).output
            #expect(seen.contains("password=two\n"))
            try await keyring.probe("erase", input: query + "password=one\n").expectSilence()
            #expect(try await keyring.probe("get", input: address).output == "username=alice\npassword=two\n")
            try await keyring.probe("erase", input: address).expectSilence()
            #expect(try await keyring.run(path, ["get"], input: address).output.contains("password=") == false)
        }
    }

    @Test(arguments: addresses)
    func `what is stored here is found, replaced and erased by git's helper`(_ address: String) async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let path = try await GitLibsecretHelper.gitSchema.build(in: keyring.scratch)
            let query = address + "username=alice\n"
            try await keyring.probe("store", input: query + "password=one\n").expectSilence()
            #expect(try await keyring.run(path, ["get"], input: address).output.contains("password=one\n"))
            try await keyring.run(path, ["store"], input: query + "password=two\n").expectSuccess()
            #expect(try await keyring.probe("get", input: address).output == "username=alice\npassword=two\n")
            try await keyring.run(path, ["erase"], input: address).expectSuccess()
            #expect(try await keyring.probe("get", input: address).output == "")
        }
    }

    @Test func `the item is the same as git's helper makes`() async throws {
        let input = "protocol=https\nhost=example.com:8443\npath=org/repo.git\nusername=alice\npassword=one\n"
        let search = ["search", "server", "example.com"]
        let theirs = try await KeyringFixture.with(.unlocked) { keyring in
            let path = try await GitLibsecretHelper.gitSchema.build(in: keyring.scratch)
            try await keyring.run(path, ["store"], input: input).expectSuccess()
            return try await keyring.run("secret-tool", search)
        }
        let ours = try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.probe("store", input: input).expectSilence()
            return try await keyring.run("secret-tool", search)
        }
        #expect(timeless(ours) == timeless(theirs))
        #expect(timeless(ours).contains("label = Git: https://example.com:8443/org/repo.git"))
    }

    private func timeless(_ found: Ended) -> Set<Substring> {
        let lines = (found.output + found.errors).split(separator: "\n")
        return Set(lines.filter { !$0.hasPrefix("created") && !$0.hasPrefix("modified") })
    }
}
