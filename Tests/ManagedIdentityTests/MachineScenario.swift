import Foundation
import HTTP
import JSON
import Secrets
import Testing
import Vectors

@testable import ManagedIdentity
@testable import OAuth

/// A vector's input, run against a scripted platform.
struct MachineScenario {
    private static let resource = "https://vault.azure.net"
    private static let keyFile = "\(MachineRoot.tokens)/secret.key"

    private let vector: VectorCase
    private let root: MachineRoot

    init(_ vector: VectorCase) throws {
        self.vector = vector
        root = try MachineRoot()
        if vector.input["himds_installed"] == .bool(true) { try root.write("/opt/azcmagent/bin/himds", "") }
        if vector.category == "arc" { try writeKeys() }
    }

    /// Runs the input and returns the outcome.
    func outcome() async throws -> MachineOutcome {
        let outcome = MachineOutcome(now: vector.input["now"]?.wholeNumber ?? 1_700_000_000)
        switch (vector.category, vector.input["chain"]) {
        case ("detect", _), ("detect-azure-identity", _): outcome.platform = Platform(of: surroundings)
        case (_, .bool(true)?) where vector.input["identity"] == nil && vector.expect["probe"] == nil: probe(outcome)
        default:
            if let scope = vector.text("scope") { outcome.resource = Demand.resource(of: scope) }
            await ask(outcome)
        }
        return outcome
    }

    // MARK: The machine

    private var platform: Platform {
        if let name = vector.text("source") { return Platform(rawValue: name) ?? .imds }
        return switch vector.category {
        case "app-service", "error-body": .appService
        case "azure-ml": .azureML
        case "cloud-shell": .cloudShell
        case "service-fabric": .serviceFabric
        case "arc": .arc
        default: .imds
        }
    }

    private var surroundings: MachineSurroundings {
        if let thumbprint = vector.text("thumbprint") {
            return MachineSurroundings([
                "IDENTITY_ENDPOINT": "https://localhost:1/token", "IDENTITY_HEADER": "a-header",
                "IDENTITY_SERVER_THUMBPRINT": thumbprint,
            ])
        }
        guard let variables = vector.input["env"]?.members else { return .of(platform, root: root.path) }
        return MachineSurroundings(variables.compactMapValues(\.string), root: root.path)
    }

    private func writeKeys() throws {
        // The files outside the folder exist, so that a faulty implementation could read them.
        for name in ["secret.txt", "sub/secret.key", "../../etc/secret.key"] {
            try root.write("\(MachineRoot.tokens)/\(name)", "not a key")
        }
        if let target = vector.text("file_is_symlink_to") { return try root.link(Self.keyFile, to: target) }
        if vector.input["file"] == .null { return }
        let size = vector.input["file_size"]?.wholeNumber
        try root.write(Self.keyFile, size.map { String(repeating: "k", count: $0) } ?? vector.text("file") ?? "a key")
    }

    // MARK: The request

    private func demand() throws(IdentityError) -> Demand {
        var demand = Demand(try identity(), for: vector.text("resource") ?? Self.resource)
        demand.takesChallenges = vector.input["claims"] != nil
        demand.refused = vector.text("cached_token").map { Secret($0) }
        return demand
    }

    private func identity() throws(IdentityError) -> ManagedID {
        let members = vector.category == "identity" ? vector.input : vector.input["identity"]?.members ?? [:]
        guard let (name, value) = members.first else { return .system }
        let kind = ["client_id": "client-id", "object_id": "object-id", "resource_id": "resource-id"][name] ?? name
        guard let id = ManagedID("\(kind):\(value.string ?? "")") else {
            throw IdentityError(.invalidRequest, "the request doesn't name a managed identity")
        }
        return id
    }

    // MARK: The answers

    private var replies: [ScriptedPlatform.Reply] {
        if let der = vector.text("leaf_der_base64").flatMap({ Data(base64Encoded: $0) }) {
            let isPinned = vector.text("thumbprint").flatMap(CertificatePin.init)?.matches(der: der) == true
            return [isPinned ? .success(token) : .failure(HTTPError(.certificate(.notPinned)))]
        }
        let statuses = vector.input["statuses"]?.elements.compactMap(\.wholeNumber) ?? []
        if let status = vector.input["status"]?.wholeNumber { return [.success(answer(status))] }
        if !statuses.isEmpty { return statuses.map { .success(answer($0)) } }
        return platform == .arc ? [.success(answer(401)), .success(token)] : [.success(token)]
    }

    private func answer(_ status: Int) -> HTTPAnswer {
        var headers = vector.input["headers"]?.members?.compactMapValues(\.string) ?? [:]
        if status == 401 { headers["WWW-Authenticate"] = vector.text("challenge") ?? "Basic realm=\(Self.keyFile)" }
        if let location = vector.text("location") { headers["Location"] = location }
        if status == 200, vector.input["body"] == nil { return token }
        return .scripted(status, vector.input["body"] ?? .null, headers: headers)
    }

    /// An answer with a token and the vector's members.
    private var token: HTTPAnswer {
        var members: [String: JSONValue] = ["access_token": "AT"]
        switch vector.category {
        case "expiry": members.merge(vector.input["body"]?.members ?? [:]) { $1 }
        case "refresh": members.merge(vector.input) { $1 }
        case "arc" where vector.input["reply"] == nil:
            members["expires_in"] = "3600"
            for (name, id) in vector.input["identity"]?.members ?? [:] {
                members[name == "resource_id" ? "msi_res_id" : name] = id
            }
        default: members.merge(vector.input["reply"]?.members ?? ["expires_in": "3600"]) { $1 }
        }
        return .scripted(200, .object(members))
    }

