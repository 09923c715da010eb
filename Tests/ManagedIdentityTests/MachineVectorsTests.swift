import Foundation
import JSON
import Secrets
import Testing
import Vectors

@testable import ManagedIdentity
@testable import OAuth

/// The cases in `machine.json` for a machine's managed identities.
struct MachineVectorsTests {
    private static let categories: Set = [
        "app-service", "arc", "azure-ml", "cache", "cloud-shell", "detect", "detect-azure-identity", "error-body",
        "expiry", "identity", "imds", "probe", "refresh", "retry", "service-fabric",
    ]

    /// The cases of those categories that don't apply to this plugin, and why.
    private static let leftOut = [
        "detect-azure-identity/workload-identity-before-imds": hostChooses,
        "detect-azure-identity/workload-identity-without-client": hostChooses,
        "identity/two-ids-refused": "managed_id names one identity, and the request has no place for a second",
        "identity/gcm-guid": hostReads, "identity/gcm-id-scheme": hostReads, "identity/gcm-invalid-scheme": hostReads,
        "identity/gcm-invalid-text": hostReads, "identity/gcm-resource-arm-id": hostReads,
        "identity/gcm-system-blank": hostReads, "identity/gcm-system-empty-guid": hostReads,
        "identity/gcm-system-id-empty-guid": hostReads, "identity/gcm-system-spaces": hostReads,
        "identity/gcm-system-word-upper": hostReads,
        "refresh/aging-error": hostKeeps, "refresh/aging-network-down": hostKeeps,
        "refresh/claims-bypass-cache": hostKeeps, "refresh/five-minute-buffer": hostKeeps,
        "refresh/fresh-from-cache": hostKeeps, "refresh/single-flight": hostKeeps,
        "retry/token-endpoint-5xx-once": "an authority's token endpoint is asked by the authority's plugin",
        "cache/app-token-python": hostKeeps, "cache/arc-partition": hostKeeps, "cache/by-id-text": hostKeeps,
        "cache/credential-kind-not-in-key": hostKeeps, "cache/managed-identity-client-field": hostKeeps,
        "cache/two-resources": hostKeeps, "cache/user-token-not-served-to-app": hostKeeps,
    ]

    private static let hostChooses =
        "the host chooses between federation and the machine: EnvironmentVectorsTests"
    private static let hostReads = "the host reads the settings of other helpers"
    private static let hostKeeps =
        "the host keeps tokens, and decides when another is asked for: IdentityCacheVectorsTests and MachineVectorsTests"

    private static let cases = MachineVectors.followed.filter {
        categories.contains($0.category) && leftOut[$0.id] == nil
    }

    @Test func `the file and the table fit together`() {
        #expect(MachineVectors.followed.count == 272)
        #expect(Set(Self.leftOut.keys).isSubset(of: MachineVectors.followed.map(\.id)))
        #expect(Self.cases.count == 124)
    }

    @Test(arguments: cases)
    func `a machine's identity`(_ vector: VectorCase) async throws {
        let scenario = try MachineScenario(vector)
        let outcome = try await scenario.outcome()
        for (name, value) in vector.expect { outcome.check(name, value) }
    }
}
