import Keyring
import TestSupport
import Testing

/// The store with faulty providers, and with a faulty libsecret.
@Suite struct ProviderTests {
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

    /// The search and the secret together take longer than one call may.
    @Test func `a provider that answers slowly is waited for`() async throws {
        try await withPlainProvider(slowness: 2) { keyring in
            let result = try await keyring.probe("records", ["deadline": "3"])
            #expect(result.status == 0 && result.output.contains("access"), "\(result)")
            let impatient = try await keyring.probe("records", ["deadline": "1"])
            #expect(impatient.output.hasPrefix("error: timedOut"), "\(impatient)")
        }
    }

    /// If a search finds nothing, the provider must say whether the keyring is locked.
    @Test(arguments: [
        ("OpenSession", "test"), ("SearchItems", "test"), ("GetSecrets", "test"), ("ReadAlias", "empty"),
        ("Get", "empty"),
    ])
    func `an answer of another type than the right one is an error`(_ method: String, group: String) async throws {
        try await withPlainProvider(wrong: method) { keyring in
            let result = try await keyring.probe("records", ["group": group])
            #expect(result.status == 1)
            #expect(result.output.hasPrefix("error: broken (Method"), "\(result.output)")
            #expect(result.output.contains("\(method)” returned type"), "\(result.output)")
        }
    }

    @Test func `doctor says so if a keyring that is unlocked can't be searched`() async throws {
        try await withPlainProvider(wrong: "SearchItems") { keyring in
            let ended = try await keyring.run(Built.lanyard, ["doctor"])
            #expect(ended.status == 1, "\(ended)")
            #expect(ended.output.contains("fail  accounts       the keyring service failed (Method"), "\(ended)")
        }
    }

    @Test(arguments: [
        ("int g_free;", "libsecret-1.so.0 has no g_strdup"), (nil, "file too short"),
    ])
    func `a libsecret that can't be used is an error that says why`(_ source: String?, reason: String) async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let library = keyring.scratch.path + "/libsecret-1.so.0"
            if let source {
                let made = try await keyring.run("gcc", ["-shared", "-x", "c", "-o", library, "-"], input: source)
                #expect(made.status == 0, "\(made.errors)")
            } else {
                _ = try keyring.scratch.write("no library", to: "libsecret-1.so.0")
            }
            let result = try await keyring.probe(
                "records", environment: ["LD_LIBRARY_PATH": keyring.scratch.path])
            #expect(result.status == 1)
            #expect(result.output.hasPrefix("error: noLibrary ("), "\(result.output)")
            #expect(result.output.contains(reason), "\(result.output)")
        }
    }

    private func withPlainProvider(
        wrong method: String = "", slowness seconds: Int = 0, _ body: @Sendable (KeyringFixture) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(.noProvider) { keyring in
            let script = try keyring.scratch.write(Self.plainProvider, to: "provider.py")
            let secret = String(decoding: Sample.accessToken().json, as: UTF8.self)
            async let provider = keyring.run("/usr/bin/python3", [script, secret, method, "\(seconds)"])
            try await keyring.awaitProvider()
            try await body(keyring)
            try await keyring.endProvider()
            _ = try await provider
        }
    }

    /// A Secret Service with one item, whose secret is the first argument.
    ///
    /// The method named by the second argument returns strings in place of object paths, and methods for items take as
    /// many seconds as the third says. No available provider supports only `plain`, or returns a wrong type.
    private static let plainProvider = """
        import sys
        import time
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
                time.sleep(int(sys.argv[3]))
                return [ITEM] if attributes["group"] == "test" else [], []

            @dbus.service.method(SERVICE, in_signature="aoo", out_signature=answers("GetSecrets", "a{o(oayays)}"))
            def GetSecrets(self, items, session):
                time.sleep(int(sys.argv[3]))
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
