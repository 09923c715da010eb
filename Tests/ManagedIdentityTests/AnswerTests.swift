import HTTP
import JSON
import PluginWire
import Secrets
import Testing

@testable import ManagedIdentity
@testable import OAuth

/// Platforms' answers beyond the vectors.
struct AnswerTests {
    private static let now = 1_700_000_000
    private static let demand = Demand(.system, for: "https://vault.azure.net")

    private static func token(
        _ members: [String: JSONValue], from platform: Platform = .imds
    ) throws(IdentityError) -> PlatformToken {
        let source = try platform.source(in: .of(platform))
        let members = ["access_token": "AT", "expires_in": 3600].merging(members) { $1 }
        return try PlatformToken(.scripted(200, .object(members)), from: source, to: demand, now: now)
    }

    private static func error(
        _ status: Int, _ body: JSONValue, from platform: Platform, id: ManagedID = .system
    ) async -> IdentityError? {
        do throws(IdentityError) {
            let scripted = ScriptedPlatform([.success(.scripted(status, body))])
            _ = try await scripted.token(
                Demand(id, for: "https://vault.azure.net"), from: platform.source(in: .of(platform)))
            return nil
        } catch {
            return error
        }
    }

    // MARK: Times

    @Test(arguments: [
        ("2023-11-14T23:13:20Z", 3600), ("2023-11-14t23:13:20.5z", 3600), ("2023-11-14 23:13:20", 3600),
        ("2023-11-14T18:13:20-05:00", 3600), ("2023-11-15T04:43:20+0530", 3600), ("2023-11-15T01:13:20+02", 3600),
        ("11/15/2023 12:13:20 AM +01:00", 3600), ("11/14/2023 12:13:20 PM +00:00", -36_000),
        ("1/1/2024 0:00:00 +00:00", 4_067_200), ("02/29/2024 00:00:00 +00:00", 9_164_800),
        ("2024-12-31T23:59:60Z", 35_689_599),
    ])
    func `a date is read in each form`(_ text: String, _ after: Int) {
        #expect(PlatformTime.seconds(text) == Self.now + after)
    }

    @Test(arguments: [
        "", "soon", "2023-11-14", "2023-13-14T00:00:00Z", "2023-02-29T00:00:00Z", "2023-11-14T24:00:00Z",
        "2023-11-14T23:60:00Z", "2023-11-14T23:13Z", "13/14/2023 00:00:00 +00:00", "11/14/2023 13:00:00 PM +00:00",
        "11/14/2023 0:00:00 AM +00:00", "11/14/2023 11:00:00 XM +00:00", "2023-11-14T23:13:20+99:00",
        "2023-11-14T23:13:20+1", "-2023-11-14T23:13:20Z", "2023-11-14T+3:13:20Z", "2023-11-14T23:13:20Z trailing",
    ])
    func `what is no date is none`(_ text: String) {
        #expect(PlatformTime.seconds(text) == nil)
    }

    @Test(
        arguments: [
            (["expires_in": .number(3599.9)], 3599), (["expires_in": "60", "expires_on": "1"], 60),
            (["expires_in": "", "expires_on": 3600], 3600), (["expires_in": .null, "expires_on": " 1700000060 "], 60),
            (["expires_in": "x", "expires_on": "1700000060"], 60), (["expires_in": .number(9e15)], 315_360_000),
            (["expires_in": .integer(.max)], 315_360_000),
        ] as [([String: JSONValue], Int)])
    func `a lifetime is read in each form`(_ members: [String: JSONValue], _ lifetime: Int) throws {
        #expect(try Self.token(members).expiresIn == lifetime)
    }

    @Test(
        arguments: [
            ["expires_in": 0], ["expires_in": "-1"], ["expires_in": "", "expires_on": "1700000000"],
            ["expires_in": "", "expires_on": "-5"], ["expires_in": .integer(.min)],
        ] as [[String: JSONValue]])
    func `a token that has ended is none`(_ members: [String: JSONValue]) {
        #expect(throws: IdentityError.self) { try Self.token(members) }
    }

