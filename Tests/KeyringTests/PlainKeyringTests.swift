import Foundation
import Secrets
import TestSupport
import Testing

@testable import Keyring

/// Keyrings of gnome-keyring's without a password, which are text files; the daemon starts anew before anything is read.
@Suite struct PlainKeyringTests {
    private static let place = "protocol=https\nhost=git.example\n"

    /// Passwords that a text file might not give back as they are; none has a line feed, which git's lines can't have.
    static let awkward: [String] = {
        let blanks = [
            " lead", "  two", "\ttab", "trail ", "trail\t", "in the middle", " ", "\t", "a\rb", "\u{B}v",
            "\u{C}f",
        ]
        let escapes = [
            #"back\slash"#, #"\n"#, #"a\nb"#, #"\t"#, #"\r"#, #"\s"#, #"\\"#, #"a\\b"#, #"end\"#, #"\"#, #"\u005c"#,
            #"\x41"#, #"\;"#, #"\""#, #"C:\temp\new"#, #"\\server\share"#, #"a\ b"#, #"\0"#, #"\u"#,
        ]
        let syntax = [
            "[keyring]", "[2]", "#comment", "; comment", "a=b", "=", "secret=x", "a;b;c", "key", "\"quoted\"",
            "'single'", "{\"a\":1}",
            "%41", "$HOME", "`id`", "<>&", "a,b", "~", "^", "|", "!", "@", "*",
        ]
        let characters = [
            "é", "ключ", "鍵", "🔑", "\u{1}", "\u{7F}", "\u{A0}", "\u{2028}", "",
            String(repeating: "x", count: 4000),
        ]
        return blanks + escapes + syntax + characters
    }()

    @Test func `a keyring without a password is unlocked without a prompt, and read and written`() async throws {
        try await withPlain { keyring in
            #expect(try await keyring.probe("records").status == 0)
            try await keyring.endProvider()
            #expect(try await keyring.probe("state").output == "unlocked\n")
            try await keyring.endProvider()
            #expect(try await keyring.save(Sample.all).output.isEmpty)
            try await keyring.endProvider()
            #expect(try await keyring.records().count == Sample.all.count)
        }
    }

