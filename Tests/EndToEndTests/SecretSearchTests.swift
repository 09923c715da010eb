import Foundation
import TestSupport
import Testing

/// The sealed keyring leaves nothing in the clear: a search of all files after everything that a user does.
@Suite struct SecretSearchTests {
    private static let alice = "alice@contoso.example"
    private static let password = "correct-horse-battery"
    /// What only git's own files and the user's configuration name, and what docs/store.md says of the others.
    private static let namers: [(name: String, files: Set<String>)] = [
        (alice, ["home/.local/state/lanyard/selection"]), ("zaphod", []), ("stored.example", []),
    ]

    /// Returns the files of a world's user that contain a text, plain or in base64.
    private static func files(in world: World, with text: String) throws -> Set<String> {
        // What stands before it decides which base64 it has: this is the part that is the same in each of the three.
        let forms =
            [Data(text.utf8)]
            + (0..<3).map { Data(Data(text.utf8.dropFirst($0)).base64EncodedString().utf8.dropLast(4)) }
        var found: Set<String> = []
        for place in ["home", "data", "run", "cache", "config", "tmp", "work"] {
            guard let files = FileManager.default.enumerator(atPath: "\(world.folder)/\(place)") else { continue }
            for case let file as String in files {
                guard let data = FileManager.default.contents(atPath: "\(world.folder)/\(place)/\(file)") else {
                    continue
                }
                if forms.contains(where: { data.range(of: $0) != nil }) { found.insert("\(place)/\(file)") }
            }
        }
        return found
    }

    /// Returns the values of all members of an exported cache that are called `secret`.
    private static func secrets(_ exported: String) throws -> [String] {
        let cache = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: [String: [String: Any]]]
        return (cache ?? [:]).values.flatMap(\.values).compactMap { $0["secret"] as? String }
    }

    @Test func `no file has a token or password, and few have names`() async throws {
        try await World.with(.sealed) { world in
            let variables = ["TMPDIR": world.folder + "/tmp"]
            try FileManager.default.createDirectory(
                atPath: world.folder + "/tmp", withIntermediateDirectories: true)
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let login = try await world.lanyard(
                ["login", url], world.browser(as: Self.alice).merging(variables) { $1 })
            #expect(login.status == 0, "\(login)")
            #expect(try await world.git(["clone", "-q", url, "hello"], variables).status == 0)
            #expect(try await world.git(["-C", "hello", "fetch"], variables).status == 0)
            #expect(try await world.lanyard(["token", url], variables).status == 0)
            let place = "protocol=https\nhost=stored.example\nusername=zaphod\n"
            _ = try await world.lanyard(["store"], variables, input: "\(place)password=\(Self.password)\n")
            #expect(try await world.lanyard(["get"], variables, input: place).value("password") == Self.password)
            let exported = try await world.lanyard(["export"], variables)
            let secrets = try Self.secrets(exported.output) + [Self.password]
            #expect(secrets.count >= 4, "an access token, a refresh token, an ID token and the password")

            for isLocked in [false, true] {
                if isLocked { #expect(try await world.lanyard(["lock"], variables).status == 0) }
                for secret in secrets { #expect(try Self.files(in: world, with: secret) == [] as Set) }
                for (name, files) in Self.namers {
                    #expect(try Self.files(in: world, with: name).subtracting(files) == [], "\(name)")
                }
            }

            // The search finds what there is.
            for (index, secret) in secrets.enumerated() {
                let planted = "xy\(secret)z"
                let text = index % 2 == 0 ? planted : Data(planted.utf8).base64EncodedString()
                try text.write(toFile: "\(world.folder)/run/lanyard/planted", atomically: true, encoding: .utf8)
                #expect(try Self.files(in: world, with: secret) == ["run/lanyard/planted"])
            }
        }
    }
}
