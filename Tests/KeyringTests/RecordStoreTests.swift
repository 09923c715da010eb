import TestSupport
import Testing

@testable import Keyring

/// The store on a real keyring.
@Suite struct RecordStoreTests {
    @Test(arguments: KeyringFixture.State.open)
    func `records of every kind are read back as they were stored`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await keyring.save(Sample.all)
            #expect(try await sorted(keyring.records()) == sorted(Sample.all))
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `storing a record again replaces it and nothing else`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            let others = [
                Sample.accessToken("Mail.Read", secret: "mail"), Sample.accessToken(secret: "other", realm: "other"),
                Sample.refreshToken(), Sample.refreshToken("family", family: "1"),
            ]
            try await keyring.save(others + [Sample.accessToken(secret: "old")])
            try await keyring.save([Sample.accessToken(secret: "new")])
            #expect(try await sorted(keyring.records()) == sorted(others + [Sample.accessToken(secret: "new")]))
        }
    }

    @Test func `attributes that a later version added survive the replacement of a secret`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            func store(_ secret: String) async throws {
                let others = Sample.all.filter { ![.accessToken, .refreshToken].contains($0.kind) }
                try await keyring.save(others + [Sample.accessToken(secret: secret), Sample.refreshToken(secret)])
                // A token isn't stored as a password.
                for proof in ["username=u\npassword=p-", "capability[]=authtype\nauthtype=Bearer\ncredential=c-"] {
                    let input = "protocol=https\nhost=git.example.com\n\(proof)\(secret)\n"
                    #expect(try await keyring.probe("store", input: input).status == 0)
                }
            }
            try await store("old")
            try await keyring.addAttributes()
            try await store("new")
            let secrets = try await keyring.secretsWithAddedAttributes()
            #expect(secrets.count == Sample.all.count + 2, "\(secrets)")
            #expect(secrets.count { $0.contains("new") } == 4 && !secrets.contains { $0.contains("old") }, "\(secrets)")
            #expect(try await keyring.records().count == Sample.all.count)
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `groups do not see each other`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await keyring.save([Sample.account], ["group": "one"])
            #expect(try await keyring.records(["group": "two"]).isEmpty)
            #expect(try await keyring.probe("delete", ["group": "two"]).output == "0\n")
            #expect(try await keyring.records(["group": "one"]) == [Sample.account])
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `a query selects by what it names`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            let family = Sample.refreshToken("family", family: "1", client: "other")
            try await keyring.save(Sample.all + [family, Sample.refreshToken("theirs", client: "other")])
            let client = ["client": Sample.client.uppercased()]
            #expect(try await sorted(keyring.records(client)) == sorted(Sample.all + [family]))
            let own = client.merging(["shared": "no"]) { $1 }
            #expect(try await keyring.records(own).count == 4)
            #expect(try await keyring.records(["home": "nobody"]) == [Sample.appMetadata])
            #expect(try await keyring.records(["kind": "idtoken", "home": "UID.utid"]) == [Sample.idToken])
            #expect(try await keyring.records(["environment": "login.example.com"]).isEmpty)
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `deleting removes what matches and counts it`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await keyring.save(Sample.all + [Sample.accessToken("Mail.Read")])
            #expect(try await keyring.probe("delete", ["kind": "accesstoken"]).output == "2\n")
            #expect(try await keyring.records().count == 4)
            let document = String(decoding: UnifiedCache([Sample.refreshToken("another")]).json(), as: UTF8.self)
            #expect(try await keyring.probe("delete-exactly", input: document).output == "1\n")
            #expect(try await keyring.records().count == 3)
        }
    }

    @Test func `an item that can't be read is skipped and told of`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.save([Sample.account])
            let attributes = ItemAttributes(Sample.accessToken(), group: "test").dictionary.flatMap {
                [$0.key, $0.value]
            }
            let stored = try await keyring.run(
                "secret-tool", ["store", "--label=x", "xdg:schema", "dev.lanyard.Credential"] + attributes,
                input: "not JSON")
            #expect(stored.status == 0)
            let result = try await keyring.probe("records")
            #expect(result.output.contains("unreadable: an item of kind accesstoken is not the JSON"))
            #expect(try await keyring.records() == [Sample.account])
        }
    }

    @Test func `another program's item with our attributes is not ours`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let attributes = ItemAttributes(Sample.account, group: "test").dictionary.flatMap { [$0.key, $0.value] }
            let theirs = ["xdg:schema", "org.example.Theirs"] + attributes
            let stored = try await keyring.run("secret-tool", ["store", "--label=x"] + theirs, input: "theirs")
            #expect(stored.status == 0)
            #expect(try await keyring.records().isEmpty)
            try await keyring.save([Sample.account])
            #expect(try await keyring.probe("delete").output == "1\n")
            #expect(try await keyring.run("secret-tool", ["lookup"] + theirs).output == "theirs")
        }
    }

    @Test func `what was found is read again as it is now, as long as it is there`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.save(Sample.all)
            func current(after command: String) async throws -> String {
                try await keyring.probe("current", ["command": "(\(command)) >&2"]).output
            }
            func shown(_ records: [CredentialRecord]) -> String {
                String(decoding: UnifiedCache(records).json(), as: UTF8.self) + "\n"
            }
            #expect(try await current(after: "true") == shown(Sample.all))
            let attributes = ItemAttributes(Sample.refreshToken(), group: "test").stored
            let item = attributes.map { "'\($0.key)' '\($0.value)'" }.joined(separator: " ")
            let rotated = Sample.refreshToken("rotated")
            let others = Sample.all.filter { $0 != Sample.refreshToken() }
            #expect(
                try await current(
                    after: "printf %s '\(String(decoding: rotated.json, as: UTF8.self))'"
                        + "| secret-tool store --label=x \(item)") == shown(others + [rotated]))
            #expect(try await current(after: "secret-tool clear \(item)") == "only a search tells\n")
            #expect(
                try await current(
                    after: "dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets "
                        + "org.freedesktop.Secret.Service.Lock "
                        + "array:objpath:/org/freedesktop/secrets/collection/login") == "only a search tells\n")
        }
    }

    @Test func `a locked keyring gives nothing away and loses nothing`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.save(Sample.all)
            try await keyring.lock()
            for operation in ["records", "delete"] {
                #expect(try await keyring.probe(operation).output.hasPrefix("error: locked"))
            }
            #expect(try await keyring.save([Sample.accessToken(secret: "new")]).output.hasPrefix("error: locked"))
            try await keyring.endProvider()
            for operation in ["records", "delete"] {
                #expect(try await keyring.probe(operation).output.hasPrefix("error: locked"))
            }
            try await keyring.endProvider()
            try await keyring.unlock()
            #expect(try await sorted(keyring.records()) == sorted(Sample.all))
        }
    }

    @Test func `nobody is asked over SSH`() async throws {
        try await KeyringFixture.with(.locked) { keyring in
            let result = try await keyring.probe(
                "save", ["prompt": "yes"], environment: ["SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"],
                input: String(decoding: UnifiedCache(Sample.all).json(), as: UTF8.self))
            #expect(result.output.hasPrefix("error: locked"))
        }
    }

    @Test(arguments: [KeyringFixture.State.locked, .neverUnlocked, .noKeyring])
    func `where no prompt can open, a prompt that was allowed fails and the provider survives`(
        _ state: KeyringFixture.State
    ) async throws {
        try await KeyringFixture.with(state) { keyring in
            let result = try await keyring.save(Sample.all, ["prompt": "yes"])
            let reasons = state == .noKeyring ? ["noDefaultCollection"] : ["locked", "denied"]
            #expect(reasons.contains { result.output.hasPrefix("error: \($0)") }, "\(result.output)")
            #expect(result.duration < KeyringStateTests.longest)
            #expect(try await keyring.probe("state").status == 0)
        }
    }

    @Test func `the session collection needs no keyring and is seen alone`() async throws {
        try await KeyringFixture.with(.noKeyring) { keyring in
            let session = ["collection": "session"]
            #expect(try await keyring.probe("state", session).output == "unlocked\n")
            try await keyring.save(Sample.all, session)
            #expect(try await sorted(keyring.records(session)) == sorted(Sample.all))
        }
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.save([Sample.account])
            #expect(try await keyring.records(["collection": "session"]).isEmpty)
            #expect(try await keyring.probe("delete", ["collection": "session"]).output == "0\n")
        }
    }

    @Test func `a provider that ended is started again`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.endProvider()
            #expect(try await keyring.probe("state").output == "locked\n")
        }
    }

    @Test func `a provider that ends in the middle of a call is asked again`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.suspend()
            async let reading = keyring.probe("records", ["deadline": "20"])
            try await Task.sleep(for: .milliseconds(300))
            try await keyring.endProvider()
            // The new provider hasn't been unlocked: the answer to the second call says so.
            let output = try await reading.output
            #expect(output.hasPrefix("error: locked"), "\(output)")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `fifty processes that store different credentials lose none`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            let records = (0..<50).map { Sample.accessToken("Scope.\($0)", secret: "secret-\($0)") }
            try await withThrowingTaskGroup { group in
                for record in records {
                    group.addTask { () async throws in
                        #expect(try await keyring.save([record], ["deadline": "30"]).output.isEmpty)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await sorted(keyring.records()) == sorted(records))
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `twenty processes that store one credential leave one item`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask { () async throws in
                        let record = Sample.accessToken(secret: "secret-\(number)")
                        #expect(try await keyring.save([record], ["deadline": "30"]).output.isEmpty)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await keyring.records().count == 1)
        }
    }
}

/// Returns the records in a fixed order.
private func sorted(_ records: [CredentialRecord]) -> [[UInt8]] {
    records.map(\.json).sorted { $0.lexicographicallyPrecedes($1) }
}
