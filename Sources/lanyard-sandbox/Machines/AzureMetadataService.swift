import HTTPTypes
import Hummingbird
import JSON
import Terminal

/// The token endpoint of the Instance Metadata Service (IMDS) of Azure's virtual machines, with its error messages.
struct AzureMetadataService: Sendable {
    static let path = "/metadata/identity/oauth2/token"
    /// The interface versions with tokens, newest first.
    private static let versions = [
        "2021-12-13", "2021-02-01", "2020-09-01", "2020-06-01", "2019-11-01", "2019-08-01", "2018-10-01", "2018-02-01",
    ]

    let world: World

    func answer(_ visit: Visit) async throws -> Response {
        guard visit.segments.first == "metadata" else { return .text("Not Found", status: .notFound) }
        // These checks prevent requests on someone else's behalf: no browser sends the first header, and every proxy
        // sends the second.
        guard visit.header("Metadata")?.lowercased() == "true" else {
            return Self.refusal("bad_request_102", "Required metadata header not specified")
        }
        guard visit.header("X-Forwarded-For") == nil else {
            return Self.refusal("invalid_request", "X-Forwarded-For header is not allowed")
        }
        guard visit.path == Self.path else {
            return Self.refusal("unknown_source", "Unknown Source \(visit.path)", .unauthorized)
        }
        guard visit.method == .get else { return Self.refusal("invalid_request", "Use GET", .methodNotAllowed) }
        guard let version = visit.query["api-version"], Self.versions.contains(version) else {
            return .json(
                [
                    "error": .string(
                        "Bad request. api-version is invalid or was not specified in the request. "
                            + "For more information refer to aka.ms/azureimds"),
                    "newest-versions": JSONValue(strings: Array(Self.versions.prefix(3))),
                ], status: .badRequest)
        }
        return try await token(visit)
    }

    private func token(_ visit: Visit) async throws -> Response {
        guard let name = visit.query["resource"] else {
            return Self.refusal("invalid_request", "Required audience parameter not specified")
        }
        let identity: ManagedIdentity
        do throws(CommandError) {
            identity = try self.identity(visit.query)
        } catch {
            return Self.refusal("invalid_request", error.message.text)
        }
        visit.user = identity.name
        guard let resource = world.machineResource(name) else {
            return Self.refusal("invalid_resource", Self.unknown(name, in: identity))
        }
        let token = try await world.machineToken(of: identity, for: resource)
        var members = Self.members(of: token, for: name)
        members["client_id"] = .string(identity.id)
        members["ext_expires_in"] = .string(String(token.lifetime))
        members["refresh_in"] = world.settings.refreshIn.map { .string(String($0)) }
        return .json(.object(members))
    }

    /// Returns the named identity; a machine without a system-assigned identity uses its only user-assigned one by
    /// default.
    private func identity(_ query: Form) throws(CommandError) -> ManagedIdentity {
        guard
            let name = IdentityName(
                query, objectID: ["object_id", "principal_id"], resourceID: ["msi_res_id", "mi_res_id"])
        else { throw CommandError("Only one of client_id, object_id and msi_res_id can be specified") }
        let all = world.directory.managedIdentities
        if let identity = all.first(where: name.means) { return identity }
        guard name == .system, let only = all.first else { throw CommandError("Identity not found") }
        guard all.count == 1 else {
            throw CommandError(
                """
                Multiple user assigned identities exist, please specify the clientId / resourceId of the identity in \
                the token request
                """)
        }
        return only
    }

    /// Returns the members of a token response, which the agent of Azure Arc uses, too; every number is a string.
    static func members(of token: MachineToken, for resource: String) -> [String: JSONValue] {
        [
            "access_token": .string(token.text), "expires_in": .string(String(token.lifetime)),
            "expires_on": .string(String(token.end)), "not_before": .string(String(token.start)),
            "resource": .string(resource), "token_type": "Bearer",
        ]
    }

    /// Returns Entra's own message, which the service passes on.
    static func unknown(_ resource: String, in identity: ManagedIdentity) -> String {
        "AADSTS500011: The resource principal named \(resource) was not found in the tenant named \(identity.tenant). "
            + "This can happen if the application has not been installed by the administrator of the tenant or consented "
            + "to by any user in the tenant."
    }

    static func refusal(
        _ code: String, _ description: String, _ status: HTTPResponse.Status = .badRequest
    ) -> Response {
        .json(["error": .string(code), "error_description": .string(description)], status: status)
    }
}

/// The identity endpoint of App Service, Functions and Container Apps, with its error messages.
struct AppServiceEndpoint: Sendable {
    static let path = "/msi/token"
    private static let version = "2019-08-01"

    let world: World

    func answer(_ visit: Visit) async throws -> Response {
        guard visit.method == .get else { return Self.refusal(.methodNotAllowed, "The method isn't allowed.", visit) }
        guard visit.header("X-IDENTITY-HEADER") == world.identityHeader else {
            return Self.refusal(.unauthorized, "The X-IDENTITY-HEADER header is missing or wrong.", visit)
        }
        guard visit.query["api-version"] == Self.version else {
            return Self.refusal(.badRequest, "The api-version is missing or not supported.", visit)
        }
        guard let name = visit.query["resource"] else {
            return Self.refusal(.badRequest, "The resource is missing.", visit)
        }
        guard
            let which = IdentityName(
                visit.query, objectID: ["object_id", "principal_id"], resourceID: ["mi_res_id"]),
            let identity = world.directory.managedIdentities.first(where: which.means)
        else { return Self.refusal(.badRequest, "Unable to load the proper Managed Identity.", visit) }
        visit.user = identity.name
        guard let resource = world.machineResource(name) else {
            return Self.refusal(
                .internalServerError, "An unexpected error occured while fetching the AAD Token.", visit)
        }
        let token = try await world.machineToken(of: identity, for: resource)
        return .json([
            "access_token": .string(token.text), "client_id": .string(identity.id),
            "expires_on": .string(String(token.end)), "resource": .string(name), "token_type": "Bearer",
        ])
    }

    private static func refusal(_ status: HTTPResponse.Status, _ message: String, _ visit: Visit) -> Response {
        .json(
            [
                "statusCode": .integer(Int64(status.code)), "message": .string(message),
                "correlationId": .string(visit.correlationID),
            ], status: status)
    }
}
