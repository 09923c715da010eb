import Addresses
import Files
package import HTTP
package import JSON
import Secrets
import SystemPackage

/// A machine outside Azure that the agent of Azure Arc connects to Azure.
///
/// The agent issues tokens to callers that can read a file that it names: root, and members of the group himds.
package struct AzureArc: TokenSource {
    /// Azure Arc.
    package let platform = Platform.arc
    /// The agent's URL.
    package let url: String
    private let keys: ChallengeFiles

    private static let resourceID = "msi_res_id"
    private static let usualURL = "http://localhost:40342/metadata/identity/oauth2/token"

    /// Creates a source from the variables.
    package init(_ surroundings: MachineSurroundings) throws(IdentityError) {
        url = try Endpoint.url("IDENTITY_ENDPOINT", in: surroundings) ?? Self.usualURL
        keys = ChallengeFiles(root: surroundings.root)
    }

    /// Returns the first request, which the agent answers with the name of a file.
    package func request(for demand: Demand) -> PlatformRequest {
        var query = demand.id.parameter(resourceID: Self.resourceID)
        query["api-version"] = "2020-06-01"
        query["resource"] = demand.resource
        return PlatformRequest(url, query: query, headers: ["Metadata": Secret("true")])
    }

    /// Returns the request with the contents of that file.
    package func request(
        after answer: HTTPAnswer, to request: PlatformRequest
    ) throws(IdentityError) -> PlatformRequest? {
        switch answer.status {
        case 401: break
        case 200: throw Self.invalid("gave a token without asking for a proof", status: 200)
        // The answer itself says that the agent doesn't work.
        case let status where IdentityError.isOutage(status): return nil
        // An agent that supports user-assigned identities rejects unknown ones before it asks for a proof.
        case 400..<500 where PlatformFault(answer) != PlatformFault(): return nil
        case let status: throw Self.invalid("answered without asking for a proof (HTTP \(status))", status: status)
        }
        guard let path = answer.only("www-authenticate").flatMap(Self.realm) else {
            throw Self.invalid("doesn't say which file proves who asks", status: 401)
        }
        var next = request
        next.headers["Authorization"] = Secret("Basic " + (try keys.contents(of: path)).reveal())
        return next
    }

    /// Returns the path in `Basic realm=PATH`; nil for any other challenge.
    private static func realm(_ challenge: String) -> String? {
        guard let (scheme, parameter) = challenge.cut(at: " "), scheme.lowercased() == "basic",
            let (name, value) = parameter.trimmed().cut(at: "="), name.trimmed().lowercased() == "realm"
        else { return nil }
        let path = String(value.trimmed(of: " \t\""))
        return path.isEmpty ? nil : path
    }

    /// Rejects the machine's own token if another identity's was requested: old agents ignore the parameters that name
    /// one.
    package func check(_ members: [String: JSONValue], for demand: Demand) throws(IdentityError) {
        guard let (name, asked) = demand.id.parameter(resourceID: Self.resourceID).first else { return }
        let names = name == Self.resourceID ? [name, "mi_res_id"] : [name]
        guard names.contains(where: { members[$0]?.string?.lowercased() == asked.lowercased() }) else {
            var error = Self.invalid("answered for another identity than it was asked for", status: 200)
            error.hint = "update the agent to one that knows assigned identities, or use the machine's own"
            throw error
        }
    }

    static func invalid(_ what: String, status: Int) -> IdentityError {
        var error = IdentityError(.invalidResponse, "\(Platform.arc.words) \(what)", hint: "see azcmagent check")
        error.status = status
        return error
    }
}

/// The files that prove to the agent of Azure Arc that a caller may get tokens.
///
/// A program that listens on the agent's port in its place could name any file and would receive its contents.
/// Therefore lanyard reads only files that the agent can have written.
package struct ChallengeFiles: Sendable {
    private static let folder = "/var/opt/azcmagent/tokens"
    private static let largestFile = 4096

    /// The root folder for the machine's files; empty for `/`.
    let root: String

    /// Returns a file's contents without the line ending.
    ///
    /// - Throws: `invalidResponse` if the agent can't have written the file, `unavailable` if it can't be read.
    func contents(of path: String) throws(IdentityError) -> Secret {
        guard let name = Self.name(in: path) else {
            throw AzureArc.invalid("names a file that isn't one of its keys", status: 401)
        }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try Folder(root + Self.folder).readForeign(name, atMost: Self.largestFile)
        } catch {
            throw Self.error(for: error)
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmed(of: "\r\n")
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw AzureArc.invalid("has a key that can't be sent", status: 401)
        }
        return Secret(String(text))
    }

    /// Returns the name of a key file directly in the folder; nil for any other path.
    private static func name(in path: String) -> String? {
        guard let (parent, name) = path.cut(atLast: "/"), parent.isSame(as: folder),
            name.utf8.allSatisfy(\.isVisibleASCII), let (stem, suffix) = name.cut(atLast: "."),
            !stem.isEmpty, suffix == "key"
        else { return nil }
        return String(name)
    }

    private static func error(for problem: FileError) -> IdentityError {
        let words = "the key of \(Platform.arc.words) can't be read: \(problem.reason)"
        switch problem {
        case .refused(.tooManySymbolicLinkLevels), .irregular, .tooLong:
            return AzureArc.invalid("has a key that is no regular file of at most \(largestFile) bytes", status: 401)
        case _ where problem.lacksPermission:
            return IdentityError(
                .unavailable, words, hint: "add this user to the group himds, then log in anew, or ask as root")
        default: return IdentityError(.unavailable, words, hint: "check that the agent runs: see azcmagent show")
        }
    }
}
