import Addresses
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// IAM Identity Center's portal, which knows what roles in which accounts a token's user has.
struct Portal: Sendable {
    let region: Region
    let token: Secret
    let transport: Transport
    /// What the roles are wanted for.
    let request: PluginRequest

    private var url: String { region.url("portal.sso") }
    private var host: String { StrictURL(https: url)?.hostText ?? "the portal" }

    /// Returns the keys of `ACCOUNT/ROLE`; nil for the only role that there is.
    func keys(of role: String?) async throws(PluginError) -> AWSKeys {
        guard let role, !role.isEmpty else {
            let all = try await roles()
            guard all.count == 1 else {
                let place = isForPath ? "URL" : "rule"
                var error = choose(all, "you have \(all.count) roles, and the \(place) names none")
                // What a URL's path leaves open, no rule can say.
                if !isForPath {
                    (error.parameter, error.choices) = ("role", all.prefix(Self.mostChoices).map(\.forPeople))
                }
                throw error
            }
            return try await keys(of: all[0].text)
        }
        let parts = role.pieces(between: "/", omittingEmpty: false).map(String.init)
        guard parts.count == 2, parts[0].isAccountNumber, parts[1].isRoleName else {
            throw choose(try await roles(), "\(role.displayable(limit: 200)) is no account and role")
        }
        let answer = try await get("federation/credentials", [("role_name", parts[1]), ("account_id", parts[0])])
        guard ![403, 404].contains(answer.status) else {
            let all = try await roles()
            guard all.contains(where: { $0.text == role }) else {
                throw choose(all, "you don't have the role \(parts[1]) in the account \(parts[0])")
            }
            let words = answer.json?["message"]?.string ?? "HTTP \(answer.status)"
            throw PluginError(
                .invalidRequest,
                "\(host) lists the role \(parts[1]) in the account \(parts[0]), but refuses its keys: "
                    + words.displayable(limit: 300), hint: "ask your administrator whether the role is there by now")
        }
        let said = try document(answer)["roleCredentials"]
        let texts = ["accessKeyId", "secretAccessKey", "sessionToken"].map { said?[$0]?.string }
        guard
            let keys = AWSKeys(
                texts, until: said?["expiration"]?.wholeNumber.map { Double($0) / 1000 }, in: answer)
        else { throw PluginError(.internal, "\(host) gave no keys that can be used") }
        return keys
    }

    /// A role of the user's.
    private struct Role {
        /// `ACCOUNT/ROLE`.
        let text: String
        /// The account's name.
        let account: String?

        var forPeople: String { account.map { "\(text) (\($0.displayable(limit: 50)))" } ?? text }
    }

    /// Whether the role is the path of a URL at the portal, rather than what a rule says.
    private var isForPath: Bool { request.exchange == AWSExchange.roleAtIdentityCenter.rawValue }

    /// Returns all roles of the user's.
    private func roles() async throws(PluginError) -> [Role] {
        var all: [Role] = []
        for account in try await list("assignment/accounts", "accountList", []) {
            guard let id = account["accountId"]?.string, id.isAccountNumber else { continue }
            for role in try await list("assignment/roles", "roleList", [("account_id", id)]) {
                if let name = role["roleName"]?.string, name.isRoleName {
                    let shown = [account["accountName"], account["emailAddress"]].compactMap { $0?.string }
                    all.append(Role(text: "\(id)/\(name)", account: shown.first { !$0.isEmpty }))
                }
            }
        }
        return all
    }

    /// Ends the sign-in that the token is of.
    func logOut() async throws(PluginError) {
        let answer: HTTPAnswer
        do throws(OAuthError) {
            answer = try await transport.post(
                "\(url)/logout", "", as: "application/json",
                headers: [("x-amz-sso_bearer_token", token.reveal())], .harmless)
        } catch {
            throw error.plain
        }
        guard (200..<300).contains(answer.status) || answer.status == 401 else {
            throw PluginError(.unavailable, "\(host) doesn't end the session: HTTP \(answer.status)")
        }
    }

    /// The greatest number of roles that the user picks one of.
    private static let mostChoices = 200
    /// The greatest number of pages of a list.
    private static let mostPages = 50

    private func list(
        _ path: String, _ member: String, _ fields: [FormEncoding.Field]
    ) async throws(PluginError) -> [JSONValue] {
        var all: [JSONValue] = []
        var next: String?
        for _ in 0..<Self.mostPages {
            let page = [("max_result", "100")] + (next.map { [("next_token", $0)] } ?? [])
            let said = try document(try await get(path, fields + page))
            all += said[member]?.elements ?? []
            next = said["nextToken"]?.string
            if next == nil { break }
        }
        return all
    }

    private func get(_ path: String, _ fields: [FormEncoding.Field]) async throws(PluginError) -> HTTPAnswer {
        let answer: HTTPAnswer
        do throws(OAuthError) {
            answer = try await transport.get(
                FormEncoding.append(fields, to: "\(url)/\(path)"),
                headers: [("x-amz-sso_bearer_token", token.reveal())])
        } catch {
            throw error.plain
        }
        guard answer.status != 401 else { throw PluginError(.interactionRequired, "\(host) refuses the token") }
        return answer
    }

    private func document(_ answer: HTTPAnswer) throws(PluginError) -> JSONValue {
        guard answer.status == 200, let said = answer.json else {
            let words = answer.json?["message"]?.string ?? "HTTP \(answer.status)"
            throw PluginError(.invalidRequest, "\(host) refuses: \(words.displayable(limit: 300))")
        }
        return said
    }

    private func choose(_ roles: [Role], _ problem: String) -> PluginError {
        guard let first = roles.first?.text else {
            return PluginError(.invalidRequest, problem, hint: "ask your administrator to assign one to you")
        }
        let shown = roles.prefix(20).map(\.forPeople).joined(separator: ", ") + (roles.count > 20 ? ", …" : "")
        let asked = "https://\(request.audience ?? "")"
        let isOpen = request.exchangeParameters["role"] == nil
        let remedy =
            if isForPath { "write one into the URL, such as \(asked)/\(first)" } else {
                (isOpen ? "pick one at a terminal with: lanyard token \(asked), or " : "")
                    + "write one into the rule, such as exchange-parameters = { role = \"\(first)\" }"
            }
        return PluginError(.invalidRequest, problem, hint: "\(remedy); you have \(shown)")
    }
}