    @Test(
        arguments: [
            (["expires_in": 7200], 3600), (["expires_in": 7201], 3600),
            (["expires_in": 3600, "refresh_in": "1800"], 1800),
            (["expires_in": 7200, "refresh_in": 0], 3600), (["expires_in": 7200, "refresh_in": 9000], 3600),
            (["expires_in": 3600, "refresh_in": "x"], nil),
        ] as [([String: JSONValue], Int?)])
    func `a long-lived token is got anew at half its time, unless the platform says when`(
        _ members: [String: JSONValue], _ seconds: Int?
    ) throws {
        #expect(try Self.token(members).refreshIn == seconds)
    }

    @Test(arguments: ["", "two words", "tab\t", "ü", String(repeating: "x", count: 60_001)])
    func `a token that can't be handed on is none`(_ text: String) {
        #expect(throws: IdentityError.self) { try Self.token(["access_token": .string(text)]) }
    }

    // MARK: Refusals

    @Test(arguments: [
        (Platform.imds, 400, ManagedID.system, IdentityError.Kind.unavailable, "has no identity of its own"),
        (.imds, 400, .clientID("C"), .invalidRequest, "client ID C is not assigned to this machine"),
        (.imds, 400, .objectID("O"), .invalidRequest, "object ID O is not assigned"),
        (.imds, 400, .resourceID("/s/R"), .invalidRequest, "the identity /s/R is not assigned"),
        (.appService, 400, .clientID("C"), .invalidRequest, "is not assigned to this machine"),
        (.azureML, 400, .clientID("C"), .invalidRequest, "is not assigned to this machine"),
        (.appService, 400, .system, .invalidRequest, "has no identity of its own"),
    ])
    func `an identity that isn't there says what to do`(
        _ platform: Platform, _ status: Int, _ id: ManagedID, _ kind: IdentityError.Kind, _ words: String
    ) async throws {
        let body: JSONValue = ["error": "invalid_request", "error_description": "Identity not found"]
        let error = try #require(await Self.error(status, body, from: platform, id: id))
        #expect(error.kind == kind)
        #expect(error.message.contains(words))
        #expect(error.hint?.contains("in Azure") == true)
    }

    @Test(arguments: [
        (401, IdentityError.Kind.authenticationFailed), (403, .authenticationFailed), (404, .unavailable),
        (408, .unavailable), (410, .unavailable), (418, .invalidResponse), (429, .throttled), (500, .unavailable),
        (502, .unavailable), (599, .unavailable), (204, .invalidResponse), (307, .invalidResponse),
    ])
    func `each status has a meaning`(_ status: Int, _ kind: IdentityError.Kind) async {
        #expect(await Self.error(status, ["message": "x"], from: .imds)?.kind == kind)
        #expect(await Self.error(status, "x", from: .appService)?.kind == kind)
    }

    @Test(arguments: [401, 403])
    func `another cloud's metadata service is none`(_ status: Int) async {
        let error = await Self.error(status, "<html>", from: .imds)
        #expect(error?.kind == .unavailable)
        #expect(error?.message == "the machine's metadata service is none of Azure's (HTTP \(status))")
    }

    @Test func `what a platform says is one short line`() async throws {
        let body: JSONValue = ["error": ["code": "c d", "message": "first\u{1B}[1m.\r\nsecond"]]
        let error = try #require(await Self.error(400, body, from: .appService))
        #expect(error.fault.error == nil)
        #expect(error.fault.message == "first?[1m.")
        #expect(error.message == "App Service's identity endpoint refuses: first?[1m")
        let long: JSONValue = ["Message": .string(String(repeating: "y", count: 1000))]
        #expect(try #require(await Self.error(400, long, from: .appService)?.fault.message).count == 301)
    }