    // MARK: Asking

    private func ask(_ outcome: MachineOutcome) async {
        let scripted = ScriptedPlatform(replies)
        do throws(IdentityError) {
            let surroundings = surroundings
            let source = try Platform(of: surroundings).source(in: surroundings)
            outcome.token = try await scripted.token(demand(), from: source, now: outcome.now)
        } catch {
            outcome.error = error
        }
        outcome.requests = scripted.requests
        outcome.pauses = scripted.pauses
    }

    private func probe(_ outcome: MachineOutcome) {
        do throws(IdentityError) {
            let metadata = try InstanceMetadataService(surroundings)
            outcome.requests = [metadata.probe]
            try metadata.checkProbe(answer(vector.input["status"]?.wholeNumber ?? 400))
            outcome.isAvailable = true
        } catch {
            outcome.error = error
        }
    }
}

/// The outcome of a vector's input, for comparison with the expectations.
final class MachineOutcome {
    let now: Int
    var platform: Platform?
    var resource: String?
    var token: PlatformToken?
    var error: IdentityError?
    var isAvailable = false
    var requests: [PlatformRequest] = []
    var pauses: [Int] = []

    init(now: Int) { self.now = now }

    func check(_ name: String, _ expected: JSONValue) {
        switch name {
        case "source": #expect(platform?.rawValue == expected.string)
        case "resource": #expect(resource == expected.string)
        case "request": check(requests.first, expected)
        case "requests": checkRequests(expected)
        case "proxied": #expect(expected == .bool(false))  // TransportTests sends it past a proxy
        case "query_has", "query_lacks", "both_legs", "probe_headers_absent", "probe", "secret_sent",
            "secret_sent_to_location", "file_read":
            checkSent(name, expected)
        case "waits_s": #expect(pauses == expected.elements.compactMap(\.wholeNumber))
        case "total_wait_s_at_least": #expect(pauses.reduce(0, +) >= expected.wholeNumber ?? .max)
        case "total_wait_s_below": #expect(pauses.reduce(0, +) < expected.wholeNumber ?? 0)
        default: checkAnswer(name, expected)
        }
    }

    private func checkAnswer(_ name: String, _ expected: JSONValue) {
        switch name {
        case "result": #expect((token != nil) == (expected == "token"))
        case "cached": #expect(token == nil && expected == .bool(false))
        case "access_token": #expect(token?.token.reveal() == expected.string)
        case "refresh_token": #expect(expected == .null)  // a machine's token has none
        case "expires_in": #expect(token?.expiresIn == expected.wholeNumber)
        case "expires_at": #expect(token.map { $0.expiresIn + now } == expected.wholeNumber)
        case "refresh_in": #expect(token != nil && token?.refreshIn == expected.wholeNumber)
        case "available": #expect(isAvailable)
        case "error": checkError(expected.string ?? "")
        case "error_description", "message": #expect(error?.fault.message == expected.string)
        case "correlation_id": #expect(error?.fault.correlationID == expected.string)
        case "status": #expect(error?.status == expected.wholeNumber)
        case "names": for name in expected.elements { #expect(error?.message.contains(name.string ?? "?") == true) }
        case "hint": #expect(error?.hint?.contains(expected.string ?? "?") == true)
        default: Issue.record("nobody knows what `\(name)` is")
        }
    }

    /// Checks the kind of error, or the platform's own code.
    private func checkError(_ name: String) {
        if let kind = IdentityError.Kind(rawValue: name) {
            #expect(error?.kind == kind)
        } else {
            #expect(error?.fault.error == name)
        }
    }

    private func checkRequests(_ expected: JSONValue) {
        guard case .array(let all) = expected else {
            #expect(requests.count == expected.wholeNumber)
            return
        }
        #expect(requests.count == all.count)
        for (request, expected) in zip(requests, all) { check(request, expected) }
    }

    private func check(_ request: PlatformRequest?, _ expected: JSONValue) {
        for (name, value) in expected.members ?? [:] {
            switch name {
            case "method": #expect(request?.method == value.string)
            case "url": #expect(request?.url == value.string)
            case "query": #expect(request?.query == value.members?.compactMapValues(\.string))
            case "form": #expect(request?.form == value.members?.compactMapValues(\.string))
            case "headers":
                for (name, text) in value.members ?? [:] {
                    #expect(request?.headers[name]?.reveal() == text.string)
                }
            default: Issue.record("nobody knows what a request's `\(name)` is")
            }
        }
    }

    private func checkSent(_ name: String, _ expected: JSONValue) {
        switch name {
        case "query_has":
            for (name, value) in expected.members ?? [:] {
                #expect(requests.allSatisfy { $0.query[name] == value.string } && !requests.isEmpty)
            }
        case "query_lacks":
            for name in expected.elements { #expect(requests.allSatisfy { $0.query[name.string ?? ""] == nil }) }
        case "both_legs": #expect(requests.count == 2)
        case "probe_headers_absent":
            for name in expected.elements { #expect(requests.allSatisfy { $0.headers[name.string ?? ""] == nil }) }
        case "probe": #expect(requests.count == 1 && requests[0].headers["Metadata"] != nil)
        case "secret_sent": #expect((token != nil) == (expected == .bool(true)))
        case "secret_sent_to_location": #expect(requests.count == 1 && token == nil)
        // The contents would have been sent.
        default: #expect(requests.count == 1 && requests[0].headers["Authorization"] == nil)
        }
    }
}