    @Test func `every awkward password comes back as it went in, or is refused with the reason`() async throws {
        #expect(Self.awkward.count >= 60)
        try await withPlain { keyring in
            var stored: [Int: String] = [:]
            for (number, password) in Self.awkward.enumerated() {
                let input = Self.place + "username=u\(number)\npassword=\(password)\n"
                let result = try await keyring.probe("store", input: input)
                if result.status == 0 { stored[number] = password }
                // git's lines can't have a carriage return, whatever the keyring is.
                let reason = password.utf8.contains(0x0D) ? #"forbiddenByte(key: "password")"# : "damaging"
                if result.status != 0 { #expect(result.output == "error: \(reason)\n", "\(password): \(result)") }
            }
            #expect(stored.count >= 35)
            try await keyring.endProvider()
            for (number, password) in Self.awkward.enumerated() {
                let result = try await keyring.probe("get", input: Self.place + "username=u\(number)\n")
                let expected = stored[number].map { "username=u\(number)\npassword=\($0)\n" } ?? ""
                #expect(result.status == 0 && result.output == expected, "\(password): \(result)")
            }
        }
    }

    /// The further lines of a password would be gone after the daemon's next start.
    @Test func `a password with further lines is refused, and so is one that replaces another`() async throws {
        try await withPlain { keyring in
            let plain = Self.place + "username=u\npassword=p\n"
            #expect(try await keyring.probe("store", input: plain).status == 0)
            for line in ["password_expiry_utc=99999999999\n", "oauth_refresh_token=r\n"] {
                let result = try await keyring.probe("store", input: plain + line)
                #expect(result.output == "error: damaging\n", "\(result)")
            }
            try await keyring.endProvider()
            let got = try await keyring.probe("get", input: Self.place)
            #expect(got.output == "username=u\npassword=p\n", "\(got)")
        }
    }

    @Test func `lanyard's own items come back, whatever is in them`() async throws {
        try await withPlain { keyring in
            // Tokens are visible ASCII, and names of people anything that can be shown.
            let plain = Self.awkward.filter {
                !$0.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            let tokens = plain.filter { !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
            let records =
                tokens.enumerated().map { Sample.refreshToken($1, client: "client-\($0)") }
                + plain.enumerated().map { number, name in
                    Self.account("uid-\(number).utid", name)
                }
            #expect(try await keyring.save(records).output.isEmpty)
            let capable = "capability[]=authtype\n" + Self.place
            for (number, credential) in tokens.enumerated() {
                let more = "username=u\(number)\npassword_expiry_utc=99999999999\noauth_refresh_token=\(credential)\n"
                let result = try await keyring.probe(
                    "store", input: capable + "authtype=Bearer\ncredential=\(credential)\n" + more)
                #expect(result.output.isEmpty, "\(result)")
            }
            try await keyring.endProvider()
            let found = try await keyring.records()
            #expect(Set(found.map(\.json)) == Set(records.map(\.json)))
            for (number, credential) in tokens.enumerated() {
                let got = try await keyring.probe("get", input: capable + "username=u\(number)\n")
                #expect(
                    got.value("credential") == credential && got.value("oauth_refresh_token") == credential, "\(got)")
            }
        }
    }

    /// Newer versions of GLib have no secret at all for an escape that they don't know.
    @Test func `no secret in the file has a backslash`() async throws {
        try await withPlain { keyring in
            let account = Self.account("uid.utid", #"A "quoted" \name"#)
            #expect(try await keyring.save([account]).output.isEmpty)
            let file = keyring.scratch.path + "/data/keyrings/Default.keyring"
            let secrets = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter {
                $0.hasPrefix("secret=") || $0.hasPrefix("binary-secret=")
            }
            #expect(secrets.count == 1 && !secrets[0].contains("\\"), "\(secrets)")
            try await keyring.endProvider()
            #expect(try await keyring.records() == [account])
        }
    }

    @Test func `a byte order mark at the beginning is refused, because some services drop it`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let input = Self.place + "username=u\npassword=\u{FEFF}p\n"
            let result = try await keyring.probe("store", input: input)
            #expect(result.output.hasPrefix("error: broken (a secret that begins"), "\(result)")
        }
    }

    @Test func `a keyring with a password takes every password`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            for password in [#"back\slash"#, " lead", "trail "] {
                let input = Self.place + "username=u\npassword=\(password)\npassword_expiry_utc=99999999999\n"
                #expect(try await keyring.probe("store", input: input).output.isEmpty)
                try await keyring.endProvider()
                try await keyring.unlock()
                let got = try await keyring.probe("get", input: Self.place)
                #expect(got.output == "username=u\npassword=\(password)\npassword_expiry_utc=99999999999\n", "\(got)")
            }
        }
    }

    @Test func `a record's JSON has no short escapes and no line feed`() {
        let name = "\"\\/\u{8}\u{C}\n\r\t\u{1}é"
        let record = Self.account("uid.utid", name)
        let json = record.json
        #expect(!json.contains(UInt8(ascii: "\n")))
        for index in json.indices where json[index] == UInt8(ascii: "\\") {
            #expect(json[index + 1] == UInt8(ascii: "u"))
        }
        guard case .account(let read)? = CredentialRecord(json: json) else { return #expect(Bool(false)) }
        #expect(read.name == name)
    }

    private static func account(_ home: String, _ name: String) -> CredentialRecord {
        var account = AccountRecord(
            homeAccountID: home, environment: Sample.environment, realm: Sample.realm, username: "u@contoso.example")
        account.name = name
        return .account(account)
    }

    private func withPlain(_ body: @Sendable (KeyringFixture) async throws -> Void) async throws {
        try await KeyringFixture.with(.noKeyring) { keyring in
            try keyring.makePlain()
            try await body(keyring)
        }
    }
}
