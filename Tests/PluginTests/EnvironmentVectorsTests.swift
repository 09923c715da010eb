import JSON
import Testing
import Vectors

@testable import PluginHost

/// The cases in `machine.json` about what variables describe, with the manifests of the first-party plugins.
@Suite struct EnvironmentVectorsTests {
    private static let registry = PluginRegistry.firstParty
    private static let ownCategories: Set = ["environment", "token-credentials"]
    /// The cases of other suites' categories that the host decides.
    private static let furtherIDs: Set = [
        "detect-azure-identity/workload-identity-before-imds", "detect-azure-identity/workload-identity-without-client",
        "workload-identity/missing-azure-federated-token-file", "workload-identity/missing-azure-tenant-id",
        "workload-identity/trailing-slash-authority",
    ]
    /// The categories that the suites of the plugins and of the host's store run; each lists the cases that it doesn't
    /// run.
    private static let categoriesOfOthers: Set = [
        "aks-proxy", "app-service", "arc", "assertion", "azure-ml", "azure-pipelines", "cache", "certificate",
        "ci-token",
        "client-credentials", "cloud-shell", "detect", "detect-azure-identity", "error-body", "expiry", "github-oidc",
        "identity", "imds", "probe", "refresh", "retry", "service-fabric", "workload-identity",
    ]

    private static let cases = MachineVectors.followed.filter {
        (ownCategories.contains($0.category) || furtherIDs.contains($0.id)) && !MachineVectors.leftOut.contains($0.id)
    }

    @Test func `every case is run, or is in a table with the reason`() {
        let left = MachineVectors.followed.filter { vector in
            !Self.categoriesOfOthers.union(Self.ownCategories).contains(vector.category)
                && !MachineVectors.leftOut.contains(vector.id)
                && !MachineVectors.leftOut.contains("\(vector.category)/*")
        }
        #expect(left.isEmpty)
        let known = Set(MachineVectors.followed.flatMap { [$0.id, "\($0.category)/*"] })
        #expect(MachineVectors.leftOut.isSubset(of: known) && MachineVectors.leftOut.count == 5)
        #expect(Self.cases.count == 26)
    }

    /// Returns what the variables describe; for a case about a single credential, only that credential's.
    private static func found(_ vector: VectorCase, by credential: String?) -> IdentityFound {
        var variables = vector.input["env"]?.members?.compactMapValues(\.string) ?? [:]
        if let credential { variables["AZURE_TOKEN_CREDENTIALS"] = credential }
        return registry.identity(in: variables)
    }

    @Test(arguments: cases.filter { $0.category != "token-credentials" })
    func `variables describe an identity`(_ vector: VectorCase) throws {
        let credentials = ["environment": "EnvironmentCredential", "workload-identity": "WorkloadIdentityCredential"]
        switch (Self.found(vector, by: credentials[vector.category]), vector.expected("error")) {
        case (.nothing(let known), "unavailable"?):
            for name in vector.expectedTexts("names") { #expect(known.contains { $0.contains(name) }) }
        case (.wrong, "invalid-request"?): break
        case (.identity(let pattern), "unsupported"?): #expect(pattern.refusal != nil)
        case (.identity(let pattern), "invalid-request"?):
            for name in vector.expectedTexts("names") {
                #expect(pattern.refusal?.lowercased().contains(name.lowercased()) == true)
            }
        case (.identity(let pattern), nil):
            for (name, value) in vector.expect { try Self.check(name, value, vector, pattern) }
        case (let found, _): Issue.record("\(found)")
        }
    }

    private static func check(
        _ name: String, _ value: JSONValue, _ vector: VectorCase, _ pattern: IdentityPattern
    ) throws {
        let given = vector.input["env"]?.members?.compactMapValues(\.string) ?? [:]
        switch name {
        case "kind":
            let kind =
                pattern.secretVariable != nil ? "secret" : pattern.certificate != nil ? "certificate" : "another"
            #expect(kind == value.string)
        case "tenant": #expect(pattern.authority?.hasSuffix("/\(value.string ?? "?")") == true)
        case "client_id": #expect(pattern.clientID == value.string)
        case "password": #expect(pattern.certificatePasswordVariable.flatMap { given[$0] } == value.string)
        case "authority": #expect(pattern.authority == "\(value.string ?? "?")/t")
        case "source":
            #expect(value == "workload-identity" && pattern.assertion?.hasPrefix("file:") == true)
        case "url":
            let tenant = try #require(given["AZURE_TENANT_ID"])
            #expect(value.string == "https://login.microsoftonline.com/\(tenant)/oauth2/v2.0/token")
            #expect(pattern.authority == "https://login.microsoftonline.com/\(tenant)")
        // The plugin receives and reads the variable; ApplicationTests has its effect.
        case "send_chain": #expect(registry.identityVariables.contains("AZURE_CLIENT_SEND_CERTIFICATE_CHAIN"))
        default: Issue.record("nothing looks at \(name)")
        }
    }

    // MARK: Selection

    private static let variables = [
        "environment": ["AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"],
        "workload-identity": ["AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_FEDERATED_TOKEN_FILE": "/t"],
        "managed-identity": [:],
    ]

    /// Whether the variables for one of the SDKs' credentials are supported.
    private static func heeds(_ credential: String, _ vector: VectorCase) throws -> Bool {
        let selecting = vector.input["env"]?.members?.compactMapValues(\.string) ?? [:]
        let all = try #require(variables[credential]).merging(selecting) { $1 }
        guard case .identity(let pattern) = registry.identity(in: all) else { return false }
        return switch credential {
        case "environment": pattern.secretVariable != nil
        case "workload-identity": pattern.assertion != nil
        default: pattern.managed == "system"
        }
    }

    @Test(arguments: cases.filter { $0.category == "token-credentials" })
    func `a variable selects what is heeded`(_ vector: VectorCase) throws {
        if let error = vector.expected("error") {
            guard case .wrong(let variable, _) = Self.found(vector, by: nil) else {
                Issue.record("it is not refused")
                return
            }
            #expect(error == "invalid-request" && variable == "AZURE_TOKEN_CREDENTIALS")
            return
        }
        // Besides these, there are the users' own credentials, which aren't part of `environment`.
        let chain = vector.expectedTexts("chain") + vector.expectedTexts("chain_starts")
        for credential in Self.variables.keys {
            #expect(try Self.heeds(credential, vector) == chain.contains(credential), "\(credential)")
        }
    }
}