    @Test func `every platform says what it is called`() {
        #expect(Set(Platform.allCases.map(\.words)).count == 6)
    }

    // MARK: Demands

    @Test(arguments: [
        ("https://vault.azure.net/.default", "https://vault.azure.net"),
        ("https://management.azure.com//.default", "https://management.azure.com/"),
        ("https://management.azure.com/", "https://management.azure.com/"),
        ("https://vault.azure.net", "https://vault.azure.net"), ("api://abc/.default", "api://abc"),
        ("api://abc", "api://abc"), ("urn:x", "urn:x"), ("6dae42f8/.default", "6dae42f8"), ("6dae42f8", "6dae42f8"),
        (
            "https://pas.windows.net/CheckMyAccess/Linux/.default",
            "https://pas.windows.net/CheckMyAccess/Linux/.default"
        ),
    ])
    func `a scope belongs to a resource`(_ scope: String, _ resource: String) {
        #expect(Demand.resource(of: scope) == resource)
    }

    @Test(
        arguments: [
            ("system", ["https://a.b/.default"], [], "https://a.b"), ("system", [], ["https://a.b/"], "https://a.b/"),
            ("system", ["https://a.b/x", "https://a.b/y"], [], "https://a.b"),
            ("system", ["https://a.b/x"], ["https://c.d"], "https://c.d"), ("system", [], [], nil),
            ("system", ["https://a.b/x", "https://c.d/x"], [], nil), ("client-id:", ["x/y"], [], nil),
            ("object-id:", ["x/y"], [], nil), ("resource-id:", ["x/y"], [], nil), ("System", ["x/y"], [], nil),
            ("name:x", ["x/y"], [], nil),
        ] as [(String, [String], [String], String?)])
    func `a request is for one resource of one identity`(
        _ id: String, _ scopes: [String], _ resources: [String], _ resource: String?
    ) {
        var request = PluginRequest(.authenticate)
        request.identity = PluginIdentity(.managed)
        request.identity?.managedID = id
        request.scopes = scopes
        request.resources = resources
        #expect((try? Demand(request))?.resource == resource)
    }

    // MARK: Platforms

    @Test(arguments: [
        (Platform.appService, "IDENTITY_ENDPOINT"), (.azureML, "MSI_ENDPOINT"), (.cloudShell, "MSI_ENDPOINT"),
        (.serviceFabric, "IDENTITY_ENDPOINT"), (.arc, "IDENTITY_ENDPOINT"),
        (.imds, "AZURE_POD_IDENTITY_AUTHORITY_HOST"),
    ])
    func `an endpoint that is no URL is refused`(_ platform: Platform, _ variable: String) {
        for text in ["localhost/token", "ftp://a.b/", "http://u:p@a.b/", "http://a.b/#f", "http://a b/", "http://"] {
            var variables = [
                "IDENTITY_HEADER": "h", "MSI_SECRET": "s",
                "IDENTITY_SERVER_THUMBPRINT": String(repeating: "a", count: 40),
            ]
            variables[variable] = text
            do throws(IdentityError) {
                _ = try platform.source(in: MachineSurroundings(variables))
                Issue.record("\(text) was taken")
            } catch {
                #expect(error.kind == .invalidRequest)
                #expect(error.message.contains(variable))
                #expect(!error.message.contains(text))
            }
        }
    }

