import HTTPTypes
import Hummingbird
import JSON

/// The repositories of AWS and Google by the names of their hosts, which a proxy may lead to the sandbox: packages for a
/// credential of each service's own, and images.
struct CloudRepositories: Sendable {
    /// What AWS's and Google's hosts here are called.
    static let hosts = [
        "*.d.codeartifact.eu-central-1.amazonaws.com", "*.dkr.ecr.eu-central-1.amazonaws.com", "public.ecr.aws",
        "*.pkg.dev", "api.ecr.eu-central-1.amazonaws.com", "api.ecr-public.us-east-1.amazonaws.com",
    ]
    /// The challenge of Google's repositories, which a registry of Google's sends as a token service's.
    private static let googleRealm = "Basic realm=\"https://accounts.google.com/\""

    let world: World

    /// Answers a request for a repository; nil if its host is no repository's, or is one of images.
    func answer(_ visit: Visit) -> Response? {
        let host = visit.host
        let place = { (count: Int) in "https://\(([host] + visit.segments.prefix(count)).joined(separator: "/"))" }
        if host.hasSuffix(".d.codeartifact.eu-central-1.amazonaws.com") {
            guard visit.segments.count > 1, visit.segments[1] == "tools" else { return Self.nothing }
            guard let keys = opener(visit, of: visit.segments[0]) else {
                return Self.refusal.challenging("Basic realm=\"\(host)\"")
            }
            visit.user = keys.name
            let path = Array(visit.segments.dropFirst(2))
            return SandboxPackage.answer(visit.segments[0], path, at: place(2)) ?? Self.nothing
        }
        let label = host.prefix { $0 != "." }.split(separator: "-").last.map(String.init) ?? ""
        guard host.hasSuffix(".pkg.dev"), label != "docker" else { return nil }
        return google(visit, label, visit.segments, at: place(2))
    }

    /// Answers for a repository of Artifact Registry, whose path begins with the project and its name.
    func google(_ visit: Visit, _ format: String, _ path: [String], at place: String) -> Response {
        let token: GoogleCloud.Token? =
            switch visit.authorization {
            case .bearer(let text), .basic("oauth2accesstoken", let text): GoogleCloud(world: world).live(text)
            default: nil
            }
        guard let token, token.scopes.contains(GoogleCloud.cloud) else {
            return Self.refusal.challenging(Self.googleRealm)
        }
        visit.user = token.account
        guard path.starts(with: ["contoso-project", "tools"]) else { return Self.nothing }
        return SandboxPackage.answer(format, Array(path.dropFirst(2)), at: place) ?? Self.nothing
    }

    /// Returns the keys that a request's token of CodeArtifact's was got with, if it comes as the format's programs send it.
    private func opener(_ visit: Visit, of format: String) -> SecurityTokenService.Keys? {
        let token: String? =
            switch (format, visit.authorization) {
            case ("npm", .bearer(let text)), ("swift", .bearer(let text)): text
            case ("cargo", nil): visit.header("Authorization")
            case ("pypi", .basic("aws", let text)), ("maven", .basic("aws", let text)),
                ("nuget", .basic("aws", let text)):
                text
            default: nil
            }
        return token.flatMap { world.keys(ofPassword: $0, for: ["codeartifact"]) }
    }

    private static let refusal = Response.json(["message": "authentication required"], status: .unauthorized)
    private static let nothing = Response.text("Not Found", status: .notFound)
}

/// The only package, `hello`, in every format, as far as programs ask for it before they download it.
enum SandboxPackage {
    static let name = "hello"

    /// Answers for a path below a repository at a URL; nil if there is nothing.
    static func answer(_ format: String, _ path: [String], at place: String) -> Response? {
        switch (format, path) {
        case ("npm", [name]), ("npm", ["@contoso/\(name)"]): npm(path[0], at: place)
        case ("pypi", ["simple", name]), ("python", ["simple", name]):
            Response(
                uncached:
                    "<a href=\"../../files/\(wheel)\" data-core-metadata=\"true\">\(wheel)</a>\n",
                type: "text/html", status: .ok)
        case ("pypi", ["files", wheel + ".metadata"]), ("python", ["files", wheel + ".metadata"]):
            .text("Metadata-Version: 2.1\nName: \(name)\nVersion: 1.0", status: .ok)
        // An upload.
        case ("pypi", []), ("python", []): .text("OK", status: .ok)
        case ("generic", [name, "1.0", "hello.txt"]): .text(name, status: .ok)
        case ("maven", ["example", name, "1.0", "hello-1.0.pom"]):
            .text(
                "<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>\(name)</artifactId>"
                    + "<version>1.0</version><packaging>pom</packaging></project>", status: .ok)
        case ("nuget", ["v3", "index.json"]): .json(["version": "3.0.0", "resources": []])
        case ("cargo", ["config.json"]): .json(["dl": .string("\(place)/crates"), "auth-required": true])
        case ("cargo", ["he", "ll", name]):
            .json([
                "name": .string(name), "vers": "1.0.0", "deps": [], "features": [:], "yanked": false,
                "cksum": .string(String(repeating: "0", count: 64)),
            ])
        case ("go", ["example.com", name, "@v", "list"]): .text("v1.0.0", status: .ok)
        case ("go", ["example.com", name, "@v", "v1.0.0.info"]): .json(["Version": "v1.0.0"])
        case ("go", ["example.com", name, "@v", "v1.0.0.mod"]): .text("module example.com/\(name)", status: .ok)
        case ("swift", ["example", name]): .json(["releases": ["1.0.0": [:]]]).ofRegistry
        default: nil
        }
    }

    private static let wheel = "hello-1.0-py3-none-any.whl"

    private static func npm(_ package: String, at place: String) -> Response {
        .json([
            "name": .string(package), "dist-tags": ["latest": "1.0.0"],
            "versions": [
                "1.0.0": [
                    "name": .string(package), "version": "1.0.0",
                    "dist": ["tarball": .string("\(place)/-/hello-1.0.0.tgz")],
                ]
            ],
        ])
    }
}
