import Crypto
import KeyringFixture
import Testing

@testable import TokenStore

/// How secrets come over the bus.
@Suite struct SecretSessionTests {
    init() throws {
        try SecretLibrary.open()
        try SecretLibrary.openForSecrets()
    }

    @Test func `both sides compute the same key`() throws {
        let one = try KeyExchange()
        let other = try KeyExchange()
        #expect(one.publicKey.count == 128)
        #expect(one.publicKey != other.publicKey)
        #expect(try one.key(with: other.publicKey) == other.key(with: one.publicKey))
        #expect(try one.key(with: one.publicKey) != other.key(with: one.publicKey))
    }

    @Test(arguments: [[], [0], [1], [UInt8](repeating: 0xFF, count: 128), [1] + [UInt8](repeating: 0, count: 128)])
    func `a public key with which everybody knows the key is refused`(_ key: [UInt8]) throws {
        let exchange = try KeyExchange()
        #expect(throws: ProviderFailure.self) { _ = try exchange.key(with: key) }
    }

    /// The secret is what `printf secret | openssl enc -aes-128-cbc -K 0001…0f -iv 1011…1f` makes.
    @Test func `a secret is decrypted, and what was changed is none`() throws {
        let key = SymmetricKey(data: [UInt8](0..<16))
        let iv = [UInt8](16..<32)
        let secret: [UInt8] = [
            0x16, 0xB3, 0xA5, 0xA3, 0x5D, 0x4B, 0x63, 0x41, 0x72, 0x77, 0x93, 0x9A, 0x11, 0x64, 0x30, 0xF6,
        ]
        #expect(key.open(secret, iv: iv) == Array("secret".utf8))
        #expect(key.open(secret, iv: Array(iv.dropLast())) == nil)
        #expect(key.open(Array(secret.dropLast()), iv: iv) == nil)
        #expect(key.open([secret[0] ^ 1] + secret.dropFirst(), iv: iv) == nil)
        #expect(key.open([], iv: iv) == nil)
    }

    @Test func `a provider that took the place of another opens a session of its own`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await keyring.save([Sample.accessToken()])
            let command =
                "printf %s '\(KeyringFixture.password)' | gnome-keyring-daemon --replace --unlock --components=secrets"
            let again = try await keyring.probe("reread", ["command": command + " >&2"])
            #expect(again.status == 0, "\(again.output)")
            #expect(again.output.contains(#""secret":"at""#), "\(again.output)")
        }
    }

    @Test func `secrets are read from a provider that can't encrypt`() async throws {
        try await withPlainProvider { keyring in
            let records = try await keyring.records()
            #expect(records == [Sample.accessToken()])
        }
    }

    /// Where a search finds nothing, the provider has to say whether the keyring is locked.
    @Test(arguments: [
        ("OpenSession", "test"), ("SearchItems", "test"), ("GetSecrets", "test"), ("ReadAlias", "empty"),
        ("Get", "empty"),
    ])
    func `an answer of another type than the right one is an error`(_ method: String, group: String) async throws {
        try await withPlainProvider(wrong: method) { keyring in
            let result = try await keyring.probe("records", ["group": group])
            #expect(result.status == 1)
            #expect(result.output.hasPrefix("error: broken (Method"), "\(result.output)")
            #expect(result.output.contains(".\(method)” returned type"), "\(result.output)")
        }
    }

    private func withPlainProvider(
        wrong method: String = "", _ body: @Sendable (KeyringFixture) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(.noProvider) { keyring in
            let script = try keyring.scratch.write(Self.plainProvider, to: "provider.py")
            let secret = String(decoding: Sample.accessToken().json, as: UTF8.self)
            async let provider = keyring.run("/usr/bin/python3", [script, secret, method])
            try await keyring.awaitProvider()
            try await body(keyring)
            try await keyring.endProvider()
            _ = try await provider
        }
    }

    /// A Secret Service with one item, whose secret is the first argument; the method that the second names answers with
    /// texts in the place of objects' paths.
    ///
    /// No real one at hand knows nothing but `plain`, or gets a type wrong.
    private static let plainProvider = """
        import sys
        import dbus
        import dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib

        DBusGMainLoop(set_as_default=True)
        SERVICE = "org.freedesktop.Secret.Service"
        LOGIN = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
        ITEM = dbus.ObjectPath("/org/freedesktop/secrets/collection/login/1")
        SESSION = dbus.ObjectPath("/org/freedesktop/secrets/session/s1")

        class NotSupported(dbus.DBusException):
            _dbus_error_name = "org.freedesktop.DBus.Error.NotSupported"

        def answers(method, types):
            return types.replace("o", "s").replace("v", "s") if sys.argv[2] == method else types

        class Provider(dbus.service.Object):
            @dbus.service.method(SERVICE, in_signature="sv", out_signature=answers("OpenSession", "vo"))
            def OpenSession(self, algorithm, value):
                if algorithm != "plain":
                    raise NotSupported(algorithm)
                return dbus.String(""), "no path" if sys.argv[2] == "OpenSession" else SESSION

            @dbus.service.method(SERVICE, in_signature="a{ss}", out_signature=answers("SearchItems", "aoao"))
            def SearchItems(self, attributes):
                return [ITEM] if attributes["group"] == "test" else [], []

            @dbus.service.method(SERVICE, in_signature="aoo", out_signature=answers("GetSecrets", "a{o(oayays)}"))
            def GetSecrets(self, items, session):
                secret = dbus.ByteArray(sys.argv[1].encode())
                return {ITEM: (session, dbus.ByteArray(b""), secret, "application/json")}

            @dbus.service.method(SERVICE, in_signature="s", out_signature=answers("ReadAlias", "o"))
            def ReadAlias(self, name):
                return LOGIN

        class Login(dbus.service.Object):
            @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature=answers("Get", "v"))
            def Get(self, interface, name):
                return "no" if sys.argv[2] == "Get" else False

        bus = dbus.SessionBus()
        name = dbus.service.BusName("org.freedesktop.secrets", bus)
        provider = Provider(bus, "/org/freedesktop/secrets")
        login = Login(bus, LOGIN)
        GLib.MainLoop().run()
        """
}
