import Foundation
import TestSupport
import Testing

/// Faults of identities: each ends soon with status 1, a clear error and a remedy, and reveals no secret.
@Suite struct BadIdentityTests {
    /// Never shown, whatever goes wrong.
    private static let secret = "a-secret-that-nobody-sees"

    struct Fault: CustomTestStringConvertible, Sendable {
        let name: String
        /// The contents of the identity's table, with `{}` for the folder of files; nil for the identity `environment`.
        var proof: String?
        var variables: [String: String] = [:]
        let says: String
        let hint: String
        /// Whether the authority knows the application; the others differ because a failure of one is cached for a
        /// moment.
        var isKnown = false
        var testDescription: String { name }
    }

    private static let application = ["AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": "c"]
    private static let endpoint = "http://127.0.0.1:1/msi/token"

    static let faults = [
        Fault(
            name: "certificate without key", proof: #"certificate = "{}/c.pem""#, says: "no private key", hint: "add it"
        ),
        Fault(
            name: "wrong password", proof: "certificate = \"{}/c.p12\"\ncertificate-password-variable = \"PASSWORD\"",
            variables: ["PASSWORD": secret], says: "does not open with its password", hint: "check the password"),
        Fault(
            name: "no password", proof: #"certificate = "{}/c.p12""#, says: "without a password",
            hint: "give its password"),
        Fault(
            name: "expired certificate", proof: #"certificate = "{}/expired.pem""#, says: "expired on 20",
            hint: "get a new certificate"),
        Fault(
            name: "empty certificate", proof: #"certificate = "{}/empty""#, says: "neither PEM nor PKCS #12",
            hint: "export"),
        Fault(
            name: "empty token file", proof: #"assertion = "file:{}/empty""#, says: "gave no token", hint: "web token"),
        Fault(
            name: "huge token file", proof: #"assertion = "file:{}/huge""#, says: "can't be read",
            hint: "check the path"),
        Fault(
            name: "token file of something else", proof: #"assertion = "file:{}/c.p12""#, says: "gave no token",
            hint: "web token"),
        Fault(
            name: "no token file", proof: #"assertion = "file:{}/none""#, says: "can't be read", hint: "check the path"),
        Fault(
            name: "token in no form", proof: #"assertion = "file:{}/word""#, says: "AADSTS50027",
            hint: "lanyard identity list",
            isKnown: true),
        Fault(
            name: "a user's password",
            variables: application.merging(["AZURE_USERNAME": "u", "AZURE_PASSWORD": secret]) { $1 },
            says: "are a user's", hint: "name another identity"),
        Fault(
            name: "unknown credentials", variables: ["AZURE_TOKEN_CREDENTIALS": "prodd"],
            says: "AZURE_TOKEN_CREDENTIALS must be one of prod, ", hint: "unset it"),
        Fault(
            name: "credentials of people", variables: ["AZURE_TOKEN_CREDENTIALS": "dev"],
            says: "a developer's own sign-in", hint: "name another identity"),
        Fault(
            name: "a tenant is missing",
            variables: [
                "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential", "AZURE_CLIENT_ID": "c",
                "AZURE_CLIENT_SECRET": secret,
            ], says: "AZURE_TENANT_ID missing, required with AZURE_CLIENT_ID", hint: "set what is missing"),
        Fault(
            name: "a token file without a client",
            variables: ["AZURE_TENANT_ID": "contoso.example", "AZURE_FEDERATED_TOKEN_FILE": "/t"],
            says: "without AZURE_CLIENT_ID", hint: "name another identity"),
        Fault(
            name: "an authority without TLS",
            variables: application.merging(["AZURE_CLIENT_SECRET": secret, "AZURE_AUTHORITY_HOST": "http://x"]) { $1 },
            says: "AZURE_AUTHORITY_HOST must be an https URL", hint: "correct AZURE_AUTHORITY_HOST"),
        Fault(
            name: "an endpoint that is no URL",
            variables: ["IDENTITY_ENDPOINT": "127.0.0.1/msi/token", "IDENTITY_HEADER": secret],
            says: "IDENTITY_ENDPOINT doesn't hold a URL", hint: "unset IDENTITY_ENDPOINT"),
        Fault(
            name: "Service Fabric without TLS",
            variables: [
                "IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": secret, "IDENTITY_SERVER_THUMBPRINT": "00",
            ], says: "IDENTITY_ENDPOINT doesn't hold a URL of https", hint: "unset IDENTITY_ENDPOINT"),
        Fault(
            name: "a header that can't be sent",
            variables: ["IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": secret + "é"],
            says: "IDENTITY_HEADER holds characters", hint: "set IDENTITY_HEADER"),
        Fault(
            name: "App Service's variables elsewhere",
            variables: ["IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": secret],
            says: "App Service's identity endpoint does not answer", hint: "where the platform's variables were set"),
        Fault(
            name: "one variable short of an application",
            variables: application.merging(["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:1"]) { $1 },
            says: "this machine has no managed identity",
            hint: "an application if AZURE_CLIENT_SECRET or AZURE_CLIENT_CERTIFICATE_PATH"),
        Fault(
            name: "no metadata service", variables: ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:1"],
            says:
                "AZURE_TENANT_ID and AZURE_CLIENT_ID are not set, so the machine's own identity was tried: this machine "
                + "has no managed identity", hint: "use another identity here"),
        Fault(
            name: "no tenant",
            variables: [
                "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_CERTIFICATE_PATH": "",
                "AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:1",
            ], says: "AZURE_TENANT_ID is not set, so the machine's own identity was tried", hint: "use another identity"
        ),
        Fault(
            name: "a secret of two lines",
            variables: application.merging(["AZURE_CLIENT_SECRET": "\(secret)\nB"]) { $1 },
            says: "AZURE_CLIENT_SECRET must be one line", hint: "correct AZURE_CLIENT_SECRET"),
        Fault(
            name: "a token of two lines", variables: application.merging(["AZURE_ID_TOKEN": "\(secret)\nB"]) { $1 },
            says: "AZURE_ID_TOKEN must be one line", hint: "correct AZURE_ID_TOKEN"),
        Fault(
            name: "a header of two lines",
            variables: ["IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": "\(secret)\nB"],
            says: "IDENTITY_HEADER must be one line", hint: "correct IDENTITY_HEADER"),
        Fault(
            name: "a thumbprint with a tab",
            variables: [
                "IDENTITY_ENDPOINT": "https://127.0.0.1:1", "IDENTITY_HEADER": secret,
                "IDENTITY_SERVER_THUMBPRINT": "A6\tA4",
            ], says: "IDENTITY_SERVER_THUMBPRINT must be one line", hint: "correct IDENTITY_SERVER_THUMBPRINT"),
    ]

    /// The files that the faults refer to.
    private static let files = """
        openssl req -x509 -nodes -newkey rsa:2048 -days 2 -subj /CN=a -keyout k.pem -out c.pem
        openssl x509 -in c.pem -signkey k.pem -days -1 -out old.pem
        cat k.pem old.pem >expired.pem
        openssl pkcs12 -export -inkey k.pem -in c.pem -passout pass:another -out c.p12
        : >empty
        head -c 200000 /dev/zero | tr '\\0' a >huge
        echo word >word
        """

    @Test func `a fault ends with status 1 and what to do about it`() async throws {
        try await World.with { world in
            let made = try await world.tool("/bin/sh", ["-ec", Self.files])
            #expect(made.status == 0, "\(made)")
            let application = world.sandbox.application.clientID
            for (index, fault) in Self.faults.enumerated() {
                if let proof = fault.proof {
                    try world.configure(
                        after: """
                            [[identity]]
                            name = "i\(index)"
                            authority = "\(world.sandbox.authority)/contoso.example"
                            client-id = "\(fault.isKnown ? application : "a9911ca7-0000-4000-8000-0000000001\(index + 10)")"
                            \(proof.replacing("{}", with: world.folder + "/work"))

                            """)
                }
                let name = fault.proof == nil ? "environment" : "i\(index)"
                let got = try await world.get("contoso", fault.variables, lines: "identity=\(name)\n")
                Self.check(got, fault.name, says: fault.says, hint: fault.hint)
                let environment = fault.variables.merging(["LANYARD_IDENTITY": name]) { $1 }
                let token = try await world.lanyard(["token", "\(world.sandbox.resource)/contoso"], environment)
                Self.check(token, fault.name, says: fault.says, hint: fault.hint)
                let listed = try await world.git(
                    ["ls-remote", "\(world.sandbox.resource)/contoso/hello.git"], environment)
                #expect(listed.status != 0 && listed.errors.contains(fault.says), "\(fault.name) \(listed)")
                #expect(!(listed.output + listed.errors).contains(Self.secret), "\(fault.name) \(listed)")
            }
        }
    }

    private static func check(_ ended: Ended, _ name: String, says: String, hint: String) {
        #expect(ended.status == 1 && ended.hasNoCredential, "\(name) \(ended)")
        #expect(ended.errors.contains(says), "\(name) \(ended)")
        #expect(ended.errors.contains("lanyard: hint: ") && ended.errors.contains(hint), "\(name) \(ended)")
        #expect(!ended.errors.contains(secret), "\(name) \(ended)")
        // Ten seconds, and ten more for a busy machine.
        #expect(ended.duration < .seconds(20), "\(name) \(ended.duration)")
    }

    // MARK: The metadata service

    private static let outages: [(name: String, fault: String, says: String, hint: String, requests: Int)] = [
        ("not-found", #""status":404"#, "is not working at the moment (HTTP 404)", "try again in a few minutes", 4),
        ("throttling", #""status":429,"body":"Too many requests""#, "too many requests", "try again in", 4),
        ("broken", #""status":500"#, "is not working at the moment (HTTP 500)", "try again in a few minutes", 4),
        ("silent", #""hold":true"#, "did not answer in time", "try again in a few minutes", 1),
        ("page", #""status":200,"body":"<html>sign in</html>""#, "something else answers", "no proxy", 1),
    ]

    @Test func `a metadata service that doesn't work is given up soon`() async throws {
        try await World.with { world in
            let base = try #require(try ManagedIdentityTests.variables(world, "imds").values.first)
            for outage in Self.outages {
                try await world.sandbox.fault(#"{"path":"/\#(outage.name)/",\#(outage.fault)}"#)
                try world.configure(
                    after: "[[identity]]\nname = \"\(outage.name)\"\nmanaged = \"client-id:\(outage.name)\"\n")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for outage in Self.outages {
                    group.addTask {
                        let got = try await world.get(
                            "contoso", ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "\(base)/\(outage.name)"],
                            lines: "identity=\(outage.name)\n")
                        Self.check(got, outage.name, says: outage.says, hint: outage.hint)
                    }
                }
                try await group.waitForAll()
            }
            try await world.sandbox.clearFaults()
            let requests = try await world.sandbox.machineRequests()
            for outage in Self.outages where outage.name != "silent" {
                #expect(requests.count { $0.path.hasPrefix("/\(outage.name)/") } == outage.requests, "\(outage.name)")
            }
        }
    }

    @Test func `a metadata service that is being updated is waited for`() async throws {
        try await World.with { world in
            try await world.sandbox.fault(#"{"path":"/metadata/","status":410,"times":1}"#)
            let got = try await world.get(
                "contoso", try ManagedIdentityTests.variables(world, "imds"), lines: "identity=machine\n")
            #expect(got.status == 0 && got.duration > .seconds(9), "\(got)")
            #expect(try await world.sandbox.machineRequests().map(\.status) == [410, 200])
        }
    }

    @Test(arguments: ["imds", "app-service"])
    func `a platform that refuses says what to do`(_ platform: String) async throws {
        try await World.with { world in
            try world.configure(
                after: "[[identity]]\nname = \"other\"\nmanaged = \"client-id:00000000-0000-4000-8000-000000000000\"\n")
            let variables = try ManagedIdentityTests.variables(world, platform)
            let unknown = try await world.get("contoso", variables, lines: "identity=other\n")
            Self.check(unknown, platform, says: "is not assigned to this machine", hint: "assign the identity")
            try world.configure(
                rule: "https://vault.example", at: "contoso.example", scope: "https://nothing.example/.default")
            let resource = try await world.lanyard(
                ["get"], variables, input: "url=https://vault.example\nidentity=machine\n")
            Self.check(
                resource, platform, says: platform == "imds" ? "AADSTS500011" : "while fetching the AAD Token",
                hint: "https://nothing.example is a resource that the tenant knows")
        }
    }
}