    @Test func `a header's value is shown to nobody, not even if it can't be sent`() {
        let variables = ["IDENTITY_ENDPOINT": "http://a.b/", "IDENTITY_HEADER": "se\u{1}cret"]
        do throws(IdentityError) {
            _ = try Platform.appService.source(in: MachineSurroundings(variables))
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains("IDENTITY_HEADER") && !error.message.contains("cret"))
        }
    }

    @Test(arguments: Platform.allCases)
    func `identities that were assigned are named or refused`(_ platform: Platform) throws {
        let source = try platform.source(in: .of(platform))
        let ids = [ManagedID.clientID("I"), .objectID("I"), .resourceID("I")]
        let names = ids.map { id in
            try? source.request(for: Demand(id, for: "r")).query.first { $0.value == "I" }?.key
        }
        let expected: [String?] =
            switch platform {
            case .imds, .arc: ["client_id", "object_id", "msi_res_id"]
            case .appService: ["client_id", "object_id", "mi_res_id"]
            case .azureML: ["clientid", nil, nil]
            case .cloudShell, .serviceFabric: [nil, nil, nil]
            }
        #expect(names == expected)
    }

    @Test func `only Service Fabric hears of claims`() throws {
        var demand = Self.demand
        demand.takesChallenges = true
        demand.refused = Secret("T")
        for platform in Platform.allCases {
            let query = try platform.source(in: .of(platform)).request(for: demand).query
            #expect((query["xms_cc"] != nil) == (platform == .serviceFabric))
            #expect((query["token_sha256_to_refresh"] != nil) == (platform == .serviceFabric))
        }
    }

    @Test(arguments: [
        (Platform.serviceFabric, 429, 9, 31), (.appService, 404, 9, 3), (.azureML, 502, 9, 0), (.arc, 410, 9, 0),
        (.imds, 501, 9, 7), (.imds, 403, 9, 0), (.cloudShell, 504, 9, 3),
    ])
    func `a schedule ends`(_ platform: Platform, _ status: Int, _ most: Int, _ seconds: Int) {
        let schedule = RetrySchedule(for: platform)
        let pauses = (0..<most).compactMap { schedule.pause(after: .status(status, retryAfter: nil), retries: $0) }
        #expect(pauses.reduce(.zero, +) == .seconds(seconds))
    }

    @Test func `a pause that the platform wants longer is, unless it takes too long`() async throws {
        for platform in Platform.allCases {
            let source = try platform.source(in: .of(platform))
            for status in [429, 503] {
                let usual = RetrySchedule(for: platform).pause(after: .status(status, retryAfter: nil), retries: 0)
                // A tool's user would see nothing all that time.
                let answer = HTTPAnswer.scripted(status, headers: ["Retry-After": "100"])
                let impatient = ScriptedPlatform([.success(answer)])
                let error = await #expect(throws: IdentityError.self) {
                    try await impatient.token(Self.demand, from: source)
                }
                #expect(impatient.pauses.isEmpty && impatient.requests.count == 1)
                #expect(error?.retryAfter == 100 && error?.hint == nil)
                let date = HTTPAnswer.scripted(
                    status,
                    headers: [
                        "Retry-After": "Tue, 14 Nov 2023 22:13:29 GMT", "Date": "Tue, 14 Nov 2023 22:13:20 GMT",
                    ])
                let dated = ScriptedPlatform([.success(date)])
                _ = try? await dated.token(Self.demand, from: source)
                #expect(dated.pauses.first == (usual == nil ? nil : 9) && dated.progress.count == dated.pauses.count)
            }
        }
    }

    @Test(arguments: [
        (HTTPError.Reason.timedOut, 4, IdentityError.Kind.unavailable), (.closed, 4, .unavailable),
        (.unreachable(.refused), 1, .unavailable), (.certificate(.notPinned), 1, .unavailable),
        (.garbled, 1, .invalidResponse), (.cancelled, 1, .cancelled),
    ])
    func `only silence is worth another try`(
        _ reason: HTTPError.Reason, _ requests: Int, _ kind: IdentityError.Kind
    ) async {
        for platform in Platform.allCases {
            let scripted = ScriptedPlatform([.failure(HTTPError(reason))])
            do throws(IdentityError) {
                _ = try await scripted.token(Self.demand, from: platform.source(in: .of(platform)))
                Issue.record("there was a token")
            } catch {
                #expect(error.kind == kind)
                #expect(scripted.requests.count == requests)
            }
        }
    }
}
